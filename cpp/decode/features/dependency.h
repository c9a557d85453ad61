// A dependency language model over words or tags as a feature. Its values are the log probability (natural) of the
// output's tree and the number of ill-formed structures in it (the c2d page, "Model").
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "decode/feature.h"
#include "decode/feature_set.h"
#include "lm/dependency_lm.h"
#include "lm/dependency_rule.h"

namespace treeglot {

class DependencyFeature final : public Feature<DependencyFeature, DependencyState> {
 public:
  // `units` are the model's numbers of the table's target words, or of its labels for a model over tags. `ill_formed`
  // is counted by one feature of a search alone: all make the same tree.
  DependencyFeature(std::shared_ptr<const DependencyModel> model, std::shared_ptr<const std::vector<WordId>> units,
                    FeatureId score, std::optional<FeatureId> ill_formed);

  void begin_sentence(const SearchedSentence& sentence) override;
  bool looks_ahead() const override { return true; }
  double ahead(const std::byte* states, std::size_t offset, const FeatureWeights& weights) const override;

  void score(const Application& application, TailStates<DependencyState> tails, DependencyState& out, Sink& sink) const;
  // The arcs between the rule's own words; what hangs on a variable or is a root waits.
  void expect(const Application& application, Sink& sink) const;

 private:
  WordId unit(const TargetSide& target, std::int32_t symbol, std::uint32_t word) const;

  std::shared_ptr<const DependencyModel> model_;
  std::shared_ptr<const std::vector<WordId>> units_;
  FeatureId score_;
  std::optional<FeatureId> ill_formed_;
  std::int32_t first_;
  std::vector<WordId> local_;                  // the units of the sentence's own words
  mutable std::vector<DependencyItem> items_;  // kept for their memory; a thread has its own feature
};

// The head of a symbol of a target side: another symbol, or kRuleRoot.
inline std::int32_t rule_head(const TargetSide& target, std::uint32_t symbol) {
  return symbol < target.structure_size ? target.structure[symbol] - 1 : kRuleRoot;
}

// Adds the feature "dlm_words" or "dlm_tags", and "ill_formed" with the first of them.
void add_dependency(FeatureSet& features, std::shared_ptr<const DependencyModel> model);

}  // namespace treeglot
