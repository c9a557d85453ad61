// Head-dependents matching (section 3.4 of the dep2str page): the rules of every word of a dependency tree with its
// dependents, and phrases on whole subtrees. The augmented model also has phrases on structures inside a relation, and
// hierarchical phrases on both.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "decode/feature_set.h"
#include "decode/match_chart.h"
#include "decode/matcher.h"
#include "rules/head_dependents.h"
#include "rules/table.h"
#include "syntax/head_table.h"

namespace treeglot {

struct HeadDependentsMatchOptions {
  bool augmented = false;
  std::uint32_t max_combinations = 64;  // of structures that rules on the fly are built for, for each rule
  bool pseudo_structures = false;       // phrases on structures where a relation has no rule, too
  std::uint32_t dependency_trees = 1;   // of a forest, which are searched together
};

class HeadDependentsMatcher final : public Matcher {
 public:
  // Adds the feature pseudo: relations without a rule, translated in source order. The augmented model also adds a
  // feature phrase_x for each feature x of the table: of phrases on structures. `heads`, if given, makes dependencies
  // of forests' best trees. If several are searched together, the feature parse is a tree's log probability.
  HeadDependentsMatcher(FeatureSet& features, std::shared_ptr<const HeadTable> heads,
                        const HeadDependentsMatchOptions& options, const ChartOptions& chart);

  // Takes dependency trees with tags. One that is not projective is made so. A cycle is cut at its first word, which
  // becomes a root, as do words without a head. Several roots are put side by side. Each of these is noted. What has no
  // tree, a line, or a tree without tags is translated with phrases and glue.
  TranslationForest match(const Input& input, RuleCache& cache, Glue& glue) const override;

 private:
  TranslationForest match(const Input& input, const Dependency& tree, RuleCache& cache, Glue& glue) const;
  TranslationForest match_several(const Input& input, RuleCache& cache, Glue& glue) const;
  TranslationForest match_phrases(const Input& input, const std::string& why, RuleCache& cache, Glue& glue) const;

  std::shared_ptr<const RuleTable> table_;
  std::shared_ptr<const HeadTable> heads_;
  HeadDependentsMatchOptions options_;
  std::uint32_t span_limit_;
  ChartMatcher chart_;
  FeatureId word_penalty_, rule_penalty_, pseudo_, parse_ = 0;
  std::vector<FeatureId> phrase_features_;                 // by dense feature of the table
  std::vector<Symbol> head_places_;                        // labels
  std::vector<std::optional<StructureRange>> structures_;  // by label
};

}  // namespace treeglot
