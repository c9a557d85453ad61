#include "graph/derivation.h"

#include <cstdio>
#include <stdexcept>
#include <string>

#include "graph/inside_outside.h"

namespace treeglot {

void refuse_long_derivation(double edges) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", edges);
  throw std::length_error("a derivation has " + std::string(text) + " edges; at most 2^28 can be listed");
}

BestEdges best_edges(const Hypergraph& graph, std::span<const double> scores) {
  BestEdges best{std::vector<double>(graph.nodes(), kMinusInfinity), std::vector<EdgeId>(graph.nodes(), kNoEdge)};
  for (NodeId node = 0; node < graph.nodes(); ++node) {
    for (EdgeId edge = graph.edges_begin(node); edge < graph.edges_end(node); ++edge) {
      const double score = edge_product<Viterbi>(graph, edge, scores[edge], best.score);
      if (score > best.score[node]) {
        best.score[node] = score;
        best.edge[node] = edge;
      }
    }
  }
  return best;
}

std::optional<Derivation> viterbi(const Hypergraph& graph, std::span<const double> scores) {
  check_scores(graph, scores);
  if (graph.goal() == kNoNode) return std::nullopt;
  const BestEdges best = best_edges(graph, scores);
  if (best.edge[graph.goal()] == kNoEdge) return std::nullopt;

  std::vector<double> size(graph.goal() + std::size_t{1}, 0.0);
  for (NodeId node = 0; node <= graph.goal(); ++node) {
    if (best.edge[node] == kNoEdge) continue;
    size[node] = 1.0;
    for (const NodeId tail : graph.tails(best.edge[node])) size[node] += size[tail];
  }
  if (size[graph.goal()] > static_cast<double>(kLongestDerivation)) refuse_long_derivation(size[graph.goal()]);

  Derivation derivation{best.score[graph.goal()], {}};
  derivation.edges.reserve(static_cast<std::size_t>(size[graph.goal()]));
  std::vector<NodeId> open = {graph.goal()};
  while (!open.empty()) {
    const EdgeId edge = best.edge[open.back()];
    open.pop_back();
    derivation.edges.push_back(edge);
    const auto tails = graph.tails(edge);
    open.insert(open.end(), tails.rbegin(), tails.rend());
  }
  return derivation;
}

}  // namespace treeglot
