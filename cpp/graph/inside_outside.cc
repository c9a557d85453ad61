#include "graph/inside_outside.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>

#include "base/error.h"

namespace treeglot {
namespace {

void check_size(const Hypergraph& graph, std::size_t found, const char* what) {
  if (found != graph.edges()) {
    throw std::invalid_argument(std::to_string(found) + " " + what + " for " + std::to_string(graph.edges()) +
                                " edges");
  }
}

void check_finite(const Hypergraph& graph, std::span<const double> values, const char* one, const char* many) {
  check_size(graph, values.size(), many);
  for (std::size_t edge = 0; edge < values.size(); ++edge) {
    if (!std::isfinite(values[edge])) {
      throw std::invalid_argument("edge " + std::to_string(edge) + " has " + one + " " +
                                  (std::isnan(values[edge]) ? "nan"
                                   : values[edge] > 0       ? "inf"
                                                            : "-inf") +
                                  "; expected a finite number");
    }
  }
}

// Calls use(S(), weight) with the semiring of that name and a weight of every edge.
template <class Use>
std::vector<double> in_semiring(std::string_view semiring, const Hypergraph& graph,
                                std::optional<std::span<const double>> weights, const Use& use) {
  const auto with = [&]<class S>(S s) {
    if (!weights) return use(s, [](EdgeId) { return S::one(); });
    return use(s, [all = *weights](EdgeId edge) { return all[edge]; });
  };
  const bool logarithms = semiring == "log" || semiring == "viterbi";
  if (!logarithms && semiring != "real" && semiring != "count") {
    throw std::invalid_argument(quoted(semiring) + " is not a semiring; expected 'log', 'viterbi', 'real' or 'count'");
  }
  if (weights && logarithms) check_scores(graph, *weights);
  if (weights && !logarithms) check_finite(graph, *weights, "weight", "weights");
  if (semiring == "log") return with(LogSum());
  if (semiring == "viterbi") return with(Viterbi());
  return semiring == "real" ? with(Real()) : with(Count());
}

}  // namespace

void check_scores(const Hypergraph& graph, std::span<const double> scores) {
  check_size(graph, scores.size(), "scores");
  for (std::size_t edge = 0; edge < scores.size(); ++edge) {
    if (!(scores[edge] < kInfinity)) {
      throw std::invalid_argument("edge " + std::to_string(edge) + " has score " + (scores[edge] > 0 ? "inf" : "nan") +
                                  "; expected a number or -inf");
    }
  }
}

std::vector<double> inside_in(std::string_view semiring, const Hypergraph& graph,
                              std::optional<std::span<const double>> weights) {
  return in_semiring(semiring, graph, weights,
                     [&]<class S>(S, const auto& weight) { return inside<S>(graph, weight); });
}

std::vector<double> outside_in(std::string_view semiring, const Hypergraph& graph,
                               std::optional<std::span<const double>> weights, std::span<const double> inner) {
  if (inner.size() != graph.nodes()) {
    throw std::invalid_argument(std::to_string(inner.size()) + " inside values for " + std::to_string(graph.nodes()) +
                                " nodes");
  }
  return in_semiring(semiring, graph, weights,
                     [&]<class S>(S, const auto& weight) { return outside<S>(graph, weight, inner); });
}

void check_total(double log_total) {
  if (log_total == kInfinity) {
    throw std::invalid_argument("the logarithm of the sum over all derivations overflows: the scores are too large");
  }
}

std::vector<double> posteriors(const Hypergraph& graph, std::span<const double> scores) {
  check_scores(graph, scores);
  std::vector<double> posterior(graph.edges(), kMinusInfinity);
  const std::vector<double> inner = inside<LogSum>(graph, scores);
  if (graph.goal() == kNoNode || LogSum::is_zero(inner[graph.goal()])) return posterior;
  const double total = inner[graph.goal()];
  check_total(total);
  const std::vector<double> outer = outside<LogSum>(graph, scores, inner);
  for (EdgeId edge = 0; edge < graph.edges(); ++edge) {
    const double through = outer[graph.head(edge)] + edge_product<LogSum>(graph, edge, scores[edge], inner);
    if (through > kMinusInfinity) posterior[edge] = through - total;
  }
  return posterior;
}

std::vector<float> node_ranks(const Hypergraph& graph, std::span<const double> scores) {
  check_scores(graph, scores);
  const std::vector<double> below = inside<Viterbi>(graph, scores);
  const std::vector<double> around = outside<Viterbi>(graph, scores, below);
  // Rounded, since the nodes of one derivation add its scores in different orders.
  std::vector<float> best;
  for (NodeId node = 0; node < graph.nodes(); ++node)
    best.push_back(static_cast<float>(Viterbi::times(below[node], around[node])));
  std::vector<float> sorted = best;
  std::ranges::sort(sorted, std::greater());
  for (float& score : best) {
    if (score == Viterbi::zero()) {  // in no derivation
      score = 1;
      continue;
    }
    const auto better = std::ranges::lower_bound(sorted, score, std::greater()) - sorted.begin();
    score = static_cast<float>(better) / static_cast<float>(graph.nodes());
  }
  return best;
}

}  // namespace treeglot
