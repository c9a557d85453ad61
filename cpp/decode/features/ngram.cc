#include "decode/features/ngram.h"

namespace treeglot {

FeatureFactory ngram_features(std::shared_ptr<const NgramModel> model, const RuleTable& table, FeatureSpace& space) {
  if (model == nullptr) return [] { return std::vector<std::unique_ptr<StatefulFeature>>(); };
  auto ids = std::make_shared<WordIds>(table.target_words().size());
  for (Symbol word = 0; word < ids->size(); ++word)
    (*ids)[word] = model->vocabulary().find(table.target_words().text(word));
  const FeatureId score = space.add("lm"), unknown = space.add("lm_unknown");
  return [=] {
    std::vector<std::unique_ptr<StatefulFeature>> features;
    model->with_search([&](const auto& search) {
      using Search = std::decay_t<decltype(search)>;
      features.push_back(std::make_unique<NgramFeature<Search>>(model, search, ids, score, unknown));
    });
    return features;
  };
}

}  // namespace treeglot
