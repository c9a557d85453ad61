// The n-grams of a text in memory, of all orders at once, with their adjusted counts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/symbols.h"
#include "lm/kneser_ney.h"

namespace treeglot {

// The adjusted count of an n-gram below the highest order is the number of different words that come before it. An
// n-gram of the highest order, or one that begins with <s>, keeps its plain count. <unk> and <s> alone count 0.
struct NgramCounts {
  std::vector<std::uint64_t> unigrams;  // by word
  std::vector<bool> pruned_unigrams;    // empty: none is
  std::vector<OrderCounts> orders;      // of order 2 and up; the contexts of an order are the n-grams of the one below
  std::vector<std::vector<std::uint32_t>> positions;  // of order 2 and up: a place in the text where the n-gram ends
  std::vector<CountsOfCounts> counts_of_counts;       // of order 1 and up
};

// `words` is sentences from <s> to </s>; an n-gram whose plain count is at most thresholds[n - 1] is pruned. There are
// as many orders as thresholds.
NgramCounts count_ngrams(std::span<const Symbol> words, std::size_t vocabulary,
                         std::span<const std::uint64_t> thresholds);

}  // namespace treeglot
