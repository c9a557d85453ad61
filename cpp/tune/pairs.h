// The sampler of PRO (Hopkins and May 2011): pairs of hypotheses, one of them clearly better.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tune/pool.h"

namespace treeglot {

struct PairOptions {
  std::uint32_t samples = 5000;  // pairs drawn for every sentence
  std::uint32_t kept = 50;       // those of them that differ most
  double least = 5.0;            // pairs that differ less are not kept
};

// The better hypothesis' features minus the other one's, pair by pair.
struct Pairs {
  std::vector<std::uint64_t> first = {0};
  std::vector<std::uint32_t> features;
  std::vector<double> values;
};

// `scores` of the hypotheses, the higher the better.
Pairs sample_pairs(const Pool& pool, std::span<const double> scores, const PairOptions& options, std::uint64_t seed);

}  // namespace treeglot
