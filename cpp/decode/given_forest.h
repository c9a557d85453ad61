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
  std::vector<std::uint8_t> optional;                       // by edge: it has preferred spans that its original lacks
  std::vector<std::uint8_t> replaced;  // by edge: another edge stands for it where preferred spans are used
};

// Each constraint gets a node above its words. A constituent that overlaps a constraint is cut down to the words
// outside it and keeps its label, if there are any. The lowest constituent around a constraint has its node beside what
// is left of the others.
//
//   (VP (VV give) (NP (NN the) (NN book)))  with "give the" given:  (VP (X give the) (NP (NN book)))
//
// Where a constraint is not required, the constituents and edges without it stay, too. A constituent that contains it
// is one node, with edges of both sorts. `pruned` has the nodes and edges of the forest that are wanted.
GivenForest with_constituents(const ParseForest& forest, const Mapped& pruned, std::span<const Constraint> constraints);

}  // namespace treeglot
