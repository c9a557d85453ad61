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

// A sentence changes from one hypothesis to another.
struct Change {
  double at;
  const double* from;
  const double* to;
};

class BestInterval {
 public:
  BestInterval(const Metric& metric, std::span<const Change> changes) : metric_(metric) {
    if (changes.empty()) return;
    const double first = changes.front().at, last = changes.back().at;
    // How far to go beyond the outermost changes: the mean distance between changes, or so.
    margin_ =
        last > first ? (last - first) / static_cast<double>(changes.size()) : std::max(0.1 * std::abs(first), 0.1);
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
  return line_search_from(pool, metric, pool.scores(weights), direction);
}

LineStep line_search_from(const Pool& pool, const Metric& metric, std::span<const double> scores,
                          std::span<const double> direction) {
  check(pool, metric, direction);
  const std::size_t width = metric.width();
  std::vector<double> sum(width);
  std::vector<Change> changes;
  BestAlong best;
  for (std::size_t sentence = 0; sentence < pool.sentences(); ++sentence) {
    pool.best_along(sentence, scores, direction, best);
    if (best.statistics.empty()) continue;
    for (std::size_t i = 0; i < width; ++i) sum[i] += best.statistics[0][i];
    for (std::size_t line = 1; line < best.statistics.size(); ++line) {
      changes.push_back({best.envelope.begin[line], best.statistics[line - 1], best.statistics[line]});
    }
  }
  std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.at < b.at; });

  BestInterval interval(metric, changes);
  double begin = -kInfinity;
  for (std::size_t next = 0; next < changes.size();) {
    const double end = changes[next].at;
    interval.consider(begin, end, sum);
    for (; next < changes.size() && changes[next].at == end; ++next) {
      for (std::size_t i = 0; i < width; ++i) sum[i] += changes[next].to[i] - changes[next].from[i];
    }
    begin = end;
  }
  interval.consider(begin, kInfinity, sum);
  return interval.step();
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
  std::vector<double> scores = pool.scores(start);
  out.score = out.before = line_search_from(pool, metric, scores, direction).here;

  // A step that does not gain is not taken: the point stays where it is.
  const auto search = [&] {
    const LineStep step = line_search_from(pool, metric, scores, direction);
    if (step.length == 0.0 || sign * (step.score - out.score) <= 0.0) return;
    for (const std::size_t feature : tuned) out.weights[feature] += step.length * direction[feature];
    out.score = step.score;
    scores = pool.scores(out.weights);
  };
  Random random(seed);
  while (out.rounds < options.rounds && !tuned.empty()) {
    ++out.rounds;
    const double before = out.score;
    for (std::size_t i = tuned.size(); i > 1; --i) {
      std::swap(tuned[i - 1], tuned[static_cast<std::size_t>(random.uniform() * static_cast<double>(i))]);
    }
    for (const std::size_t feature : tuned) {
      direction[feature] = 1.0 / spreads[feature];
      search();
      direction[feature] = 0.0;
    }
    for (std::uint32_t i = 0; i < options.directions; ++i) {
      for (const std::size_t feature : tuned) direction[feature] = (2.0 * random.uniform() - 1.0) / spreads[feature];
      search();
    }
    std::fill(direction.begin(), direction.end(), 0.0);
    if (sign * (out.score - before) < options.least_gain) break;
  }
  return out;
}

}  // namespace treeglot
