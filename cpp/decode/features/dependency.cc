#include "decode/features/dependency.h"

#include "decode/features/ngram.h"
#include "lm/dependency_piece.h"

namespace treeglot {

DependencyFeature::DependencyFeature(std::shared_ptr<const DependencyModel> model,
                                     std::shared_ptr<const std::vector<WordId>> units, FeatureId score,
                                     std::optional<FeatureId> ill_formed)
    : model_(std::move(model)), units_(std::move(units)), score_(score), ill_formed_(ill_formed) {
  first_ = static_cast<std::int32_t>(units_->size());
}

void DependencyFeature::begin_sentence(const SearchedSentence& sentence) {
  first_ = sentence.first;
  local_.clear();
  for (const std::string& word : sentence.added) local_.push_back(model_->find(word));
}

WordId DependencyFeature::unit(const TargetSide& target, std::int32_t symbol, std::uint32_t word) const {
  if (model_->unit() == DependencyUnit::tags)
    return word < target.label_count ? (*units_)[target.labels[word]] : Vocabulary::kUnknown;
  return symbol < first_ ? (*units_)[static_cast<std::size_t>(symbol)]
                         : local_[static_cast<std::size_t>(symbol - first_)];
}

double DependencyFeature::ahead(const std::byte* states, std::size_t offset, const FeatureWeights& weights) const {
  return weights[score_] * kLn10 * model_->waiting(*reinterpret_cast<const DependencyState*>(states + offset));
}

void DependencyFeature::score(const Application& application, TailStates<DependencyState> tails, DependencyState& out,
                              Sink& sink) const {
  const TargetSide& target = application.target;
  items_.clear();
  std::uint32_t word = 0;
  for (std::uint32_t i = 0; i < target.size; ++i) {
    const std::int32_t symbol = target.symbols[i];
    if (symbol < 0) {
      items_.push_back({rule_head(target, i), 0, &tails[static_cast<std::size_t>(-1 - symbol)]});
    } else {
      items_.push_back({rule_head(target, i), unit(target, symbol, word++), nullptr});
    }
  }
  const DependencyStep step = score_rule(*model_, items_, out);
  double log10 = step.log10;
  std::uint32_t ill = step.tally.ill_heads + step.tally.overflows + (target.structure_size > target.size ? 1u : 0u);
  if ((application.place & kEnds) != 0) {
    log10 += model_->complete(out);
    ill += out.floating() ? 1u : 0u;
    out = DependencyState{};  // nothing follows: all whole sentences are alike
  }
  sink.add(score_, static_cast<float>(log10 * kLn10));
  if (ill_formed_ && ill > 0) sink.add(*ill_formed_, static_cast<float>(ill));
}

void DependencyFeature::expect(const Application& application, Sink& sink) const {
  const TargetSide& target = application.target;
  std::vector<std::int32_t> heads(target.size), item_of(target.size, kRuleRoot);
  for (std::uint32_t i = 0; i < target.size; ++i) heads[i] = rule_head(target, i);
  check_rule_heads(heads);  // once for every rule that is used
  items_.clear();
  for (std::uint32_t i = 0; i < target.size; ++i) {
    if (target.symbols[i] < 0) continue;
    item_of[i] = static_cast<std::int32_t>(items_.size());
    items_.push_back({heads[i], unit(target, target.symbols[i], static_cast<std::uint32_t>(items_.size())), nullptr});
  }
  for (DependencyItem& item : items_)
    item.head = item.head == kRuleRoot ? kRuleRoot : item_of[static_cast<std::size_t>(item.head)];
  DependencyState state;
  const DependencyStep step = score_rule(*model_, items_, state);
  sink.add(score_, static_cast<float>((step.log10 + model_->waiting(state)) * kLn10));
}

void add_dependency(FeatureSet& features, std::shared_ptr<const DependencyModel> model) {
  const bool tags = model->unit() == DependencyUnit::tags;
  const TableSymbols& texts = tags ? features.table().labels() : features.table().target_words();
  auto units = std::make_shared<std::vector<WordId>>(texts.size());
  for (Symbol symbol = 0; symbol < units->size(); ++symbol) (*units)[symbol] = model->find(texts.text(symbol));
  const FeatureId score = features.space().add(tags ? "dlm_tags" : "dlm_words");
  std::optional<FeatureId> ill_formed;
  if (!features.trees()) ill_formed = features.space().add("ill_formed");
  features.make_trees();
  features.add([=] { return std::make_unique<DependencyFeature>(model, units, score, ill_formed); });
}

}  // namespace treeglot
