// Target phrases that were parsed on their own: their dependency trees, found by their words (s2s-dep of the c2d page).
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "base/symbols.h"
#include "rules/bitext.h"
#include "rules/forest_bank.h"
#include "syntax/dependency.h"

namespace treeglot {

class PhraseTrees {
 public:
  // Words are numbered as the target words of `bitext`. A tree with another word is of no use and left out. The first
  // of several trees with the same words stays. Refuses a tree without tags.
  PhraseTrees(const Bitext& bitext, std::span<const Dependency* const> trees);

  const DependencyBank& trees() const { return trees_; }
  std::optional<std::size_t> find(std::span<const Symbol> words) const;  // the tree of a phrase with these words

 private:
  DependencyBank trees_;
  Symbols phrases_;  // the bytes of their words' numbers; as many as trees
};

}  // namespace treeglot
