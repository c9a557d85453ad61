#include "graph/rewrite.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/limits.h"
#include "graph/derivation.h"
#include "graph/inside_outside.h"

namespace treeglot {

namespace {

std::string text(std::size_t number) { return std::to_string(number); }

std::span<const NodeId> tails_of(const LooseEdges& edges, std::size_t edge) {
  return edges.tails.subspan(edges.first_tail[edge], edges.first_tail[edge + 1] - edges.first_tail[edge]);
}

void check(const LooseEdges& edges) {
  check_at_most("the number of nodes", edges.nodes, kMostNodes);
  if (edges.first_tail.size() != edges.heads.size() + 1) {
    throw std::invalid_argument("first_tail has " + text(edges.first_tail.size()) + " offsets for " +
                                text(edges.heads.size()) + " edges; expected one more than edges");
  }
  check_offsets("first_tail", edges.first_tail, edges.tails.size());
  for (std::size_t edge = 0; edge < edges.heads.size(); ++edge) {
    const auto refuse = [&](const char* what, NodeId node) {
      throw std::invalid_argument("edge " + text(edge) + " has " + what + " " + text(node) + " in a graph with " +
                                  text(edges.nodes) + " nodes");
    };
    if (edges.heads[edge] >= edges.nodes) refuse("head", edges.heads[edge]);
    for (const NodeId tail : tails_of(edges, edge)) {
      if (tail >= edges.nodes) refuse("tail", tail);
    }
  }
}

bool in_order(const LooseEdges& edges) {
  for (std::size_t edge = 0; edge < edges.heads.size(); ++edge) {
    for (const NodeId tail : tails_of(edges, edge)) {
      if (tail >= edges.heads[edge]) return false;
    }
  }
  return true;
}

// Every node that is left waits for a tail that is left: going from tail to tail must meet a node again.
NodeId find_cycle(const LooseEdges& edges, std::span<const std::uint32_t> waiting) {
  std::vector<NodeId> waits_for(edges.nodes, kNoNode);
  NodeId node = kNoNode;
  for (std::size_t edge = 0; edge < edges.heads.size(); ++edge) {
    const NodeId head = edges.heads[edge];
    if (waiting[head] == 0 || waits_for[head] != kNoNode) continue;
    for (const NodeId tail : tails_of(edges, edge)) {
      if (waiting[tail] != 0) waits_for[head] = tail;
    }
    if (node == kNoNode && waits_for[head] != kNoNode) node = head;
  }
  std::vector<bool> seen(edges.nodes, false);
  while (!seen[node]) {
    seen[node] = true;
    node = waits_for[node];
  }
  return node;
}

}  // namespace

TopologicalOrder topological_order(const LooseEdges& edges) {
  check(edges);
  TopologicalOrder result;
  if (in_order(edges)) {
    result.order.resize(edges.nodes);
    std::iota(result.order.begin(), result.order.end(), NodeId{0});
    return result;
  }
  // Kahn's algorithm: a node is ready when all tails of all edges into it have been numbered.
  std::vector<std::uint32_t> first_use(edges.nodes + 1, 0);  // users[first_use[v]] …: heads above v, once per tail
  std::vector<NodeId> users(edges.tails.size());
  std::vector<std::uint32_t> waiting(edges.nodes, 0);
  for (const NodeId tail : edges.tails) ++first_use[tail + 1];
  std::inclusive_scan(first_use.begin(), first_use.end(), first_use.begin());
  std::vector<std::uint32_t> next(first_use.begin(), first_use.end() - 1);
  for (std::size_t edge = 0; edge < edges.heads.size(); ++edge) {
    for (const NodeId tail : tails_of(edges, edge)) {
      users[next[tail]++] = edges.heads[edge];
      ++waiting[edges.heads[edge]];
    }
  }
  std::priority_queue<NodeId, std::vector<NodeId>, std::greater<>> ready;
  for (NodeId node = 0; node < edges.nodes; ++node) {
    if (waiting[node] == 0) ready.push(node);
  }
  result.order.reserve(edges.nodes);
  while (!ready.empty()) {
    const NodeId node = ready.top();
    ready.pop();
    result.order.push_back(node);
    for (std::uint32_t use = first_use[node]; use < first_use[node + 1]; ++use) {
      if (--waiting[users[use]] == 0) ready.push(users[use]);
    }
  }
  if (result.order.size() < edges.nodes) {
    result.on_cycle = find_cycle(edges, waiting);
    result.order.clear();
  }
  return result;
}

Mapped assemble(const LooseEdges& edges, NodeId goal) {
  if (goal >= edges.nodes && goal != kNoNode) {
    throw std::invalid_argument("the goal is node " + text(goal) + " of a graph with " + text(edges.nodes) + " nodes");
  }
  TopologicalOrder sorted = topological_order(edges);
  if (sorted.on_cycle != kNoNode) {
    throw std::invalid_argument("node " + text(sorted.on_cycle) +
                                " is on a cycle: it is among the tails of its own "
                                "derivation");
  }
  std::vector<NodeId> renumbered(edges.nodes);
  for (NodeId node = 0; node < edges.nodes; ++node) renumbered[sorted.order[node]] = node;
  // Edges by their heads, those of a head as they came. The order has checked them, so no builder does it again.
  std::vector<std::uint32_t> first_edge(edges.nodes + 1, 0), first_tail;
  for (const NodeId head : edges.heads) ++first_edge[renumbered[head] + 1];
  std::inclusive_scan(first_edge.begin(), first_edge.end(), first_edge.begin());
  std::vector<EdgeId> next(first_edge.begin(), first_edge.end() - 1), edge_map(edges.heads.size());
  for (std::size_t edge = 0; edge < edges.heads.size(); ++edge)
    edge_map[next[renumbered[edges.heads[edge]]]++] = static_cast<EdgeId>(edge);
  std::vector<NodeId> tails;
  tails.reserve(edges.tails.size());
  first_tail.reserve(edges.first_tail.size());
  first_tail.push_back(0);
  for (const EdgeId edge : edge_map) {
    for (const NodeId tail : tails_of(edges, edge)) tails.push_back(renumbered[tail]);
    first_tail.push_back(static_cast<std::uint32_t>(tails.size()));
  }
  return {Hypergraph::own(std::move(first_edge), std::move(first_tail), std::move(tails),
                          goal == kNoNode ? kNoNode : renumbered[goal]),
          std::move(edge_map), std::move(sorted.order)};
}

namespace {

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
  std::vector<std::uint32_t> first_edge = {0}, first_tail = {0};
  std::vector<NodeId> tails, node_map;
  std::vector<EdgeId> edge_map;
  const auto nodes = static_cast<std::size_t>(std::ranges::count(keep.nodes, 1));
  const auto edges = static_cast<std::size_t>(std::ranges::count(keep.edges, 1));
  first_edge.reserve(nodes + 1);
  first_tail.reserve(edges + 1);
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
      for (const NodeId tail : graph.tails(edge)) tails.push_back(renumbered[tail]);
      first_tail.push_back(static_cast<std::uint32_t>(tails.size()));
    }
    first_edge.push_back(static_cast<std::uint32_t>(edge_map.size()));
  }
  const NodeId goal = graph.goal() == kNoNode ? kNoNode : renumbered[graph.goal()];
  return {Hypergraph::own(std::move(first_edge), std::move(first_tail), std::move(tails), goal), std::move(edge_map),
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
