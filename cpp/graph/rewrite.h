// Stages that make a hypergraph from others and say where its nodes and edges came from.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/hypergraph.h"

namespace treeglot {

// Edges as arrays: heads[e], and tails[first_tail[e]] … tails[first_tail[e + 1]]; nodes are 0 … nodes - 1.
struct LooseEdges {
  std::size_t nodes;
  std::span<const NodeId> heads;
  std::span<const std::uint32_t> first_tail;  // heads.size() + 1 offsets
  std::span<const NodeId> tails;
};

// All nodes, each after the tails of the edges into it. Of the possible orders it is the lexicographically smallest, so
// nodes that are in order stay as they are. Where there is none, `order` is empty and `on_cycle` is a node that derives
// itself.
struct TopologicalOrder {
  std::vector<NodeId> order;
  NodeId on_cycle = kNoNode;
};
TopologicalOrder topological_order(const LooseEdges& edges);

// The frozen graph: nodes in topological order, the edges into a node in the order given. Refuses a cycle, naming a
// node on it by its old number; a caller with better names for nodes asks topological_order first.
Mapped assemble(const LooseEdges& edges, NodeId goal);

// Relative pruning (Huang 2008, after Graehl). Drops edge e when the best derivation through e is worse than the best
// of all by more than `margin`, in natural logarithms. Then drops what is in no derivation. The best derivation always
// stays. margin = ∞ drops only what is in no derivation above −∞.
Mapped prune(const Hypergraph& graph, std::span<const double> scores, double margin);

}  // namespace treeglot
