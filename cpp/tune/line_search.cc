#include "tune/line_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "base/limits.h"
#include "base/random.h"

namespace treeglot {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::uint32_t kMostSteps = 100'000;
constexpr double kNarrow = 1e-9;  // relative to where the interval is

// A sentence changes from one hypothesis to another. Changes are ordered by place, then as they were found.
struct Change {
  double at;
  std::uint32_t number;

  friend bool operator<(const Change& a, const Change& b) { return a.at != b.at ? a.at < b.at : a.number < b.number; }
};

class BestInterval {
 public:
  BestInterval(const Metric& metric, std::span<const Change> changes) : metric_(metric) {
    if (changes.empty()) return;
    const double first = changes.front().at, last = changes.back().at;
    // How far to go beyond the outermost changes: the mean distance between changes, or so.
    const bool apart = last - first > kNarrow * std::max({1.0, std::abs(first), std::abs(last)});
    margin_ = apart ? (last - first) / static_cast<double>(changes.size()) : std::max(0.1 * std::abs(first), 0.1);
  }

  void consider(double begin, double end, std::span<const double> sum) {
    const double score = metric_.score(sum);
    if (begin <= 0.0 && 0.0 < end) here_ = score;
    if (end - begin <= kNarrow * std::max({1.0, -begin, end}) && std::isfinite(begin) && std::isfinite(end)) return;
    const bool stays = begin < 0.0 && 0.0 < end;
    const double gain = found_ ? (metric_.higher_is_better() ? score - best_.score : best_.score - score) : kInfinity;
    if (gain < 0.0 || (gain == 0.0 && (stays_ || (!stays && end - begin <= width_)))) return;
    found_ = true;
    stays_ = stays;
    width_ = end - begin;
    best_.score = score;
    if (stays) {
      best_.length = 0.0;
    } else if (begin == -kInfinity) {
      best_.length = end - margin_;
    } else if (end == kInfinity) {
      best_.length = begin + margin_;
    } else {
      best_.length = begin + (end - begin) / 2.0;
    }
  }

  LineStep step() const { return {best_.length, best_.score, here_}; }

 private:
  const Metric& metric_;
  double margin_ = 0.0, here_ = 0.0, width_ = 0.0;
  bool found_ = false, stays_ = false;
  LineStep best_;
};

class LineSearch {
 public:
  LineSearch(const Pool& pool, const Metric& metric) : pool_(pool), metric_(metric), sum_(metric.width()) {}

  // From the weights of these scores.
  LineStep run(const PoolScores& scores, std::span<const double> direction) {
    list_changes(scores, direction);
    std::sort(changes_.begin(), changes_.end());
    BestInterval interval(metric_, changes_);
    double begin = -kInfinity;
    for (std::size_t next = 0; next < changes_.size();) {
      const double end = changes_[next].at;
      interval.consider(begin, end, sum_);
      for (; next < changes_.size() && changes_[next].at == end; ++next) {
        const double* const difference = differences_.data() + sum_.size() * changes_[next].number;
        for (std::size_t i = 0; i < sum_.size(); ++i) sum_[i] += difference[i];
      }
      begin = end;
    }
    interval.consider(begin, kInfinity, sum_);
    return interval.step();
  }

 private:
  // With the statistics of all sentences on the far left.
  void list_changes(const PoolScores& scores, std::span<const double> direction) {
    std::ranges::fill(sum_, 0.0);
    changes_.clear();
    differences_.clear();
    for (std::size_t sentence = 0; sentence < pool_.sentences(); ++sentence) {
      pool_.best_along(sentence, scores, direction, best_);
      if (best_.statistics.empty()) continue;
      for (std::size_t i = 0; i < sum_.size(); ++i) sum_[i] += best_.statistics[0][i];
      for (std::size_t line = 1; line < best_.statistics.size(); ++line) {
        changes_.push_back({best_.envelope.begin[line], static_cast<std::uint32_t>(changes_.size())});
        const double *from = best_.statistics[line - 1], *to = best_.statistics[line];
        for (std::size_t i = 0; i < sum_.size(); ++i) differences_.push_back(to[i] - from[i]);
      }
    }
  }

  const Pool& pool_;
  const Metric& metric_;
  std::vector<double> sum_;
  std::vector<Change> changes_;
  std::vector<double> differences_;  // of the statistics, by number of the change
  BestAlong best_;
};

void check(const Pool& pool, const Metric& metric, std::span<const double> weights) {
  if (pool.width() != metric.width()) {
    throw std::invalid_argument("the pool has " + std::to_string(pool.width()) + " statistics, the metric has " +
                                std::to_string(metric.width()));
  }
  pool.check_weights(weights);
  for (const double weight : weights) {
    if (!std::isfinite(weight)) throw std::invalid_argument("a weight is not a finite number");
  }
}

}  // namespace

LineStep line_search(const Pool& pool, const Metric& metric, std::span<const double> weights,
                     std::span<const double> direction) {
  check(pool, metric, weights);
  check(pool, metric, direction);
  return LineSearch(pool, metric).run(pool.scored(weights), direction);
}

Ascent ascend(const Pool& pool, const Metric& metric, std::span<const double> start, std::span<const double> spreads,
              const AscentOptions& options, std::uint64_t seed) {
  if (spreads.size() != start.size()) throw std::invalid_argument("as many spreads as weights are needed");
  check_at_most("the number of directions", options.directions, kMostSteps);
  check_at_most("the number of rounds", options.rounds, kMostSteps);
  Ascent out{{start.begin(), start.end()}, 0.0, 0.0, 0};
  std::vector<std::size_t> tuned;
  for (std::size_t feature = 0; feature < spreads.size(); ++feature) {
    if (spreads[feature] > 0.0) tuned.push_back(feature);
  }
  const double sign = metric.higher_is_better() ? 1.0 : -1.0;
  std::vector<double> direction(start.size());
  check(pool, metric, start);
  PoolScores scores = pool.scored(start);
  LineSearch line(pool, metric);
  out.score = out.before = line.run(scores, direction).here;

  // A step that does not gain is not taken: the point stays where it is. Along the same direction, the point is the
  // best until it moves along another one.
  const auto search = [&] {
    const LineStep step = line.run(scores, direction);
    if (step.length == 0.0 || sign * (step.score - out.score) <= 0.0) return false;
    for (const std::size_t feature : tuned) out.weights[feature] += step.length * direction[feature];
    out.score = step.score;
    scores = pool.scored(out.weights);
    return true;
  };
  std::vector<bool> best(start.size(), false);  // by feature: whether the point is the best along it
  Random random(seed);
  while (out.rounds < options.rounds && !tuned.empty()) {
    ++out.rounds;
    const double before = out.score;
    for (std::size_t i = tuned.size(); i > 1; --i) {
      std::swap(tuned[i - 1], tuned[static_cast<std::size_t>(random.uniform() * static_cast<double>(i))]);
    }
    for (const std::size_t feature : tuned) {
      if (best[feature]) continue;
      direction[feature] = 1.0 / spreads[feature];
      if (search()) best.assign(best.size(), false);
      best[feature] = true;
      direction[feature] = 0.0;
    }
    for (std::uint32_t i = 0; i < options.directions; ++i) {
      for (const std::size_t feature : tuned) direction[feature] = (2.0 * random.uniform() - 1.0) / spreads[feature];
      if (search()) best.assign(best.size(), false);
    }
    std::fill(direction.begin(), direction.end(), 0.0);
    if (sign * (out.score - before) < options.least_gain) break;
  }
  return out;
}

}  // namespace treeglot
