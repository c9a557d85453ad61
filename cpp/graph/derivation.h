// Derivations, and the best one.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "graph/hypergraph.h"

namespace treeglot {

// A derivation as the flat list of its edges in preorder: an edge, then the derivations of its tails from left to right.
// A node that is derived twice is listed twice. Its score is the sum that edge_product<Viterbi> forms, to the last bit.
struct Derivation {
  double score;
  std::vector<EdgeId> edges;
};

// Sharing lets a small graph have derivations of astronomic size; a longer one is refused, not listed.
inline constexpr std::size_t kLongestDerivation = std::size_t{1} << 28;
[[noreturn]] void refuse_long_derivation(double edges);

// The best edge into every node. Of equal ones the first; kNoEdge, and score −∞, where a node has no derivation above −∞.
struct BestEdges {
  std::vector<double> score;
  std::vector<EdgeId> edge;
};
BestEdges best_edges(const Hypergraph& graph, std::span<const double> scores);

// The best derivation of the goal; nothing when there is none above −∞.
std::optional<Derivation> viterbi(const Hypergraph& graph, std::span<const double> scores);

}  // namespace treeglot
