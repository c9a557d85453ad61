#include "tune/pool.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>

#include "base/limits.h"
#include "graph/hypergraph.h"

namespace treeglot {
namespace {

constexpr std::size_t kMostColumns = 64;  // more features than this are sparse
constexpr std::size_t kMostFeatures = 1 << 26;

std::string number(std::size_t n) { return std::to_string(n); }

// The values of a feature, to be taken so often.
struct WeightedColumn {
  double by;
  const float* values;
};

// out[i] = Σ by · values[i] over columns, compiled for each width of registers. No width rounds differently: no
// multiplication is fused.
[[gnu::always_inline]] inline void add_columns_of(std::span<const WeightedColumn> columns, std::span<double> out) {
  std::ranges::fill(out, 0.0);
  double* const sums = out.data();
  for (const auto& [by, values] : columns) {
    for (std::size_t i = 0; i < out.size(); ++i) sums[i] += by * static_cast<double>(values[i]);
  }
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) void add_columns_wide(std::span<const WeightedColumn> columns, std::span<double> out) {
  add_columns_of(columns, out);
}
#endif

void add_columns(std::span<const WeightedColumn> columns, std::span<double> out) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) {
    add_columns_wide(columns, out);
    return;
  }
#endif
  add_columns_of(columns, out);
}

}  // namespace

Pool::Pool(std::span<const std::uint32_t> first_hypothesis, SparseRows rows, std::span<const double> statistics,
           std::size_t features, std::shared_ptr<const void> owner)
    : first_(first_hypothesis), rows_(rows), statistics_(statistics), features_(features), owner_(std::move(owner)) {
  check_at_most("the number of features", features, kMostFeatures);
  if (rows.first.empty()) throw std::invalid_argument("first_feature must begin with 0");
  check_offsets("first_hypothesis", first_hypothesis, rows.size());
  if (rows.first.front() != 0 || !std::is_sorted(rows.first.begin(), rows.first.end()) ||
      rows.first.back() != rows.features.size() || rows.features.size() != rows.values.size()) {
    throw std::invalid_argument("first_feature, features and values do not fit together");
  }
  width_ = rows.size() == 0 ? 1 : statistics.size() / rows.size();
  if (width_ * rows.size() != statistics.size() || width_ == 0) {
    throw std::invalid_argument(number(statistics.size()) + " statistics for " + number(rows.size()) + " hypotheses");
  }
  for (std::size_t sentence = 0; sentence < sentences(); ++sentence)
    for (std::uint32_t h = begin(sentence); h < end(sentence); ++h) check_features(sentence, h);
  for (const float value : rows.values) largest_ = std::max(largest_, std::abs(static_cast<double>(value)));
  if (features <= kMostColumns) {
    columns_.resize(features * rows.size());
    for (std::size_t h = 0; h < rows.size(); ++h) {
      for (std::uint64_t i = rows.first[h]; i < rows.first[h + 1]; ++i)
        columns_[rows.features[i] * rows.size() + h] = rows.values[i];
    }
  }
}

void Pool::check_features(std::size_t sentence, std::uint32_t h) const {
  for (std::uint64_t i = rows_.first[h]; i < rows_.first[h + 1]; ++i) {
    const auto place = [&] {
      return "hypothesis " + number(h - begin(sentence)) + " of sentence " + number(sentence) + " has feature " +
             number(rows_.features[i]);
    };
    if (rows_.features[i] >= features_) throw std::invalid_argument(place() + " of " + number(features_));
    if (i > rows_.first[h] && rows_.features[i] <= rows_.features[i - 1])
      throw std::invalid_argument(place() + " after " + number(rows_.features[i - 1]) + "; expected them in order");
    if (!std::isfinite(rows_.values[i]))
      throw std::invalid_argument(place() + " = " + std::to_string(rows_.values[i]) + "; expected a finite number");
  }
}

void Pool::check_weights(std::span<const double> weights) const {
  if (weights.size() != features_)
    throw std::invalid_argument(number(weights.size()) + " weights for " + number(features_) + " features");
}

void Pool::check_scores(std::span<const double> weights) const {
  double sum = 0.0;
  for (const double weight : weights) sum += std::abs(weight);
  if (std::isfinite(2.0 * sum * largest_)) return;  // this bounds every score, also if it is rounded
  for (std::size_t sentence = 0; sentence < sentences(); ++sentence) {
    for (std::uint32_t h = begin(sentence); h < end(sentence); ++h) {
      if (const double score = rows_.dot(h, weights); !std::isfinite(score)) {
        throw std::overflow_error("hypothesis " + number(h - begin(sentence)) + " of sentence " + number(sentence) +
                                  " has the score " + std::to_string(score) +
                                  "; expected a finite number: weights or features are too large");
      }
    }
  }
}

std::vector<double> Pool::scores(std::span<const double> weights) const {
  check_weights(weights);
  check_scores(weights);
  if (columns_.empty()) return rows_.products(weights);
  std::vector<double> out(hypotheses());
  for (std::size_t s = 0; s < sentences(); ++s) along(s, weights, std::span(out).subspan(begin(s), end(s) - begin(s)));
  return out;
}

PoolScores Pool::scored(std::span<const double> weights) const {
  PoolScores out{scores(weights), {}};
  for (std::size_t s = 0; s < sentences(); ++s)
    out.peaks.push_back(peak_of(std::span(out.of).subspan(begin(s), end(s) - begin(s))));
  return out;
}

void Pool::best_along(std::size_t sentence, const PoolScores& scores, std::span<const double> direction,
                      BestAlong& out) const {
  const std::size_t first = begin(sentence), size = end(sentence) - first;
  out.slopes.resize(size);
  along(sentence, direction, out.slopes);
  make_envelope(out.slopes, std::span(scores.of).subspan(first, size), scores.peaks[sentence], begin(sentence),
                out.envelope);
  out.statistics.clear();
  for (const Line& line : out.envelope.lines) out.statistics.push_back(statistics(line.id).data());
}

void Pool::along(std::size_t sentence, std::span<const double> direction, std::span<double> out) const {
  if (columns_.empty()) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = rows_.dot(begin(sentence) + i, direction);
    return;
  }
  std::array<WeightedColumn, kMostColumns> columns;
  std::size_t used = 0;
  for (std::size_t feature = 0; feature < features_; ++feature) {
    if (direction[feature] == 0.0) continue;  // most directions are those of one feature
    columns[used++] = {direction[feature], columns_.data() + column(sentence, feature)};
  }
  add_columns(std::span(columns).first(used), out);
}

std::vector<double> Pool::spreads() const {
  // Deviations are taken from the first hypothesis' values: a feature that is the same for all has spread 0, to the
  // bit.
  struct Moments {
    double first = 0.0, sum = 0.0, squares = 0.0;
    std::uint32_t present = 0;
  };
  std::vector<double> variances(features_);
  std::vector<std::uint32_t> varies(features_);  // in how many sentences
  std::vector<Moments> moments(features_);
  std::vector<std::uint32_t> touched;
  for (std::size_t sentence = 0; sentence < sentences(); ++sentence) {
    const std::uint32_t size = end(sentence) - begin(sentence);
    if (size < 2) continue;
    for (std::uint64_t i = rows_.first[begin(sentence)]; i < rows_.first[begin(sentence) + 1]; ++i) {
      moments[rows_.features[i]].first = static_cast<double>(rows_.values[i]);
    }
    for (std::uint64_t i = rows_.first[begin(sentence)]; i < rows_.first[end(sentence)]; ++i) {
      Moments& m = moments[rows_.features[i]];
      const double deviation = static_cast<double>(rows_.values[i]) - m.first;
      if (m.present++ == 0) touched.push_back(rows_.features[i]);
      m.sum += deviation;
      m.squares += deviation * deviation;
    }
    for (const std::uint32_t feature : touched) {
      Moments& m = moments[feature];
      const double absent = size - m.present, mean = (m.sum - absent * m.first) / size;
      const double variance = (m.squares + absent * m.first * m.first) / size - mean * mean;
      m = Moments{};
      if (variance <= 0.0) continue;
      variances[feature] += variance;
      ++varies[feature];
    }
    touched.clear();
  }
  for (std::size_t i = 0; i < features_; ++i) variances[i] = varies[i] == 0 ? 0.0 : std::sqrt(variances[i] / varies[i]);
  return variances;
}

std::uint32_t Pool::best(std::size_t sentence, std::span<const double> weights) const {
  std::uint32_t best = begin(sentence);
  double highest = rows_.dot(best, weights);
  for (std::uint32_t h = best + 1; h < end(sentence); ++h) {
    const double score = rows_.dot(h, weights);
    if (score > highest) {
      highest = score;
      best = h;
    }
  }
  return best;
}

}  // namespace treeglot
