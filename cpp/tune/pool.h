// What a tuner chooses from: for every sentence hypotheses with feature vectors and statistics.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tune/envelope.h"

namespace treeglot {

// Sparse vectors, one after another, on arrays of somebody else.
struct SparseRows {
  std::span<const std::uint64_t> first;     // rows + 1 offsets
  std::span<const std::uint32_t> features;  // numbers of features
  std::span<const float> values;

  std::size_t size() const { return first.size() - 1; }
  double dot(std::size_t row, std::span<const double> dense) const {
    double sum = 0.0;
    for (std::uint64_t i = first[row]; i < first[row + 1]; ++i)
      sum += dense[features[i]] * static_cast<double>(values[i]);
    return sum;
  }
  std::vector<double> products(std::span<const double> dense) const {
    std::vector<double> out(size());
    for (std::size_t row = 0; row < out.size(); ++row) out[row] = dot(row, dense);
    return out;
  }
};

// The hypotheses of a sentence that are best for some step, from left to right.
struct BestAlong {
  Envelope envelope;
  std::vector<const double*> statistics;  // of each line
  std::vector<double> slopes;             // of all hypotheses: room that is used again
};

// The score of every hypothesis with some weights, and by sentence where the best is.
struct PoolScores {
  std::vector<double> of;
  std::vector<Peak> peaks;
};

// Lists of hypotheses. Refuses what does not fit together and features that are not finite numbers.
class Pool {
 public:
  // first_hypothesis: sentences + 1 offsets. statistics: a row for each hypothesis. `owner` keeps the arrays.
  Pool(std::span<const std::uint32_t> first_hypothesis, SparseRows rows, std::span<const double> statistics,
       std::size_t features, std::shared_ptr<const void> owner);

  std::size_t sentences() const { return first_.size() - 1; }
  std::size_t features() const { return features_; }
  std::size_t width() const { return width_; }                // of the statistics
  void check_weights(std::span<const double> weights) const;  // refuses those of another number of features
  // Refuses weights with which a hypothesis has no finite score. This is quick unless weights or features are huge.
  void check_scores(std::span<const double> weights) const;
  // The score of every hypothesis with these weights.
  std::vector<double> scores(std::span<const double> weights) const;
  // The same with their peaks. Line searches reuse them, because most steps are not taken.
  PoolScores scored(std::span<const double> weights) const;
  // What is best along weights + x · direction, for all x, from the weights' scores. A sentence may have no hypotheses.
  // `check_scores` must accept the direction.
  void best_along(std::size_t sentence, const PoolScores& scores, std::span<const double> direction,
                  BestAlong& out) const;
  // How much each feature varies among the hypotheses of a sentence, where it does: a unit for its values. 0 for
  // features that never tell two hypotheses apart.
  std::vector<double> spreads() const;

  std::size_t hypotheses() const { return rows_.size(); }
  std::uint32_t begin(std::size_t sentence) const { return first_[sentence]; }
  std::uint32_t end(std::size_t sentence) const { return first_[sentence + 1]; }
  const SparseRows& rows() const { return rows_; }
  std::span<const double> statistics(std::size_t hypothesis) const {
    return statistics_.subspan(hypothesis * width_, width_);
  }

  // The hypothesis of a sentence with the highest score. Of equal ones, the first. The sentence must have one.
  std::uint32_t best(std::size_t sentence, std::span<const double> weights) const;

 private:
  void check_features(std::size_t sentence, std::uint32_t h) const;  // of one hypothesis
  // What the hypotheses of a sentence are along a direction.
  void along(std::size_t sentence, std::span<const double> direction, std::span<double> out) const;
  // Where the values of a feature begin in columns_.
  std::size_t column(std::size_t sentence, std::size_t feature) const {
    return feature * hypotheses() + begin(sentence);
  }

  std::span<const std::uint32_t> first_;
  SparseRows rows_;
  std::vector<float> columns_;  // the same, one feature after another, when they are few
  std::span<const double> statistics_;
  std::size_t features_, width_;
  double largest_ = 0.0;  // absolute value of a feature
  std::shared_ptr<const void> owner_;
};

}  // namespace treeglot
