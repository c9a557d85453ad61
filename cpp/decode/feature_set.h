// The features of a model: the rule table's, the search's own, and the stateful ones that are added to them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "decode/feature.h"
#include "decode/rule_cache.h"
#include "rules/table.h"

namespace treeglot {

class FeatureSet {
 public:
  using Factory = std::function<std::unique_ptr<StatefulFeature>()>;  // makes the feature for one thread

  // Names of features that are not the table's begin with `prefix`.
  explicit FeatureSet(std::shared_ptr<const RuleTable> table, std::string prefix = {})
      : table_(std::move(table)), space_(*table_, std::move(prefix)) {}

  const RuleTable& table() const { return *table_; }
  const std::shared_ptr<const RuleTable>& shared_table() const { return table_; }
  FeatureSpace& space() { return space_; }
  DynamicFamilies& families() { return families_; }
  const DynamicFamilies& families() const { return families_; }
  const FeatureSpace& space() const { return space_; }

  // Whether hypotheses have dependency trees: some feature scores them.
  void make_trees() { trees_ = true; }
  bool trees() const { return trees_; }

  void add(Factory factory) { factories_.push_back(std::move(factory)); }
  std::vector<std::unique_ptr<StatefulFeature>> make() const {
    std::vector<std::unique_ptr<StatefulFeature>> features;
    for (const Factory& factory : factories_) features.push_back(factory());
    return features;
  }

 private:
  std::shared_ptr<const RuleTable> table_;
  FeatureSpace space_;
  DynamicFamilies families_;
  std::vector<Factory> factories_;
  bool trees_ = false;
};

}  // namespace treeglot
