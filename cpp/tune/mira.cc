#include "tune/mira.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "base/limits.h"
#include "base/random.h"

namespace treeglot {
namespace {

class Learner {
 public:
  Learner(const Pool& pool, const Metric& metric, std::span<const double> start, std::span<const double> units,
          const MiraOptions& options)
      : pool_(pool),
        metric_(metric),
        options_(options),
        units_(units),
        weights_(start.begin(), start.end()),
        late_(start.size()),
        background_(metric.width(), 1.0) {}

  void learn(std::size_t sentence) {
    const std::uint32_t begin = pool_.begin(sentence), end = pool_.end(sentence);
    std::uint32_t hope = begin, fear = begin, best = begin;
    double most_hope = 0.0, most_fear = 0.0;
    gains_.clear();
    scores_.clear();
    for (std::uint32_t h = begin; h < end; ++h) {
      const double score = pool_.rows().dot(h, weights_), gain = gain_of(h);
      gains_.push_back(gain);
      scores_.push_back(score);
      if (score > scores_[best - begin]) best = h;
      if (h == begin || score + gain > most_hope) {
        most_hope = score + gain;
        hope = h;
      }
      if (h == begin || score - gain > most_fear) {
        most_fear = score - gain;
        fear = h;
      }
    }
    const double wanted = gains_[hope - begin] - gains_[fear - begin];
    const double margin = scores_[hope - begin] - scores_[fear - begin];
    if (wanted > margin) step(hope, fear, wanted - margin);
    ++steps_;
    const auto row = pool_.statistics(options_.background == MiraOptions::Background::model ? best : hope);
    for (std::size_t i = 0; i < background_.size(); ++i) background_[i] = options_.decay * (background_[i] + row[i]);
  }

  // The mean of the weights after every sentence so far.
  std::vector<double> mean() const {
    std::vector<double> out = weights_;
    if (steps_ == 0) return out;
    for (std::size_t i = 0; i < out.size(); ++i) out[i] -= late_[i] / static_cast<double>(steps_);
    return out;
  }

 private:
  // The score of the sentence in the midst of the background, times its length there: what it adds to the corpus.
  double gain_of(std::uint32_t hypothesis) {
    const auto row = pool_.statistics(hypothesis);
    together_ = background_;
    for (std::size_t i = 0; i < together_.size(); ++i) together_[i] += row[i];
    const double score = metric_.score(together_) / 100.0 * together_[1];
    return metric_.higher_is_better() ? score : -score;
  }

  void step(std::uint32_t hope, std::uint32_t fear, double violation) {
    difference_.clear();
    add(hope, 1.0);
    add(fear, -1.0);
    std::sort(difference_.begin(), difference_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    double norm = 0.0;
    std::size_t size = 0;
    for (std::size_t i = 0; i < difference_.size(); ++i) {  // the same feature of both becomes one entry
      if (size > 0 && difference_[size - 1].first == difference_[i].first) {
        difference_[size - 1].second += difference_[i].second;
      } else {
        difference_[size++] = difference_[i];
      }
    }
    difference_.resize(size);
    for (const auto& [feature, value] : difference_) {
      if (units_[feature] > 0.0) norm += value * value / (units_[feature] * units_[feature]);
    }
    if (norm == 0.0) return;
    const double rate = std::min(options_.c, violation / norm);
    for (const auto& [feature, value] : difference_) {
      if (units_[feature] == 0.0) continue;
      const double change = rate * value / (units_[feature] * units_[feature]);
      weights_[feature] += change;
      late_[feature] += static_cast<double>(steps_) * change;  // not in the means before this step
    }
  }

  void add(std::uint32_t hypothesis, double sign) {
    const SparseRows& rows = pool_.rows();
    for (std::uint64_t i = rows.first[hypothesis]; i < rows.first[hypothesis + 1]; ++i) {
      difference_.emplace_back(rows.features[i], sign * static_cast<double>(rows.values[i]));
    }
  }

  const Pool& pool_;
  const Metric& metric_;
  const MiraOptions& options_;
  std::span<const double> units_;
  std::vector<double> weights_;
  std::vector<double> late_;  // Σ over steps of (sentences before it) · step: makes means cost what steps cost
  std::vector<double> background_, together_;
  std::vector<double> gains_, scores_;
  std::vector<std::pair<std::uint32_t, double>> difference_;
  std::size_t steps_ = 0;
};

// The statistics of the best hypotheses of those sentences with chosen[i] != 0, added up.
std::vector<double> sum_of(const Pool& pool, std::span<const double> weights, std::span<const std::uint8_t> chosen) {
  std::vector<double> sum(pool.width());
  for (std::size_t sentence = 0; sentence < pool.sentences(); ++sentence) {
    if (chosen[sentence] == 0 || pool.begin(sentence) == pool.end(sentence)) continue;
    const auto row = pool.statistics(pool.best(sentence, weights));
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += row[i];
  }
  return sum;
}

}  // namespace

double rescore(const Pool& pool, const Metric& metric, std::span<const double> weights,
               std::span<const std::uint8_t> chosen) {
  pool.check_weights(weights);
  pool.check_scores(weights);
  if (chosen.size() != pool.sentences() || metric.width() != pool.width())
    throw std::invalid_argument("the sentences chosen and the metric do not fit the pool");
  return metric.score(sum_of(pool, weights, chosen));
}

MiraResult mira(const Pool& pool, const Metric& sentence_metric, const Metric& metric, std::span<const double> start,
                std::span<const double> units, std::span<const std::uint8_t> held_out, const MiraOptions& options,
                std::uint64_t seed) {
  if (start.size() != pool.features() || units.size() != pool.features() || held_out.size() != pool.sentences() ||
      metric.width() != pool.width() || sentence_metric.width() != pool.width()) {
    throw std::invalid_argument("weights, units, sentences held out and metrics do not fit the pool");
  }
  check_at_most("the number of epochs", options.epochs, 100'000);
  MiraResult out;
  out.weights.assign(start.begin(), start.end());
  std::vector<std::size_t> order;
  std::vector<std::uint8_t> learnt(pool.sentences());
  bool chooses = false;
  for (std::size_t sentence = 0; sentence < pool.sentences(); ++sentence) {
    learnt[sentence] = held_out[sentence] == 0;
    chooses |= held_out[sentence] != 0;
    if (learnt[sentence] != 0 && pool.end(sentence) - pool.begin(sentence) > 1) order.push_back(sentence);
  }
  if (order.empty()) return out;

  Random random(seed);
  Learner learner(pool, sentence_metric, start, units, options);
  const double sign = metric.higher_is_better() ? 1.0 : -1.0;
  std::pair<double, double> best(-std::numeric_limits<double>::infinity(), 0.0);
  for (std::uint32_t epoch = 1; epoch <= options.epochs; ++epoch) {
    for (std::size_t i = order.size(); i > 1; --i) {
      std::swap(order[i - 1], order[static_cast<std::size_t>(random.uniform() * static_cast<double>(i))]);
    }
    for (const std::size_t sentence : order) learner.learn(sentence);
    std::vector<double> mean = learner.mean();
    std::vector<double> whole = sum_of(pool, mean, learnt);
    out.train.push_back(metric.score(whole));
    if (chooses) {
      const std::vector<double> part = sum_of(pool, mean, held_out);
      for (std::size_t i = 0; i < whole.size(); ++i) whole[i] += part[i];
      out.held_out.push_back(metric.score_of_part(part, whole));
    } else {
      out.held_out.push_back(out.train.back());
    }
    // Few sentences are held out and their score comes in leaps: where it is the same, the others' decides.
    const std::pair reached(sign * out.held_out.back(), sign * out.train.back());
    if (reached > best) {
      best = reached;
      out.best_epoch = epoch;
      out.weights = std::move(mean);
    } else if (epoch - out.best_epoch >= options.patience) {
      break;
    }
  }
  return out;
}

}  // namespace treeglot
