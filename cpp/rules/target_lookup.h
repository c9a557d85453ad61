// How often a target side was seen with any source side: what P(source | target) is divided by.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/hash_index.h"
#include "rules/indexed_corpus.h"

namespace treeglot {

// A target side among the rules of a corpus.
struct TargetCounts {
  double count = 0;
  double rules = 0;  // different ones that have it
  double lost = 0;   // what smoothing takes from their counts
};

// What smoothing subtracts from the count of a rule that was seen so often. If empty, smoothing needs no single rules.
using LostCount = std::function<double(double count, double occurrences)>;

class TargetLookup {
 public:
  // At most `samples` places of the rarest words are looked at; 0: all.
  TargetLookup(const IndexedCorpus& corpus, std::uint32_t samples, const LostCount& lost)
      : corpus_(corpus), samples_(samples), lost_(lost) {}

  // `target` has words by the corpus's numbers, and −1 − k for the k-th variable.
  TargetCounts count(std::span<const std::int32_t> target);

 private:
  // Words side by side.
  struct Block {
    std::size_t begin = 0, end = 0;  // in the target side
    CorpusRange range;               // of its first words
    std::uint64_t places = 0;
  };
  // A rule with the target side, by its source side.
  struct Seen {
    std::uint32_t first_symbol, symbols;
    std::uint64_t units;
    std::uint32_t occurrences;
  };
  static constexpr std::uint32_t kNone = HashIndex::kNone;

  Block rarest_block() const;
  CorpusRange range_of(std::size_t begin, std::size_t end) const;
  void count_place(const Block& block, std::uint32_t place);
  void match_right(std::size_t symbol, std::uint32_t at);
  void match_left(std::size_t symbol, std::uint32_t at);
  void match_phrases();
  void give(std::size_t number);
  void fill(std::int32_t variable, std::size_t phrase);
  std::uint32_t begin_of(std::uint32_t number) const;

  const IndexedCorpus& corpus_;
  std::uint32_t samples_;
  const LostCount& lost_;

  std::span<const std::int32_t> target_;
  std::size_t block_ = 0;  // where the block that was looked up begins
  std::uint64_t units_ = 0;
  std::vector<Seen> seen_;
  std::vector<Symbol> symbols_;
  HashIndex index_;
  // Of the place at hand.
  const PairIndex* pairs_ = nullptr;
  std::size_t index_number_ = 0;
  std::span<const IndexedPhrase> phrases_;  // of the pair
  std::uint32_t first_phrase_ = 0;
  std::uint32_t source_begin_ = 0, source_end_ = 0;
  std::uint32_t place_ = 0, begin_ = 0, end_ = 0;  // of the block, and of the whole target side
  std::array<IndexedHole, kMostVariables> holes_;  // by variable
  std::size_t variables_ = 0;
  std::vector<Symbol> source_;
};

}  // namespace treeglot
