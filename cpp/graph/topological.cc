#include "graph/topological.h"

#include <functional>
#include <numeric>
#include <queue>
#include <stdexcept>
#include <string>

#include "base/limits.h"

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
  Builder builder;
  builder.add_nodes(edges.nodes);
  std::vector<NodeId> tails;
  for (std::size_t edge = 0; edge < edges.heads.size(); ++edge) {
    tails.clear();
    for (const NodeId tail : tails_of(edges, edge)) tails.push_back(renumbered[tail]);
    builder.add_edge(renumbered[edges.heads[edge]], tails);
  }
  Mapped mapped = builder.freeze(goal == kNoNode ? kNoNode : renumbered[goal]);
  mapped.node_map = std::move(sorted.order);
  return mapped;
}

}  // namespace treeglot
