// Which spans of an aligned sentence pair can be translated on their own: once, for all extractors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/span.h"
#include "syntax/alignment.h"

namespace treeglot {

class Frontier {
 public:
  // Links must be within the pair. One object serves many pairs: assign() reuses its memory.
  Frontier() = default;
  Frontier(std::span<const Link> links, std::size_t source_length, std::size_t target_length) {
    assign(links, source_length, target_length);
  }
  void assign(std::span<const Link> links, std::size_t source_length, std::size_t target_length);

  std::size_t source_length() const { return source_.size(); }
  std::size_t target_length() const { return target_ends_.size() - 1; }

  bool target_aligned(std::uint32_t word) const { return target_links({word, word + 1}) != 0; }

  // Links of the words of a span; those of a consistent phrase pair are the same counted from either side.
  std::uint32_t source_links(Span span) const { return source_ends_[span.end] - source_ends_[span.begin]; }
  std::uint32_t target_links(Span span) const { return target_ends_[span.end] - target_ends_[span.begin]; }

  // Unaligned words that end at, or start at, a boundary between words.
  std::uint32_t source_loose_before(std::size_t boundary) const { return source_before_[boundary]; }
  std::uint32_t source_loose_after(std::size_t boundary) const { return source_after_[boundary]; }
  std::uint32_t target_loose_before(std::size_t boundary) const { return target_before_[boundary]; }
  std::uint32_t target_loose_after(std::size_t boundary) const { return target_after_[boundary]; }

  // The smallest span that holds all words linked to `word`, or to a word of `span`; empty when there are none.
  Span closure_of_source(std::size_t word) const { return source_[word]; }
  Span closure_of_source(Span span) const;

  // The closure of `source` when the two are consistent, else the empty span. At least one link must join them, and
  // none may leave either. No link leaves `source` for a word outside the closure. So equal numbers of links on both
  // sides mean that none leaves the closure either.
  Span tight_target(Span source) const {
    const Span target = closure_of_source(source);
    return !target.empty() && source_links(source) == target_links(target) ? target : Span{};
  }

 private:
  std::vector<Span> source_;                              // the closure of each word
  std::vector<std::uint32_t> source_ends_, target_ends_;  // links of the words before each boundary
  std::vector<std::uint32_t> source_before_, source_after_, target_before_, target_after_;
};

// Widens a span by a word or a span; the empty span {0, 0} is the neutral element.
inline Span hull(Span a, Span b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  return {a.begin < b.begin ? a.begin : b.begin, a.end > b.end ? a.end : b.end};
}

constexpr std::uint32_t kNoLimit = 0xffffffffu;

// A number that may be unlimited, which is -1 in Python.
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
