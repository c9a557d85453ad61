// Chart matching on the parts of a dependency tree alone. It shows what rules on other spans are worth.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "decode/match_chart.h"
#include "decode/matcher.h"

namespace treeglot {

// The spans of two words or more that rules may cover. Structures are fixed or floating (Shen et al. 2008).
enum class TreeSpans : std::uint8_t {
  structures,  // subtrees and structures
  phrases,     // subtrees; structures for rules without variables
  subtrees,
};

class StructureMatcher final : public Matcher {
 public:
  StructureMatcher(std::shared_ptr<const RuleTable> table, const ChartOptions& options, TreeSpans spans)
      : chart_(std::move(table), options), spans_(spans) {}

  std::size_t left_out() const override { return chart_.left_out(); }

  // Takes dependency trees; refuses other inputs and cycles. Trees are made projective. Glue is not restricted.
  TranslationForest match(const Input& input, RuleCache& cache, Glue& glue) const override;

 private:
  ChartMatcher chart_;
  TreeSpans spans_;
};

}  // namespace treeglot
