// Inside and outside values of nodes in any semiring, posteriors of edges, expectations: one sweep over the edges each.
//
// A weight is a span with one value per edge, or a function from an edge to its value. Everything is free of division:
// an outside value takes the product of the siblings, by position among the tails. So a node that is there twice counts
// twice, and a sibling without derivations does no harm.
#pragma once

#include <concepts>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "graph/hypergraph.h"
#include "graph/semiring.h"

namespace treeglot {

template <class Weight, class Value>
concept WeightOf = requires(const Weight& weight, EdgeId edge) {
  { weight(edge) } -> std::convertible_to<Value>;
};

// weight(edge) ⊗ inside(tail 0) ⊗ inside(tail 1) ⊗ …, in this order: scores of derivations are the same sums
// everywhere.
template <class S>
typename S::Value edge_product(const Hypergraph& graph, EdgeId edge, typename S::Value weight,
                               std::span<const typename S::Value> inside) {
  for (const NodeId tail : graph.tails(edge)) weight = S::times(weight, inside[tail]);
  return weight;
}

// inside[v]: the sum over the derivations of v of the products of their edges.
template <class S, WeightOf<typename S::Value> Weight>
std::vector<typename S::Value> inside(const Hypergraph& graph, const Weight& weight) {
  std::vector<typename S::Value> values(graph.nodes(), S::zero());
  for (NodeId node = 0; node < graph.nodes(); ++node) {
    typename S::Sum sum;
    for (EdgeId edge = graph.edges_begin(node); edge < graph.edges_end(node); ++edge) {
      sum.add(edge_product<S>(graph, edge, weight(edge), values));
    }
    values[node] = sum.value();
  }
  return values;
}

// outside[v]: the same over what surrounds v in derivations of the goal; zero where v is in none.
template <class S, WeightOf<typename S::Value> Weight>
std::vector<typename S::Value> outside(const Hypergraph& graph, const Weight& weight,
                                       std::span<const typename S::Value> inside) {
  using Value = typename S::Value;
  std::vector<Value> values(graph.nodes(), S::zero());
  if (graph.goal() == kNoNode) return values;
  std::vector<typename S::Sum> sums(graph.goal() + std::size_t{1});
  std::vector<Value> after;  // after[i]: the product of the insides of the tails behind position i
  sums[graph.goal()].add(S::one());
  for (NodeId node = graph.goal() + 1; node-- > 0;) {
    const Value above = values[node] = sums[node].value();
    if (S::is_zero(above)) continue;
    for (EdgeId edge = graph.edges_begin(node); edge < graph.edges_end(node); ++edge) {
      const auto tails = graph.tails(edge);
      if (tails.empty()) continue;
      Value before = S::times(above, weight(edge));  // … and the tails in front of position i
      if (tails.size() == 1) {
        sums[tails[0]].add(before);
      } else if (tails.size() == 2) {
        sums[tails[0]].add(S::times(before, inside[tails[1]]));
        sums[tails[1]].add(S::times(before, inside[tails[0]]));
      } else {
        after.resize(tails.size());
        after.back() = S::one();
        for (std::size_t i = tails.size() - 1; i > 0; --i) after[i - 1] = S::times(inside[tails[i]], after[i]);
        for (std::size_t i = 0; i < tails.size(); ++i) {
          sums[tails[i]].add(S::times(before, after[i]));
          before = S::times(before, inside[tails[i]]);
        }
      }
    }
  }
  return values;
}

template <class S>
std::vector<typename S::Value> inside(const Hypergraph& graph, std::span<const typename S::Value> weights) {
  return inside<S>(graph, [weights](EdgeId edge) { return weights[edge]; });
}

template <class S>
std::vector<typename S::Value> outside(const Hypergraph& graph, std::span<const typename S::Value> weights,
                                       std::span<const typename S::Value> inside) {
  return outside<S>(graph, [weights](EdgeId edge) { return weights[edge]; }, inside);
}

// The same with the semiring by name ("log", "viterbi", "real", "count"), for callers that choose while running.
// Weights are checked; without any, every edge weighs one().
std::vector<double> inside_in(std::string_view semiring, const Hypergraph& graph,
                              std::optional<std::span<const double>> weights);
std::vector<double> outside_in(std::string_view semiring, const Hypergraph& graph,
                               std::optional<std::span<const double>> weights, std::span<const double> inside);

// Refuses scores that are not one number below +∞ for every edge. −∞ is allowed: an edge that might as well not be
// there.
void check_scores(const Hypergraph& graph, std::span<const double> scores);

// Refuses a sum over all derivations that has overflowed to +∞: no shares of it can be computed.
void check_total(double log_total);

// The logarithm of every edge's posterior: how often it is expected in a derivation. It is above 0, for more than once,
// if the edge leads into a node that some edge has twice. All −∞ when the goal has no derivation.
std::vector<double> posteriors(const Hypergraph& graph, std::span<const double> scores);

// By node: the share of all nodes that have a better derivation of the goal. A node's derivation here is the best one
// that it is in; a node in none has 1.
std::vector<float> node_ranks(const Hypergraph& graph, std::span<const double> scores);

}  // namespace treeglot
