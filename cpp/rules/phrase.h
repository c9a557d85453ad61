// Consistent phrase pairs of an aligned sentence pair ("Phrase pairs" of the common page).
#pragma once

#include <cstdint>
#include <vector>

#include "base/span.h"
#include "rules/frontier.h"

namespace treeglot {

constexpr std::uint32_t kNoLimit = 0xffffffffu;

// A number that may be without limit: -1 in Python.
struct Limit {
  std::uint32_t most = kNoLimit;
  constexpr Limit(std::uint32_t limit = kNoLimit) : most(limit) {}
  constexpr operator std::uint32_t() const { return most; }
};

struct PhraseLimits {
  std::uint32_t source_length = kNoLimit;  // words
  std::uint32_t target_length = kNoLimit;
  std::uint32_t loose_source = 0;  // unaligned words at the two ends together
  std::uint32_t loose_target = 0;
};

struct PhrasePair {
  Span source, target;
  friend bool operator==(const PhrasePair&, const PhrasePair&) = default;
};

// All consistent pairs within the limits, sorted by source begin, source end, target begin, target end.
void append_phrase_pairs(const Frontier& frontier, const PhraseLimits& limits, std::vector<PhrasePair>& out);

// Unaligned words at the ends of a phrase pair that has a link.
inline std::uint32_t loose_source(const Frontier& frontier, const PhrasePair& pair) {
  return frontier.source_loose_after(pair.source.begin) + frontier.source_loose_before(pair.source.end);
}
inline std::uint32_t loose_target(const Frontier& frontier, const PhrasePair& pair) {
  return frontier.target_loose_after(pair.target.begin) + frontier.target_loose_before(pair.target.end);
}

}  // namespace treeglot
