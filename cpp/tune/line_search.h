// MERT's line search (Och 2003): the best step along a direction, exactly. And the ascent that is made of such steps.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "evaluate/metric.h"
#include "tune/pool.h"

namespace treeglot {

struct LineStep {
  double length = 0.0;
  double score = 0.0;  // of the corpus there
  double here = 0.0;   // without a step
};

// The corpus score is constant between two neighbouring points where some sentence changes its best hypothesis. All
// such intervals are looked at, and the step leads to the middle of the best one. Of equal ones, that with 0 is taken,
// else the widest. Intervals so narrow that rounding may leave them are passed over.
LineStep line_search(const Pool& pool, const Metric& metric, std::span<const double> weights,
                     std::span<const double> direction);

struct AscentOptions {
  std::uint32_t directions = 10;  // random ones in every round, beside one for each feature
  double least_gain = 0.01;       // a round that gains less is the last
  std::uint32_t rounds = 20;      // at most
};

struct Ascent {
  std::vector<double> weights;
  double score = 0.0;
  double before = 0.0;  // at the start
  std::uint32_t rounds = 0;
};

// From `start` along one direction after another, to the best point on each. Directions are drawn with each feature in
// units of its spread; features without spread keep their weights.
Ascent ascend(const Pool& pool, const Metric& metric, std::span<const double> start, std::span<const double> spreads,
              const AscentOptions& options, std::uint64_t seed);

}  // namespace treeglot
