// Counts of windows: n-grams that are given one by one, all of one length, instead of being read off a running text.
// The last word of a window is predicted from those before it; backing off drops its first word.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/symbols.h"
#include "lm/discounts.h"
#include "lm/kneser_ney.h"

namespace treeglot {

// Some n-grams of one length, words oldest first, in the order of their words read backwards.
struct NgramList {
  unsigned length = 1;
  std::vector<Symbol> words;  // `length` each

  std::size_t size() const { return words.size() / length; }
  std::span<const Symbol> operator[](std::size_t i) const { return {words.data() + i * length, length}; }
};

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
  explicit WindowCounts(unsigned length) : length_(length) {}

  void add(std::span<const Symbol> window, std::uint32_t count = 1);
  std::uint64_t total() const { return total_; }

  // The adjusted counts of all orders: plain in the highest, below it the number of different words that come before.
  WindowTables tables(std::size_t vocabulary);

 private:
  void combine(std::size_t vocabulary);

  unsigned length_;
  std::vector<Symbol> words_;  // of the windows
  std::vector<std::uint32_t> counts_;
  std::uint64_t total_ = 0;
  std::size_t limit_ = std::size_t{1} << 22;  // windows; equal ones are added up when there are so many
};

}  // namespace treeglot
