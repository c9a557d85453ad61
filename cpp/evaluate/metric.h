// Statistics first, score last: a metric gives every sentence a vector, vectors add up, and the sum has a score. Tuning
// and significance tests work on the vectors alone. Counts are doubles, which hold them exactly up to 2^53. The second
// number of a vector is, for all metrics, the reference's length: how much the sentence weighs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace treeglot {

// The references of a corpus, made ready for one metric. Immutable: threads may share it.
class References {
 public:
  virtual ~References() = default;
  virtual std::size_t sentences() const = 0;
  virtual std::size_t width() const = 0;  // of the vectors
  // The statistics of a translation of a sentence, into `out`.
  virtual void statistics(std::string_view translation, std::size_t sentence, std::span<double> out) const = 0;
};

// One list of lines for each reference translation of the whole corpus, all of the same length.
using ReferenceLines = std::span<const std::vector<std::string>>;

class Metric {
 public:
  virtual ~Metric() = default;
  virtual std::size_t width() const = 0;
  virtual bool higher_is_better() const = 0;
  // Of a sum of statistics; from 0 to 100 for most.
  virtual double score(std::span<const double> sum) const = 0;
  // Of a few sentences of a corpus. What holds of the corpus as a whole (the length, for BLEU) is taken from all of it:
  // the few would tell it badly.
  virtual double score_of_part(std::span<const double> part, std::span<const double> whole) const;
  virtual std::shared_ptr<const References> prepare(ReferenceLines lines) const = 0;
};

// Rows of statistics, one after another: translation i is one of sentence sentences[i]. Refuses sentences that the
// references lack.
std::vector<double> statistics(const References& references, std::span<const std::string> translations,
                               std::span<const std::uint32_t> sentences);

// The score of every row.
std::vector<double> scores(const Metric& metric, std::span<const double> rows);

// The score of a part of a corpus; refuses other than one row each.
double score_of_part(const Metric& metric, std::span<const double> part, std::span<const double> whole);

// Refuses rows of another width than the metric's; how many there are.
std::size_t check_rows(const Metric& metric, std::span<const double> rows);

// Refuses no references, references of different lengths.
void check_references(ReferenceLines lines);

}  // namespace treeglot
