// Chart matching with rules that are found when a sentence arrives.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "decode/match_chart.h"
#include "rules/on_demand.h"

namespace treeglot {

class OnDemandMatcher final : public Matcher {
 public:
  OnDemandMatcher(std::shared_ptr<const RulesOnDemand> rules, const ChartOptions& options)
      : rules_(std::move(rules)), options_(options), unary_({}, rules_->table()->labels().size()) {}

  TranslationForest match(const Input& input, RuleCache& cache, Glue& glue) const override {
    const auto table = rules_->rules_for(input.words, std::max(options_.span_limit, 1u));
    cache.use(table);
    TranslationForest out = Chart(*table, unary_, options_, input, cache, glue).run();
    out.rules = table;
    return out;
  }

 private:
  std::shared_ptr<const RulesOnDemand> rules_;
  ChartOptions options_;
  UnaryRules unary_;  // none: every rule has a word
};

}  // namespace treeglot
