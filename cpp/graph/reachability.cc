#include "graph/reachability.h"

#include <algorithm>

namespace treeglot {
namespace {

template <class Keep>
Useful useful_through(const Hypergraph& graph, const Keep& keep) {
  Useful found{Mask(graph.nodes(), 0), Mask(graph.edges(), 0)};
  if (graph.goal() == kNoNode) return found;
  Mask derived(graph.nodes(), 0);
  for (EdgeId edge = 0; edge < graph.edges_end(graph.goal()); ++edge) {
    if (!keep(edge)) continue;
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

}  // namespace

Mask derivable(const Hypergraph& graph) {
  Mask found(graph.nodes(), 0);
  for (EdgeId edge = 0; edge < graph.edges(); ++edge) {
    if (std::ranges::all_of(graph.tails(edge), [&](NodeId tail) { return found[tail] != 0; })) {
      found[graph.head(edge)] = 1;
    }
  }
  return found;
}

Mask reachable(const Hypergraph& graph) {
  Mask found(graph.nodes(), 0);
  if (graph.goal() == kNoNode) return found;
  found[graph.goal()] = 1;
  for (EdgeId edge = graph.edges_end(graph.goal()); edge-- > 0;) {
    if (found[graph.head(edge)] == 0) continue;
    for (const NodeId tail : graph.tails(edge)) found[tail] = 1;
  }
  return found;
}

Useful useful(const Hypergraph& graph) {
  return useful_through(graph, [](EdgeId) { return true; });
}

Useful useful(const Hypergraph& graph, std::span<const std::uint8_t> keep) {
  return useful_through(graph, [keep](EdgeId edge) { return keep[edge] != 0; });
}

}  // namespace treeglot
