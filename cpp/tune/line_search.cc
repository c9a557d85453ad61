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
constexpr double kLongest = std::numeric_limits<double>::max();
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
    const auto n = static_cast<double>(changes.size());
    margin_ = apart ? part_of(first, last, n) : std::max(0.1 * std::abs(first), 0.1);
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
      best_.length = std::max(end - margin_, -kLongest);
    } else if (end == kInfinity) {
      best_.length = std::min(begin + margin_, kLongest);
    } else {
      best_.length = begin + part_of(begin, end, 2.0);
    }
  }

  LineStep step() const { return {best_.length, best_.score, here_}; }

 private:
  // An interval's width divided by n. The width may overflow.
  static double part_of(double begin, double end, double n) {
    return std::isfinite(end - begin) ? (end - begin) / n : end / n - begin / n;
  }

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
    pool_.check_scores(direction);
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

// Goes from one point to a better one along one direction after another.
class Climber {
 public:
  Climber(const Pool& pool, const Metric& metric, std::span<const double> start, std::span<const double> spreads)
      : pool_(pool),
        line_(pool, metric),
        spreads_(spreads),
        sign_(metric.higher_is_better() ? 1.0 : -1.0),
        scores_(pool.scored(start)),
        direction_(start.size()),
        best_(start.size(), false) {
    for (std::size_t feature = 0; feature < spreads.size(); ++feature) {
      if (spreads[feature] > 0.0) tuned_.push_back(feature);
    }
    out_.weights.assign(start.begin(), start.end());
    out_.score = out_.before = line_.run(scores_, direction_).here;
  }

  Ascent run(const AscentOptions& options, std::uint64_t seed) {
    Random random(seed);
    while (out_.rounds < options.rounds && !tuned_.empty()) {
      const double before = out_.score;
      search_round(options.directions, random);
      if (sign_ * (out_.score - before) < options.least_gain) break;
    }
    return std::move(out_);
  }

 private:
  void search_round(std::uint32_t directions, Random& random) {
    ++out_.rounds;
    for (std::size_t i = tuned_.size(); i > 1; --i)
      std::swap(tuned_[i - 1], tuned_[static_cast<std::size_t>(random.uniform() * static_cast<double>(i))]);
    for (const std::size_t feature : tuned_) {
      if (best_[feature]) continue;
      direction_[feature] = 1.0 / spreads_[feature];
      search();
      best_[feature] = true;
      direction_[feature] = 0.0;
    }
    for (std::uint32_t i = 0; i < directions; ++i) {
      for (const std::size_t feature : tuned_) direction_[feature] = (2.0 * random.uniform() - 1.0) / spreads_[feature];
      search();
    }
    std::ranges::fill(direction_, 0.0);
  }

  // A step that does not gain is not taken: the point stays where it is.
  void search() {
    const LineStep step = line_.run(scores_, direction_);
    if (step.length == 0.0 || sign_ * (step.score - out_.score) <= 0.0) return;
    for (const std::size_t feature : tuned_) out_.weights[feature] += step.length * direction_[feature];
    out_.score = step.score;
    scores_ = pool_.scored(out_.weights);
    best_.assign(best_.size(), false);
  }

  const Pool& pool_;
  LineSearch line_;
  std::span<const double> spreads_;
  double sign_;
  PoolScores scores_;  // at the point
  std::vector<double> direction_;
  std::vector<bool> best_;          // by feature: whether no step along it gains, as the point has not moved since
  std::vector<std::size_t> tuned_;  // features with a spread
  Ascent out_;
};

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
  check(pool, metric, start);
  return Climber(pool, metric, start, spreads).run(options, seed);
}

}  // namespace treeglot
