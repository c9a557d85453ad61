// A model over windows, estimated as n-gram models are: interpolated modified Kneser-Ney.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/symbols.h"
#include "lm/estimated_ngrams.h"
#include "lm/kneser_ney.h"
#include "lm/ngram_rows.h"

namespace treeglot {

// Counts of windows: n-grams that are given one by one instead of being read off a running text. The last word of a
// window is predicted from those before it; backing off drops its first word. All have one length, except those before
// which nothing can stand. These are shorter, and their counts are plain, as counts of n-grams with <s> are in a text.

// The windows' last n words, for every n. Their contexts need not be among them: a context may be made of words that
// are never predicted.
struct WindowTables {
  std::vector<NgramList> ngrams;                 // of order 1 and up
  std::vector<NgramList> contexts;               // of order 2 and up
  std::vector<std::uint64_t> unigrams;           // by word, adjusted
  std::vector<OrderCounts> orders;               // of order 2 and up
  std::vector<CountsOfCounts> counts_of_counts;  // of order 1 and up
};

class WindowCounts {
 public:
  explicit WindowCounts(unsigned length) : rows_(length) {
    for (unsigned i = 0; i < length; ++i) rows_[i].list.length = i + 1;
  }

  // Throws std::invalid_argument for a longer or an empty window.
  void add(std::span<const Symbol> window, std::uint32_t count = 1);
  std::uint64_t total() const { return total_; }

  // The adjusted counts of all orders: plain in the highest, below it the number of different words that come before.
  // Throws std::invalid_argument if a longer window ends in a shorter one.
  WindowTables tables(std::size_t vocabulary);

 private:
  struct Rows {
    NgramList list;
    std::vector<std::uint32_t> counts;
    std::size_t limit = std::size_t{1} << 22;  // windows; equal ones are added up when there are so many
  };

  static void combine(Rows& rows, std::size_t vocabulary);

  std::vector<Rows> rows_;  // by length - 1
  std::uint64_t total_ = 0;
};

struct WindowModel {
  EstimatedNgrams ngrams;
  std::vector<Discounts> discounts;  // of each order
};

// `predicted` says of each word of the vocabulary whether it can stand at the end of a window; <unk>, word 0, can. The
// probabilities of these words sum to 1 in every context, whether seen or not.
//
// The model is a usual back-off model. Its n-grams are those of the windows and their contexts. An n-gram that is only
// a context has the probability 0, as has a special word that is not predicted.
WindowModel estimate_windows(WindowTables tables, const Symbols& vocabulary, const std::vector<bool>& predicted,
                             const FallbackDiscounts& fallback);

}  // namespace treeglot
