// Positions of a text in the order of the words that end there, read backwards. This is the order in which n-grams of
// all lengths are counted. Sorting by one word more is one counting sort. When the positions are in order by k words,
// their successors, dealt into buckets by word, are in order by k + 1.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/symbols.h"

namespace treeglot {

class SuffixSorter {
 public:
  struct Entry {
    std::uint32_t position;
    std::uint32_t carried;  // the label that the position before it had in the last step
  };
  static constexpr std::uint32_t kNone = 0xffffffffu;

  // Sorted by one word. `words` is sentences that each begin with <s>; nothing before an <s> is looked at, and the <s>
  // themselves come after each other in any order.
  SuffixSorter(std::span<const Symbol> words, std::size_t vocabulary);

  // Sorts by one word more; labels[i] goes from entry i to its successor (none: kNone does). The caller announces the
  // last step, which frees memory.
  void deepen(const std::uint32_t* labels, bool last);

  std::span<const Entry> entries() const { return entries_; }

 private:
  std::span<const Symbol> words_;
  std::vector<std::uint32_t> begins_;  // of each word's bucket
  std::vector<std::uint32_t> positions_;
  std::vector<Entry> entries_;
};

}  // namespace treeglot
