// Stages that make a hypergraph from others and say where its nodes and edges came from.
#pragma once

#include <cstdint>
#include <span>

#include "graph/hypergraph.h"

namespace treeglot {

// Relative pruning (Huang 2008, after Graehl): drops edge e when the best derivation through e is worse than the best
// of all by more than `margin`, in natural logarithms, and what is in no derivation then. The best derivation always
// stays. margin = ∞ drops only what is in no derivation above −∞.
Mapped prune(const Hypergraph& graph, std::span<const double> scores, double margin);

}  // namespace treeglot
