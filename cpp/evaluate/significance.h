// Is one system better than another, or was it luck? Both tests work on the sentences' statistics alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "evaluate/metric.h"

namespace treeglot {

// The sign test of Collins et al. (2005). A sentence counts as better (worse) if its new translation alone, put into
// the baseline's output, makes the corpus score better (worse). O(sentences).
struct SignTest {
  std::size_t better = 0, worse = 0, equal = 0;
  double p = 1.0;  // two-sided
};
SignTest sign_test(const Metric& metric, std::span<const double> baseline, std::span<const double> system);

// Corpora of the same size drawn with replacement (Koehn 2004), and both systems' scores on each.
struct Resampled {
  std::vector<double> baseline, system;
};
Resampled paired_bootstrap(const Metric& metric, std::span<const double> baseline, std::span<const double> system,
                           std::size_t samples, std::uint64_t seed);

}  // namespace treeglot
