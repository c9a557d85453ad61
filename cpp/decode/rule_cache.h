// A source side's rules as the search wants them: scored with the weights at hand, best first.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "base/hash_index.h"
#include "decode/cube.h"
#include "decode/translation_forest.h"
#include "rules/table.h"

namespace treeglot {

// Numbers of the features: the table's come first, then these, then those of the stateful features. Names of features
// that are not the table's begin with `prefix`; two features of one name are one, whose values add up.
class FeatureSpace {
 public:
  explicit FeatureSpace(const RuleTable& table, std::string prefix = {});

  FeatureId word_penalty() const { return word_penalty_; }  // target words
  FeatureId rule_penalty() const { return rule_penalty_; }  // rules of the table
  FeatureId glue() const { return glue_; }                  // uses of S → S X
  FeatureId unknown() const { return unknown_; }            // source words that pass through
  FeatureId preferred() const { return preferred_; }        // the bonus of a glossary's preferred terms

  FeatureId add(std::string_view name) { return names_.intern(prefix_ + std::string(name)); }
  const Symbols& names() const { return names_; }

 private:
  Symbols names_;
  std::string prefix_;
  FeatureId word_penalty_, rule_penalty_, glue_, unknown_, preferred_;
};

// Calls visit(feature, value) for each stateless feature of a table's rule.
template <class Visit>
void visit_features(const RuleTable& table, const FeatureSpace& space, RuleId rule, const Visit& visit) {
  const auto values = table.features(rule);
  for (std::size_t f = 0; f < values.size(); ++f) visit(static_cast<FeatureId>(f), values[f]);
  for (const SparseFeature& sparse : table.sparse_features(rule))
    visit(static_cast<FeatureId>(sparse.feature), sparse.value);
  float words = 0;
  for (const std::int32_t symbol : table.target(rule)) words += symbol >= 0 ? 1.0f : 0.0f;
  visit(space.word_penalty(), words);
  visit(space.rule_penalty(), 1.0f);
}

inline TargetSide target_side(const RuleTable& table, RuleId rule) {
  const auto target = table.target(rule), structure = table.structure(rule);
  const auto labels = table.rule_labels(rule);
  return {target.data(),
          static_cast<std::uint32_t>(target.size()),
          static_cast<std::uint32_t>(structure.size()),
          structure.data(),
          labels.data(),
          static_cast<std::uint32_t>(labels.size())};
}

// Scores are folded into rules when a source side is first met and kept from sentence to sentence; a thread has its
// own cache. What it holds is bounded, and what it gives does not depend on what it held before.
class RuleCache {
 public:
  // The alternatives of one left-hand side.
  struct Group {
    Symbol lhs;
    std::span<const Alternative> alternatives;
  };

  // `per_source` alternatives are kept for a source side and left-hand side; 0: all.
  RuleCache(const RuleTable& table, const FeatureSpace& space, const Scorer& scorer, std::uint32_t per_source)
      : table_(table), space_(space), scorer_(scorer), per_source_(per_source) {}

  std::span<const Group> at(RuleTable::Node node);  // valid until trim()
  void trim();                                      // between sentences: forgets everything once there is too much

 private:
  struct Entry {
    RuleTable::Node node;
    std::vector<Alternative> alternatives;
    std::vector<Group> groups;
  };
  Entry make(RuleTable::Node node) const;

  const RuleTable& table_;
  const FeatureSpace& space_;
  const Scorer& scorer_;
  std::uint32_t per_source_;
  std::deque<Entry> entries_;
  HashIndex index_;
  std::size_t held_ = 0;  // alternatives
};

}  // namespace treeglot
