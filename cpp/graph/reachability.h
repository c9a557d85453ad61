// Which nodes can be derived, which can be reached from the goal, and which do both in one derivation.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/hypergraph.h"

namespace treeglot {

using Mask = std::vector<std::uint8_t>;  // 1 or 0 for each node or edge

Mask derivable(const Hypergraph& graph);  // nodes with at least one derivation (bottom-up)
Mask reachable(const Hypergraph& graph);  // nodes that a path of edges joins to the goal (top-down)

// Nodes and edges that are part of some derivation of the goal. Stronger than both of the above together: an edge with
// one tail that cannot be derived makes its other tails reachable, yet is in no derivation.
struct Useful {
  Mask nodes;
  Mask edges;
};
Useful useful(const Hypergraph& graph);
Useful useful(const Hypergraph& graph, std::span<const std::uint8_t> keep);  // through edges e with keep[e] alone

}  // namespace treeglot
