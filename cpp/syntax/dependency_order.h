// Words in an order in which heads come before their dependents, and who descends from whom.
#pragma once

#include <cstdint>
#include <vector>

#include "syntax/dependency_checks.h"

namespace treeglot {

// A depth-first numbering. The descendants of a word have consecutive numbers, so descent is a comparison. A cycle is
// entered at its first position; each of its words has the others, and all that hangs from them, as descendants.
class DependencyOrder {
 public:
  explicit DependencyOrder(Heads heads);

  // Every word after its head, but for the first position of a cycle.
  std::span<const std::uint32_t> words() const { return words_; }

  // Whether following heads from `word` (in no step, too) leads to `ancestor`.
  bool descends(std::uint32_t word, std::uint32_t ancestor) const {
    return begin_[ancestor] <= number_[word] && number_[word] < end_[ancestor];
  }

 private:
  std::vector<std::uint32_t> words_;
  std::vector<std::uint32_t> number_, begin_, end_;  // by word
};

}  // namespace treeglot
