#include "evaluate/metric.h"

#include <stdexcept>
#include <string>

namespace treeglot {

Chrf::Chrf(const ChrfOptions& options) : options_(options) {
  if (options.character_order < 1 || options.character_order > 32 || options.word_order > 32) {
    throw std::invalid_argument("orders of " + std::to_string(options.character_order) + " characters and " +
                                std::to_string(options.word_order) + " words; expected 1 to 32 and 0 to 32");
  }
  if (!(options.beta > 0.0)) throw std::invalid_argument("beta must be above 0");
}

double Chrf::score(std::span<const double> sum) const {
  double precision = 0.0, recall = 0.0, orders = 0.0;
  for (std::size_t i = 0; i < sum.size(); i += 3) {
    if (sum[i] <= 0.0 || sum[i + 1] <= 0.0) continue;
    precision += sum[i + 2] / sum[i];
    recall += sum[i + 2] / sum[i + 1];
    orders += 1.0;
  }
  if (precision + recall == 0.0) return 0.0;
  precision /= orders;
  recall /= orders;
  const double factor = options_.beta * options_.beta;
  return 100.0 * (1.0 + factor) * precision * recall / (factor * precision + recall);
}

double Ter::score(std::span<const double> sum) const {
  if (sum[1] > 0.0) return 100.0 * (sum[0] / sum[1]);
  return sum[0] > 0.0 ? 100.0 : 0.0;
}

std::vector<double> scores(const Metric& metric, std::span<const double> rows) {
  std::vector<double> out(check_rows(metric, rows));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = metric.score(rows.subspan(i * metric.width(), metric.width()));
  return out;
}

double score_of_part(const Metric& metric, std::span<const double> part, std::span<const double> whole) {
  if (check_rows(metric, part) != 1 || check_rows(metric, whole) != 1) {
    throw std::invalid_argument("a part of a corpus and the corpus are one row of statistics each");
  }
  return metric.score_of_part(part, whole);
}

std::size_t check_rows(const Metric& metric, std::span<const double> rows) {
  if (rows.size() % metric.width() != 0) {
    throw std::invalid_argument(std::to_string(rows.size()) + " numbers are no rows of " +
                                std::to_string(metric.width()) + " statistics");
  }
  return rows.size() / metric.width();
}

}  // namespace treeglot
