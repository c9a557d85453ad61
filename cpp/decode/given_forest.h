// Spans with given translations as constituents of a parse forest, whatever its parses are.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "decode/matcher.h"
#include "syntax/forest.h"

namespace treeglot {

struct GivenForest {
  ParseForest forest;
  std::vector<NodeId> node_map;  // node → the node that it was made of; kNoNode: a given span
  std::vector<EdgeId> edge_map;  // edge → the edge that it was made of; kNoEdge: that of a given span
  std::vector<std::pair<NodeId, const Constraint*>> given;  // the nodes of given spans
};

// Each constraint gets a node above its words. A constituent that overlaps a constraint is cut down to the words
// outside it and keeps its label, if there are any. The lowest constituent around a constraint has its node beside what
// is left of the others.
//
//   (VP (VV give) (NP (NN the) (NN book)))  with "give the" given:  (VP (X give the) (NP (NN book)))
GivenForest with_constituents(const ParseForest& forest, std::span<const Constraint* const> constraints);

}  // namespace treeglot
