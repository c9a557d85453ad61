// Where a forest and its translation can be cut into rules (Galley et al. 2004; "Extraction" of the c2d page).
#pragma once

#include <cstddef>
#include <vector>

#include "base/span.h"
#include "rules/frontier.h"
#include "syntax/forest.h"
#include "syntax/structure.h"

namespace treeglot {

// The frontier set. A node is in it when its words have links, no word of their closure on the target side is linked to
// a word outside the node, and, if structures are asked for, the dependency structure over the closure is well-formed.
// The goal stands for the whole target sentence, unaligned words at its ends among it.
class ForestFrontier {
 public:
  // `structures` may be null. Words are never in the set: they are leaves anyway.
  void assign(const ParseForest& forest, const Frontier& links, const Structures* structures);

  bool contains(NodeId node) const { return !targets_[node].empty(); }
  Span target(NodeId node) const { return targets_[node]; }  // empty outside the set

 private:
  std::vector<Span> targets_;
};

}  // namespace treeglot
