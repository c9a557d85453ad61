// Stages that make a hypergraph from others and say where its nodes and edges came from.
#pragma once

#include <cstdint>
#include <span>

#include "graph/hypergraph.h"

namespace treeglot {

// The derivations of the goal that use edges e with keep[e] alone. What is in none of them goes: kept nodes and edges
// stay in their order. Without such a derivation the graph is empty and has no goal.
Mapped restrict(const Hypergraph& graph, std::span<const std::uint8_t> keep);

// Relative pruning (Huang 2008, after Graehl): drops edge e when the best derivation through e is worse than the best
// of all by more than `margin`, in natural logarithms, and what is in no derivation then. The best derivation always
// stays. margin = ∞ drops only what is in no derivation above −∞.
Mapped prune(const Hypergraph& graph, std::span<const double> scores, double margin);

// The graphs side by side, and a new goal with one unary edge from each of their goals (kNoEdge, kNoNode in the maps).
// The maps count the old nodes and edges through: edge e of graph i is e + the edges of graphs 0 … i-1.
// The last node is the goal; where no graph has one, there is none.
Mapped unite(std::span<const Hypergraph* const> graphs);

}  // namespace treeglot
