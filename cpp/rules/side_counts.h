// The target sides of one source side, counted as they are found in an index.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/hash_index.h"
#include "rules/indexed_corpus.h"
#include "rules/table.h"

namespace treeglot {

// Where a rule was found: its phrase and those of its variables, by their numbers in the corpus. Extraction takes the
// rules of a source side in this order.
using FoundAt = std::array<std::uint32_t, kMostVariables + 1>;

class SideCounts {
 public:
  struct Target {
    std::uint32_t first_symbol, symbols;
    std::uint64_t units = 0;
    std::uint32_t occurrences = 0;
    FoundAt first = {};               // where it was found first
    std::uint32_t alignment = kNone;  // the last of its alignments
  };

  void clear();
  // A rule at this place, with its target side and links.
  void add(const FoundAt& at, std::span<const std::int32_t> target, std::span<const RuleLink> links,
           std::uint32_t units);

  bool empty() const { return targets_.empty(); }
  const std::vector<Target>& targets() const { return targets_; }
  std::span<const std::int32_t> symbols(const Target& target) const {
    return std::span(symbols_).subspan(target.first_symbol, target.symbols);
  }
  // The most frequent; of equals, the one found first.
  std::span<const RuleLink> alignment(const Target& target) const;

 private:
  static constexpr std::uint32_t kNone = HashIndex::kNone;
  struct Alignment {
    std::uint32_t first_link, links;
    std::uint32_t occurrences;
    FoundAt first;
    std::uint32_t next;  // of the same target side
  };

  std::vector<Target> targets_;
  std::vector<std::int32_t> symbols_;
  std::vector<Alignment> alignments_;
  std::vector<RuleLink> links_;
  HashIndex index_;  // of targets
};

}  // namespace treeglot
