#include "graph/rewrite.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "graph/derivation.h"
#include "graph/inside_outside.h"
#include "graph/reachability.h"

namespace treeglot {
namespace {

struct Arrays {
  std::vector<std::uint32_t> first_edge = {0}, first_tail = {0};
  std::vector<NodeId> tails;
};

Mapped mapped(std::shared_ptr<Arrays> arrays, NodeId goal, std::vector<EdgeId> edge_map, std::vector<NodeId> node_map) {
  const Arrays& a = *arrays;
  return {Hypergraph(a.first_edge, a.first_tail, a.tails, goal, std::move(arrays)), std::move(edge_map),
          std::move(node_map)};
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
  return mapped(std::move(arrays), goal, std::move(edge_map), std::move(node_map));
}

}  // namespace

Mapped restrict(const Hypergraph& graph, std::span<const std::uint8_t> keep) {
  if (keep.size() != graph.edges()) {
    throw std::invalid_argument("a mask of " + std::to_string(keep.size()) + " for " + std::to_string(graph.edges()) +
                                " edges");
  }
  return keep_useful(graph, useful(graph, keep));
}

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

Mapped unite(std::span<const Hypergraph* const> graphs) {
  auto arrays = std::make_shared<Arrays>();
  std::vector<EdgeId> edge_map;
  std::vector<NodeId> node_map;
  std::vector<NodeId> goals;
  std::size_t nodes = 1, edges = graphs.size(), tails = graphs.size();
  for (const Hypergraph* graph : graphs) {
    nodes += graph->nodes();
    edges += graph->edges();
    tails += graph->all_tails().size();
  }
  if (std::max({nodes, edges, tails}) >= kNoNode) {
    throw std::length_error("a hypergraph holds fewer than 2^32 nodes, edges and tails");
  }
  arrays->first_edge.reserve(nodes + 1);
  arrays->first_tail.reserve(edges + 1);
  arrays->tails.reserve(tails);
  for (const Hypergraph* graph : graphs) {
    const auto first_node = static_cast<NodeId>(node_map.size());
    const std::uint32_t first_edge = arrays->first_edge.back();
    const std::uint32_t first_tail = arrays->first_tail.back();
    for (NodeId node = 0; node < graph->nodes(); ++node) {
      node_map.push_back(first_node + node);
      arrays->first_edge.push_back(first_edge + graph->edges_end(node));
    }
    for (EdgeId edge = 0; edge < graph->edges(); ++edge) {
      edge_map.push_back(first_edge + edge);
      arrays->first_tail.push_back(first_tail + graph->first_tail()[edge + 1]);
    }
    for (const NodeId tail : graph->all_tails()) arrays->tails.push_back(first_node + tail);
    if (graph->goal() != kNoNode) goals.push_back(first_node + graph->goal());
  }
  if (goals.empty()) return mapped(std::move(arrays), kNoNode, std::move(edge_map), std::move(node_map));
  const auto goal = static_cast<NodeId>(node_map.size());
  node_map.push_back(kNoNode);
  for (const NodeId tail : goals) {
    arrays->tails.push_back(tail);
    arrays->first_tail.push_back(static_cast<std::uint32_t>(arrays->tails.size()));
    edge_map.push_back(kNoEdge);
  }
  arrays->first_edge.push_back(static_cast<std::uint32_t>(edge_map.size()));
  return mapped(std::move(arrays), goal, std::move(edge_map), std::move(node_map));
}

}  // namespace treeglot
