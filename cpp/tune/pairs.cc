#include "tune/pairs.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "base/limits.h"
#include "base/random.h"

namespace treeglot {
namespace {

struct Pair {
  std::uint32_t better, worse;
  std::uint32_t drawn;  // when
  double difference;
};

// Both rows are in the order of their features.
void append_difference(const SparseRows& rows, const Pair& pair, Pairs& out) {
  std::uint64_t i = rows.first[pair.better], j = rows.first[pair.worse];
  const std::uint64_t i_end = rows.first[pair.better + 1], j_end = rows.first[pair.worse + 1];
  while (i < i_end || j < j_end) {
    const std::uint32_t feature =
        j == j_end || (i < i_end && rows.features[i] < rows.features[j]) ? rows.features[i] : rows.features[j];
    double value = 0.0;
    if (i < i_end && rows.features[i] == feature) value += static_cast<double>(rows.values[i++]);
    if (j < j_end && rows.features[j] == feature) value -= static_cast<double>(rows.values[j++]);
    if (value != 0.0) {
      out.features.push_back(feature);
      out.values.push_back(value);
    }
  }
  out.first.push_back(out.features.size());
}

}  // namespace

Pairs sample_pairs(const Pool& pool, std::span<const double> scores, const PairOptions& options, std::uint64_t seed) {
  if (scores.size() != pool.hypotheses()) {
    throw std::invalid_argument(std::to_string(scores.size()) + " scores for " + std::to_string(pool.hypotheses()) +
                                " hypotheses");
  }
  check_at_most("the number of samples", options.samples, kMostSamples);
  for (const double score : scores)
    if (!std::isfinite(score)) throw std::invalid_argument("a score is not a finite number");
  Random random(seed);
  Pairs out;
  std::vector<Pair> pairs;
  for (std::size_t sentence = 0; sentence < pool.sentences(); ++sentence) {
    const std::uint32_t begin = pool.begin(sentence), size = pool.end(sentence) - begin;
    if (size < 2) continue;
    const auto draw = [&] { return begin + static_cast<std::uint32_t>(random.uniform() * static_cast<double>(size)); };
    pairs.clear();
    for (std::uint32_t i = 0; i < options.samples; ++i) {
      const std::uint32_t a = draw(), b = draw();
      const double difference = scores[a] - scores[b];
      if (std::abs(difference) < options.least || difference == 0.0) continue;
      pairs.push_back(difference > 0.0 ? Pair{a, b, i, difference} : Pair{b, a, i, -difference});
    }
    const auto kept = static_cast<std::ptrdiff_t>(std::min<std::size_t>(options.kept, pairs.size()));
    std::partial_sort(pairs.begin(), pairs.begin() + kept, pairs.end(), [](const Pair& a, const Pair& b) {
      return a.difference != b.difference ? a.difference > b.difference : a.drawn < b.drawn;
    });
    pairs.resize(static_cast<std::size_t>(kept));
    for (const Pair& pair : pairs) append_difference(pool.rows(), pair, out);
  }
  return out;
}

}  // namespace treeglot
