#include "graph/derivation.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "base/limits.h"
#include "base/random.h"
#include "graph/inside_outside.h"

namespace treeglot {
namespace {

// The sum that edge_product<Viterbi> forms.
double score_of(const Hypergraph& graph, std::span<const double> scores, std::span<const EdgeId> edges) {
  std::vector<double> open;
  for (std::size_t place = edges.size(); place-- > 0;) {
    double score = scores[edges[place]];
    for (std::size_t tail = graph.tails(edges[place]).size(); tail > 0; --tail) {
      score += open.back();
      open.pop_back();
    }
    open.push_back(score);
  }
  return open.back();
}

}  // namespace

void check_derivation_size(double edges) {
  if (edges <= static_cast<double>(kLongestDerivation)) return;
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", edges);
  throw std::length_error("a derivation has " + std::string(text) + " edges; at most 2^28 can be listed");
}

BestDerivations best_derivations(const Hypergraph& graph, std::span<const double> scores) {
  BestDerivations best{std::vector<double>(graph.nodes(), kMinusInfinity), std::vector<EdgeId>(graph.nodes(), kNoEdge),
                       std::vector<double>(graph.nodes(), 0.0)};
  for (NodeId node = 0; node < graph.nodes(); ++node) {
    for (EdgeId edge = graph.edges_begin(node); edge < graph.edges_end(node); ++edge) {
      const double score = edge_product<Viterbi>(graph, edge, scores[edge], best.score);
      if (score > best.score[node]) {
        best.score[node] = score;
        best.edge[node] = edge;
      }
    }
    if (best.edge[node] == kNoEdge) continue;
    best.size[node] = 1.0;
    for (const NodeId tail : graph.tails(best.edge[node])) best.size[node] += best.size[tail];
  }
  return best;
}

std::optional<Derivation> viterbi(const Hypergraph& graph, std::span<const double> scores) {
  check_scores(graph, scores);
  if (graph.goal() == kNoNode) return std::nullopt;
  const BestDerivations best = best_derivations(graph, scores);
  if (best.edge[graph.goal()] == kNoEdge) return std::nullopt;
  check_derivation_size(best.size[graph.goal()]);

  Derivation derivation{best.score[graph.goal()], {}};
  derivation.edges.reserve(static_cast<std::size_t>(best.size[graph.goal()]));
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

std::vector<Derivation> sample(const Hypergraph& graph, std::span<const double> scores, std::size_t number,
                               std::uint64_t seed) {
  check_at_most("the number of samples", number, kMostSamples);
  check_scores(graph, scores);
  const std::vector<double> inner = inside<LogSum>(graph, scores);
  if (graph.goal() == kNoNode || LogSum::is_zero(inner[graph.goal()])) {
    throw std::invalid_argument("the goal has no derivation to sample");
  }
  check_total(inner[graph.goal()]);
  // below[e]: the probability, given its head, of edge e or one before it into the same node.
  std::vector<double> below(graph.edges(), 0.0);
  for (NodeId node = 0; node <= graph.goal(); ++node) {
    if (!std::isfinite(inner[node])) continue;  // no derivation of a goal that is finite has it
    double sum = 0.0;
    for (EdgeId edge = graph.edges_begin(node); edge < graph.edges_end(node); ++edge) {
      const double score = edge_product<LogSum>(graph, edge, scores[edge], inner);
      if (score > kMinusInfinity) sum += std::exp(score - inner[node]);
      below[edge] = sum;
    }
  }
  Random random(seed);
  std::vector<Derivation> drawn(number);
  std::vector<NodeId> open;
  for (Derivation& derivation : drawn) {
    open = {graph.goal()};
    while (!open.empty()) {
      const auto first = below.begin() + graph.edges_begin(open.back());
      const auto last = below.begin() + graph.edges_end(open.back());
      open.pop_back();
      // uniform() < 1, so the product stays below the sum and an edge without probability is never the one.
      const auto edge = static_cast<EdgeId>(std::upper_bound(first, last, random.uniform() * last[-1]) - below.begin());
      derivation.edges.push_back(edge);
      const auto tails = graph.tails(edge);
      open.insert(open.end(), tails.rbegin(), tails.rend());
      if (derivation.edges.size() + open.size() > kLongestDerivation) {
        check_derivation_size(static_cast<double>(derivation.edges.size() + open.size()));
      }
    }
    derivation.score = score_of(graph, scores, derivation.edges);
  }
  return drawn;
}

void check_yields(const Hypergraph& graph, const Yields& yields) {
  if (yields.first_symbol.size() != graph.edges() + 1) {
    throw std::invalid_argument(std::to_string(yields.first_symbol.size()) + " offsets of yields for " +
                                std::to_string(graph.edges()) + " edges; expected one more than edges");
  }
  check_offsets("first_symbol", yields.first_symbol, yields.symbols.size());
  for (EdgeId edge = 0; edge < graph.edges(); ++edge) {
    for (const std::int32_t symbol : yields[edge]) {
      if (symbol < 0 && static_cast<std::size_t>(-1 - symbol) >= graph.tails(edge).size()) {
        throw std::invalid_argument("the yield of edge " + std::to_string(edge) + " has " + std::to_string(symbol) +
                                    ", which stands for tail " + std::to_string(-1 - symbol) + " of " +
                                    std::to_string(graph.tails(edge).size()));
      }
    }
  }
}

}  // namespace treeglot
