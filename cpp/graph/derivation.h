// Derivations: the best one, random ones, their scores and their yields.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graph/hypergraph.h"

namespace treeglot {

// A derivation as the flat list of its edges in preorder: an edge, then the derivations of its tails from left to
// right. A node that is derived twice is listed twice. Its score is the sum that edge_product<Viterbi> forms, to the
// last bit.
struct Derivation {
  double score;
  std::vector<EdgeId> edges;
};

// Sharing lets a small graph have derivations of astronomic size; a longer one is refused, not listed.
inline constexpr std::size_t kLongestDerivation = std::size_t{1} << 28;
void check_derivation_size(double edges);

// The best derivation of every node: its first edge, and how many edges it has. Of equal edges the first is taken. A
// node without a derivation above −∞ has kNoEdge, and the score −∞.
struct BestDerivations {
  std::vector<double> score;
  std::vector<EdgeId> edge;
  std::vector<double> size;
};
BestDerivations best_derivations(const Hypergraph& graph, std::span<const double> scores);

// The best derivation of the goal; nothing when there is none above −∞.
std::optional<Derivation> viterbi(const Hypergraph& graph, std::span<const double> scores);

// `number` derivations of the goal, drawn independently, each with a probability in proportion to e^score. The same
// seed gives the same derivations. Refuses a goal without derivations.
std::vector<Derivation> sample(const Hypergraph& graph, std::span<const double> scores, std::size_t number,
                               std::uint64_t seed);

// What edges stand for: symbols[first_symbol[e]] … symbols[first_symbol[e + 1]], a terminal ≥ 0 or −1 − i for the yield
// of the i-th tail. Tails may come in any order, more than once or not at all.
struct Yields {
  std::span<const std::uint32_t> first_symbol;  // edges + 1 offsets
  std::span<const std::int32_t> symbols;

  std::span<const std::int32_t> operator[](EdgeId edge) const {
    return symbols.subspan(first_symbol[edge], first_symbol[edge + 1] - first_symbol[edge]);
  }
};
void check_yields(const Hypergraph& graph, const Yields& yields);

}  // namespace treeglot
