// Chart matching: every rule of a table on every span of a sentence.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/span.h"
#include "decode/glue.h"
#include "decode/rule_cache.h"
#include "decode/translation_forest.h"
#include "rules/table.h"

namespace treeglot {

struct ChartOptions {
  std::uint32_t span_limit = 10;  // the widest span a rule may cover, the paper's distortion limit; above it only glue
};

// A part of the input whose translation is given: no other rule may use its words.
struct Constraint {
  Span span;
  std::vector<std::vector<std::int32_t>> translations;  // target words
};

// The rules X → Y whose source side is one nonterminal. They join nodes of one cell, so labels are ordered such that
// every Y comes before its X; where they form a circle, the rules that would close it are left out.
struct UnaryRules {
  explicit UnaryRules(const RuleTable& table);

  std::vector<std::uint32_t> rank;  // by label
  std::size_t left_out = 0;         // rules
  bool any = false;
};

class ChartMatcher {
 public:
  ChartMatcher(const RuleTable& table, const ChartOptions& options);

  const UnaryRules& unary() const { return unary_; }

  // Alternatives come from `cache`; rules that the sentence needs beyond the table's from `glue`. Constraints do not
  // overlap and are sorted.
  TranslationForest match(std::span<const std::string_view> words, std::span<const Constraint> constraints,
                          RuleCache& cache, Glue& glue) const;

 private:
  const RuleTable& table_;
  ChartOptions options_;
  UnaryRules unary_;
};

}  // namespace treeglot
