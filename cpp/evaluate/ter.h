// TER (Snover et al. 2006): edits per reference word, where moving a block of words is one edit.
#pragma once

#include <span>

#include "base/symbols.h"
#include "evaluate/metric.h"

namespace treeglot {

// Statistics: edits against the reference that needs fewest, mean length of the references.
class Ter final : public Metric {
 public:
  std::size_t width() const override { return 2; }
  bool higher_is_better() const override { return false; }
  double score(std::span<const double> sum) const override;
  std::shared_ptr<const References> prepare(ReferenceLines lines) const override;
};

// The edits from a translation to a reference. The least number is intractable; this is Tercom's greedy search, with
// the limits and the order of preference that sacreBLEU has, so that both find the same number.
std::size_t ter_edits(std::span<const Symbol> translation, std::span<const Symbol> reference);

}  // namespace treeglot
