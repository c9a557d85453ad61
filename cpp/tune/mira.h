// Batch MIRA over a pool of k-best lists (Cherry and Foster 2012): large steps from what looks good and is bad to what
// is good.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "evaluate/metric.h"
#include "tune/pool.h"

namespace treeglot {

struct MiraOptions {
  double c = 0.003;      // the largest step
  double decay = 0.999;  // of the background, for every sentence
  enum class Background : std::uint8_t { hope, model };
  Background background = Background::hope;  // what adds up to it: hopes, or what the weights choose
  std::uint32_t epochs = 60;                 // passes over the pool, at most
  std::uint32_t patience = 10;               // passes without a better score before it ends
};

struct MiraResult {
  std::vector<double> weights;   // the mean of all that were passed through, up to the best epoch
  std::uint32_t best_epoch = 0;  // from 1; 0 when there was nothing to learn from
  std::vector<double> train,
      held_out;  // scores of the means after each epoch, on the two parts; held_out as a part of all
};

// Features are taken in `units`, so that a step is worth as much in each of them; those with unit 0 are not learnt.
// `sentence_metric` scores a sentence with the background added, `metric` whole parts. Sentences with held_out[i] != 0
// are not learnt from but choose the epoch; without any, those that are learnt from choose it.
MiraResult mira(const Pool& pool, const Metric& sentence_metric, const Metric& metric, std::span<const double> start,
                std::span<const double> units, std::span<const std::uint8_t> held_out, const MiraOptions& options,
                std::uint64_t seed);

// The corpus score of the best hypotheses of those sentences with chosen[i] != 0.
double rescore(const Pool& pool, const Metric& metric, std::span<const double> weights,
               std::span<const std::uint8_t> chosen);

}  // namespace treeglot
