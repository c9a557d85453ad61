#include "lm/ngram_rows.h"

#include <algorithm>
#include <numeric>

namespace treeglot {

std::vector<std::uint32_t> sorted_backwards(const NgramList& list, unsigned length, std::size_t vocabulary) {
  std::vector<std::uint32_t> order(list.size()), spare(list.size());
  std::iota(order.begin(), order.end(), 0);
  for (unsigned column = 0; column < length; ++column) {
    std::vector<std::uint32_t> next(vocabulary + 1);
    for (const std::uint32_t i : order) ++next[list[i][column] + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    for (const std::uint32_t i : order) spare[next[list[i][column]]++] = i;
    order.swap(spare);
  }
  return order;
}

bool before_backwards(std::span<const Symbol> a, std::span<const Symbol> b) {
  return std::lexicographical_compare(a.rbegin(), a.rend(), b.rbegin(), b.rend());
}

void append(NgramList& to, std::span<const Symbol> words) {
  to.words.insert(to.words.end(), words.begin(), words.end());
}

bool is_new(const NgramList& list, std::span<const Symbol> ngram) {
  return list.size() == 0 || !std::ranges::equal(list[list.size() - 1], ngram);
}

}  // namespace treeglot
