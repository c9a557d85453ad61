#include "graph/rewrite.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "graph/derivation.h"
#include "graph/inside_outside.h"

namespace treeglot {
namespace {

struct Arrays {
  std::vector<std::uint32_t> first_edge = {0}, first_tail = {0};
  std::vector<NodeId> tails;
};

using Mask = std::vector<std::uint8_t>;  // 1 or 0 for each node or edge

struct Useful {
  Mask nodes, edges;
};

// Nodes and edges that are part of some derivation of the goal through edges e with keep[e] alone.
Useful useful(const Hypergraph& graph, const Mask& keep) {
  Useful found{Mask(graph.nodes(), 0), Mask(graph.edges(), 0)};
  if (graph.goal() == kNoNode) return found;
  Mask derived(graph.nodes(), 0);
  for (EdgeId edge = 0; edge < graph.edges_end(graph.goal()); ++edge) {
    if (keep[edge] == 0) continue;
    if (!std::ranges::all_of(graph.tails(edge), [&](NodeId tail) { return derived[tail] != 0; })) continue;
    found.edges[edge] = 1;
    derived[graph.head(edge)] = 1;
  }
  found.nodes[graph.goal()] = derived[graph.goal()];
  for (EdgeId edge = graph.edges_end(graph.goal()); edge-- > 0;) {
    found.edges[edge] &= found.nodes[graph.head(edge)];
    if (found.edges[edge] == 0) continue;
    for (const NodeId tail : graph.tails(edge)) found.nodes[tail] = 1;
  }
  return found;
}

Mapped keep_useful(const Hypergraph& graph, const Useful& keep) {
  auto arrays = std::make_shared<Arrays>();
  std::vector<EdgeId> edge_map;
  std::vector<NodeId> node_map;
  const auto nodes = static_cast<std::size_t>(std::ranges::count(keep.nodes, 1));
  const auto edges = static_cast<std::size_t>(std::ranges::count(keep.edges, 1));
  arrays->first_edge.reserve(nodes + 1);
  arrays->first_tail.reserve(edges + 1);
  node_map.reserve(nodes);
  edge_map.reserve(edges);
  std::vector<NodeId> renumbered(graph.nodes(), kNoNode);
  for (NodeId node = 0; node < graph.nodes(); ++node) {
    if (keep.nodes[node] == 0) continue;
    renumbered[node] = static_cast<NodeId>(node_map.size());
    node_map.push_back(node);
    for (EdgeId edge = graph.edges_begin(node); edge < graph.edges_end(node); ++edge) {
      if (keep.edges[edge] == 0) continue;
      edge_map.push_back(edge);
      for (const NodeId tail : graph.tails(edge)) arrays->tails.push_back(renumbered[tail]);
      arrays->first_tail.push_back(static_cast<std::uint32_t>(arrays->tails.size()));
    }
    arrays->first_edge.push_back(static_cast<std::uint32_t>(edge_map.size()));
  }
  const NodeId goal = graph.goal() == kNoNode ? kNoNode : renumbered[graph.goal()];
  const Arrays& a = *arrays;
  return {Hypergraph(a.first_edge, a.first_tail, a.tails, goal, std::move(arrays)), std::move(edge_map),
          std::move(node_map)};
}

}  // namespace

Mapped prune(const Hypergraph& graph, std::span<const double> scores, double margin) {
  check_scores(graph, scores);
  if (!(margin >= 0.0)) {
    throw std::invalid_argument("the margin is " + std::string(std::isnan(margin) ? "nan" : std::to_string(margin)) +
                                "; expected 0 or more, in natural logarithms");
  }
  Mask keep(graph.edges(), 0);
  const BestDerivations best = best_derivations(graph, scores);
  if (graph.goal() != kNoNode && best.edge[graph.goal()] != kNoEdge) {
    const std::vector<double> outer = outside<Viterbi>(graph, scores, best.score);
    const double total = best.score[graph.goal()];
    for (EdgeId edge = 0; edge < graph.edges(); ++edge) {
      const double through = outer[graph.head(edge)] + edge_product<Viterbi>(graph, edge, scores[edge], best.score);
      keep[edge] = through > kMinusInfinity && total - through <= margin;
    }
    // The outside product is rounded in another order than the inside one: the best derivation is kept by name.
    Mask on_best(graph.nodes(), 0);
    on_best[graph.goal()] = 1;
    for (NodeId node = graph.goal() + 1; node-- > 0;) {
      if (on_best[node] == 0) continue;
      keep[best.edge[node]] = 1;
      for (const NodeId tail : graph.tails(best.edge[node])) on_best[tail] = 1;
    }
  }
  return keep_useful(graph, useful(graph, keep));
}

}  // namespace treeglot
