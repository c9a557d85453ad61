#include "evaluate/significance.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "base/limits.h"
#include "base/random.h"

namespace treeglot {
namespace {

std::size_t check_pair(const Metric& metric, std::span<const double> baseline, std::span<const double> system) {
  const std::size_t sentences = check_rows(metric, baseline);
  if (check_rows(metric, system) != sentences) {
    throw std::invalid_argument("the baseline has " + std::to_string(sentences) + " sentences, the system " +
                                std::to_string(check_rows(metric, system)));
  }
  if (sentences == 0) throw std::invalid_argument("there are no sentences to compare");
  return sentences;
}

void add(std::span<double> sum, std::span<const double> rows, std::size_t row) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += rows[row * sum.size() + i];
}

// How likely a fair coin is to fall at least as unevenly.
double sign_test_p(std::size_t better, std::size_t worse) {
  const auto n = static_cast<double>(better + worse);
  const double all = std::lgamma(n + 1) - n * std::log(2.0);
  double tail = 0.0;
  for (std::size_t k = 0; k <= std::min(better, worse); ++k) {
    const auto heads = static_cast<double>(k);
    tail += std::exp(all - std::lgamma(heads + 1) - std::lgamma(n - heads + 1));
  }
  return std::min(1.0, 2.0 * tail);
}

}  // namespace

SignTest sign_test(const Metric& metric, std::span<const double> baseline, std::span<const double> system) {
  const std::size_t sentences = check_pair(metric, baseline, system), width = metric.width();
  std::vector<double> sum(width), swapped(width);
  for (std::size_t row = 0; row < sentences; ++row) add(sum, baseline, row);
  const double score = metric.score(sum), sign = metric.higher_is_better() ? 1.0 : -1.0;
  SignTest out;
  for (std::size_t row = 0; row < sentences; ++row) {
    // The difference first: it is exactly 0 for what does not depend on the translation, such as fractional lengths.
    for (std::size_t i = 0; i < width; ++i) swapped[i] = sum[i] + (system[row * width + i] - baseline[row * width + i]);
    const double gain = sign * (metric.score(swapped) - score);
    ++(gain > 0.0 ? out.better : gain < 0.0 ? out.worse : out.equal);
  }
  out.p = sign_test_p(out.better, out.worse);
  return out;
}

Resampled paired_bootstrap(const Metric& metric, std::span<const double> baseline, std::span<const double> system,
                           std::size_t samples, std::uint64_t seed) {
  const std::size_t sentences = check_pair(metric, baseline, system);
  check_at_most("the number of samples", samples, kMostSamples);
  Random random(seed);
  Resampled out;
  std::vector<double> baseline_sum(metric.width()), system_sum(metric.width());
  for (std::size_t sample = 0; sample < samples; ++sample) {
    std::fill(baseline_sum.begin(), baseline_sum.end(), 0.0);
    std::fill(system_sum.begin(), system_sum.end(), 0.0);
    for (std::size_t i = 0; i < sentences; ++i) {
      const auto row = static_cast<std::size_t>(random.uniform() * static_cast<double>(sentences));
      add(baseline_sum, baseline, row);
      add(system_sum, system, row);
    }
    out.baseline.push_back(metric.score(baseline_sum));
    out.system.push_back(metric.score(system_sum));
  }
  return out;
}

}  // namespace treeglot
