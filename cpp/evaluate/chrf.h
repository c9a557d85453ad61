// chrF (Popović 2015), the F-score of character n-grams; with word n-grams too, chrF++ (Popović 2017).
#pragma once

#include <cstdint>

#include "evaluate/metric.h"

namespace treeglot {

struct ChrfOptions {
  std::uint32_t character_order = 6;
  std::uint32_t word_order = 0;  // 2 for chrF++
  double beta = 2.0;             // how many times recall counts as much as precision
};

// Statistics, for each order: n-grams of the translation, of the reference, matches. Of several references that with
// the best score for the sentence counts. As sacreBLEU has it, orders of which the reference has no n-grams do not
// count.
class Chrf final : public Metric {
 public:
  explicit Chrf(const ChrfOptions& options);

  std::size_t width() const override { return 3 * (std::size_t{options_.character_order} + options_.word_order); }
  bool higher_is_better() const override { return true; }
  double score(std::span<const double> sum) const override;
  std::shared_ptr<const References> prepare(ReferenceLines lines) const override;

 private:
  ChrfOptions options_;
};

}  // namespace treeglot
