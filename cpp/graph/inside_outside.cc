#include "graph/inside_outside.h"

#include <limits>
#include <stdexcept>
#include <string>

namespace treeglot {

void check_scores(const Hypergraph& graph, std::span<const double> scores) {
  if (scores.size() != graph.edges()) {
    throw std::invalid_argument(std::to_string(scores.size()) + " scores for " + std::to_string(graph.edges()) +
                                " edges");
  }
  for (std::size_t edge = 0; edge < scores.size(); ++edge) {
    if (!(scores[edge] < std::numeric_limits<double>::infinity())) {
      throw std::invalid_argument("edge " + std::to_string(edge) + " has score " +
                                  (scores[edge] > 0 ? "inf" : "nan") + "; expected a number or -inf");
    }
  }
}

std::vector<double> posteriors(const Hypergraph& graph, std::span<const double> scores) {
  check_scores(graph, scores);
  std::vector<double> posterior(graph.edges(), kMinusInfinity);
  const std::vector<double> inner = inside<LogSum>(graph, scores);
  if (graph.goal() == kNoNode || LogSum::is_zero(inner[graph.goal()])) return posterior;
  const std::vector<double> outer = outside<LogSum>(graph, scores, inner);
  const double total = inner[graph.goal()];
  for (EdgeId edge = 0; edge < graph.edges(); ++edge) {
    posterior[edge] = outer[graph.head(edge)] + edge_product<LogSum>(graph, edge, scores[edge], inner) - total;
  }
  return posterior;
}

double expectation(const Hypergraph& graph, std::span<const double> scores, std::span<const double> values) {
  check_scores(graph, scores);
  if (values.size() != graph.edges()) {
    throw std::invalid_argument(std::to_string(values.size()) + " values for " + std::to_string(graph.edges()) +
                                " edges");
  }
  for (std::size_t edge = 0; edge < values.size(); ++edge) {
    if (!std::isfinite(values[edge])) {
      throw std::invalid_argument("edge " + std::to_string(edge) + " has value " + std::to_string(values[edge]) +
                                  "; expected a finite number");
    }
  }
  if (graph.goal() == kNoNode) return std::numeric_limits<double>::quiet_NaN();
  const auto inner = inside<Expectation>(
      graph, [&](EdgeId edge) { return Expectation::Value{scores[edge], values[edge]}; });
  const Expectation::Value at_goal = inner[graph.goal()];
  return Expectation::is_zero(at_goal) ? std::numeric_limits<double>::quiet_NaN() : at_goal.mean;
}

}  // namespace treeglot
