// The features of a model: the rule table's, the search's own, and the stateful ones that are added to them.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "decode/feature.h"
#include "decode/rule_cache.h"
#include "rules/table.h"

namespace treeglot {

// A decoder freezes its features: what is added later would have no weight and no place in a state.
class FeatureSet final : public FeatureNames {
 public:
  using Factory = std::function<std::unique_ptr<StatefulFeature>()>;  // makes the feature for one thread

  // Names of features that are not the table's begin with `prefix`.
  explicit FeatureSet(std::shared_ptr<const RuleTable> table, std::string prefix = {})
      : table_(std::move(table)), space_(*table_, std::move(prefix)) {}

  const RuleTable& table() const { return *table_; }
  const std::shared_ptr<const RuleTable>& shared_table() const { return table_; }
  FeatureSpace& space() { return check_open(), space_; }
  DynamicFamilies& families() { return check_open(), families_; }
  const DynamicFamilies& families() const { return families_; }
  const FeatureSpace& space() const { return space_; }

  // Whether hypotheses have dependency trees: some feature scores them.
  void make_trees() { check_open(), trees_ = true; }
  bool trees() const { return trees_; }

  void add(Factory factory) { check_open(), factories_.push_back(std::move(factory)); }
  std::vector<std::unique_ptr<StatefulFeature>> make() const {
    std::vector<std::unique_ptr<StatefulFeature>> features;
    for (const Factory& factory : factories_) features.push_back(factory());
    return features;
  }

  std::string name(FeatureId id) const override {
    return id >= kDynamicFeature ? families_.name(id, *table_)
                                 : std::string(space_.names().text(static_cast<Symbol>(id)));
  }

  void freeze() const { frozen_ = true; }

 private:
  void check_open() const {
    if (frozen_) throw std::invalid_argument("a decoder uses these features; expected additions before it is built");
  }

  std::shared_ptr<const RuleTable> table_;
  FeatureSpace space_;
  DynamicFamilies families_;
  std::vector<Factory> factories_;
  bool trees_ = false;
  mutable std::atomic<bool> frozen_ = false;
};

}  // namespace treeglot
