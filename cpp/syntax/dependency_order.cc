#include "syntax/dependency_order.h"

#include <algorithm>

namespace treeglot {

DependencyOrder::DependencyOrder(Heads heads) : number_(heads.size()), begin_(heads.size()), end_(heads.size()) {
  const auto size = static_cast<std::uint32_t>(heads.size());
  const std::vector<std::vector<std::uint32_t>> all_cycles = cycles(heads);
  std::vector<std::uint8_t> is_top(size);
  for (std::uint32_t word = 0; word < size; ++word) is_top[word] = heads[word] < 0;
  for (const auto& cycle : all_cycles) is_top[cycle.front()] = 1;

  // Dependents of a word: dependents[first[word]] to dependents[first[word + 1]].
  std::vector<std::uint32_t> first(size + 2, 0), dependents(size), stack;
  for (std::uint32_t word = 0; word < size; ++word) {
    if (!is_top[word]) ++first[static_cast<std::size_t>(heads[word]) + 2];
  }
  for (std::uint32_t word = 0; word < size; ++word) first[word + 2] += first[word + 1];
  for (std::uint32_t word = 0; word < size; ++word) {
    if (!is_top[word]) dependents[first[static_cast<std::size_t>(heads[word]) + 1]++] = word;
  }

  words_.reserve(size);
  for (std::uint32_t word = size; word-- > 0;) {
    if (is_top[word]) stack.push_back(word);
  }
  while (!stack.empty()) {
    const std::uint32_t word = stack.back();
    stack.pop_back();
    number_[word] = begin_[word] = static_cast<std::uint32_t>(words_.size());
    end_[word] = begin_[word] + 1;
    words_.push_back(word);
    for (std::uint32_t i = first[word + 1]; i-- > first[word];) stack.push_back(dependents[i]);
  }
  for (std::uint32_t i = size; i-- > 0;) {
    const std::uint32_t word = words_[i];
    if (!is_top[word]) {
      const auto head = static_cast<std::size_t>(heads[word]);
      end_[head] = std::max(end_[head], end_[word]);
    }
  }
  for (const auto& cycle : all_cycles) {
    for (const std::uint32_t word : cycle) {
      begin_[word] = begin_[cycle.front()];
      end_[word] = end_[cycle.front()];
    }
  }
}

}  // namespace treeglot
