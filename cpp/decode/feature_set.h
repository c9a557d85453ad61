// The features of a model: the rule table's, the search's own, and the stateful ones that are added to them.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "decode/feature.h"
#include "decode/rule_cache.h"
#include "rules/table.h"

namespace treeglot {

// A decoder freezes its features: what is added later would have no weight and no place in a state.
//
// A model of several grammars has a set for all of them, to which stateful features are added, and one for each, its
// parts. The names of a part's features begin with its own; what all have in common has one name.
class FeatureSet final : public FeatureNames {
 public:
  using Factory = std::function<std::unique_ptr<StatefulFeature>()>;  // makes the feature for one thread

  // Names of features that are not the table's begin with `prefix`.
  explicit FeatureSet(std::shared_ptr<const RuleTable> table, std::string prefix = {})
      : table_(std::move(table)), words_(*table_), space_(*table_, std::move(prefix)) {}

  // Of several grammars, by name.
  using Grammars = std::vector<std::pair<std::string, std::shared_ptr<RuleTable>>>;
  explicit FeatureSet(const Grammars& grammars) : table_(first_of(grammars)), words_(*table_) {
    for (const auto& [name, table] : grammars) {
      auto part = std::make_shared<FeatureSet>(table, FeatureSpace(space_, *table, name + "."), name);
      if (!parts_.empty()) part->renumbered_ = words_.add(*table);
      parts_.push_back(std::move(part));
    }
  }
  // Makes the part of one grammar.
  FeatureSet(std::shared_ptr<const RuleTable> table, FeatureSpace space, std::string grammar)
      : table_(std::move(table)), words_(*table_), space_(std::move(space)), grammar_(std::move(grammar)) {}

  const RuleTable& table() const { return *table_; }  // of several grammars the first one's
  const TargetWords& words() const { return words_; }
  std::span<const std::shared_ptr<FeatureSet>> parts() const { return parts_; }  // none: there is one grammar
  const std::string& grammar() const { return grammar_; }                        // the name of a part
  std::span<const std::int32_t> renumbered() const { return renumbered_; }  // the model's numbers of a part's words
  const std::shared_ptr<const RuleTable>& shared_table() const { return table_; }
  FeatureSpace& space() { return check_open(), space_; }
  DynamicFamilies& families() { return check_whole(), families_; }
  const DynamicFamilies& families() const { return families_; }
  const FeatureSpace& space() const { return space_; }

  // Whether hypotheses have dependency trees: some feature scores them.
  void make_trees() { check_one_grammar(), trees_ = true; }
  bool trees() const { return trees_; }

  // Whether rules say which source word each of their words belongs to: some feature asks for it.
  void affiliate() { check_whole(), affiliates_ = true; }
  bool affiliates() const { return affiliates_; }

  void add(Factory factory) { check_whole(), factories_.push_back(std::move(factory)); }
  std::vector<std::unique_ptr<StatefulFeature>> make() const {
    std::vector<std::unique_ptr<StatefulFeature>> features;
    for (const Factory& factory : factories_) features.push_back(factory());
    return features;
  }

  std::string name(FeatureId id) const override {
    return id >= kDynamicFeature ? families_.name(id) : std::string(space_.names().text(static_cast<Symbol>(id)));
  }

  // Labels and tags are numbers of one table.
  void check_one_grammar() const {
    check_whole();
    if (!parts_.empty())
      throw std::invalid_argument("a feature of labels or dependency trees for several grammars; expected one grammar");
  }

  void freeze() const {
    frozen_ = true;
    for (const auto& part : parts_) part->freeze();
  }

 private:
  static std::shared_ptr<const RuleTable> first_of(const Grammars& grammars) {
    if (grammars.empty()) throw std::invalid_argument("there is no grammar; expected one or more");
    for (auto at = grammars.begin(); at != grammars.end(); ++at) {
      const auto same = [&](const auto& other) { return other.first == at->first; };
      if (at->second == nullptr || at->first.empty() || std::any_of(grammars.begin(), at, same))
        throw std::invalid_argument("found a grammar without a table or a name of its own; expected both for each");
    }
    return grammars.front().second;
  }
  void check_open() const {
    if (frozen_) throw std::invalid_argument("a decoder uses these features; expected additions before it is built");
  }

  // States belong to hypotheses, which grammars share.
  void check_whole() const {
    check_open();
    if (!grammar_.empty())
      throw std::invalid_argument("a feature with a state for the rules of " + grammar_ +
                                  " alone; expected features of all grammars");
  }
  std::shared_ptr<const RuleTable> table_;
  TargetWords words_;
  FeatureSpace space_;
  std::string grammar_;
  std::vector<std::int32_t> renumbered_;
  std::vector<std::shared_ptr<FeatureSet>> parts_;
  DynamicFamilies families_;
  std::vector<Factory> factories_;
  bool trees_ = false, affiliates_ = false;
  mutable std::atomic<bool> frozen_ = false;
};

}  // namespace treeglot
