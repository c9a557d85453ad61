// Metrics: vectors of counts that add up over sentences, and the score of a sum. Tuning and significance tests work on
// the vectors alone. Counts are doubles, which hold them exactly up to 2^53. The second number of a vector is, for all
// metrics, the reference's length: how much the sentence weighs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace treeglot {

class Metric {
 public:
  virtual ~Metric() = default;
  virtual std::size_t width() const = 0;  // of the vectors
  virtual bool higher_is_better() const { return true; }
  // The score of a sum of statistics, for most metrics from 0 to 100.
  virtual double score(std::span<const double> sum) const = 0;
  // The score of a few sentences of a corpus. Properties of the whole corpus, such as the length for BLEU, come from
  // all sentences, because a few would estimate them badly.
  virtual double score_of_part(std::span<const double> part, std::span<const double>) const { return score(part); }
};

struct ChrfOptions {
  std::uint32_t character_order = 6;
  std::uint32_t word_order = 0;  // 2 for chrF++
  double beta = 2.0;             // how many times recall counts as much as precision
};

// Statistics, which sacreBLEU counts, for each order: n-grams of the translation, of the reference, matches.
class Chrf final : public Metric {
 public:
  explicit Chrf(const ChrfOptions& options);

  std::size_t width() const override { return 3 * (std::size_t{options_.character_order} + options_.word_order); }
  double score(std::span<const double> sum) const override;

 private:
  ChrfOptions options_;
};

// Statistics, which sacreBLEU counts: edits against the reference that needs fewest, mean length of the references.
class Ter final : public Metric {
 public:
  std::size_t width() const override { return 2; }
  bool higher_is_better() const override { return false; }
  double score(std::span<const double> sum) const override;
};

// The score of every row.
std::vector<double> scores(const Metric& metric, std::span<const double> rows);

// The score of a part of a corpus; refuses other than one row each.
double score_of_part(const Metric& metric, std::span<const double> part, std::span<const double> whole);

// Refuses rows whose width is not the metric's. Returns the number of rows.
std::size_t check_rows(const Metric& metric, std::span<const double> rows);

}  // namespace treeglot
