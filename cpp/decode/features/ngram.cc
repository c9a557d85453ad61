#include "decode/features/ngram.h"

namespace treeglot {

FeatureSet::Factory ngram_feature(FeatureSet& features, std::shared_ptr<const NgramModel> model,
                                  const std::string& name) {
  const TargetWords& words = features.words();
  auto ids = std::make_shared<WordIds>(words.size());
  for (Symbol word = 0; word < ids->size(); ++word) (*ids)[word] = output_word(*model, words.text(word));
  const FeatureId score = features.space().add(name);
  const FeatureId unknown = model->classed() > 0 ? score : features.space().add(name + "_unknown");
  return [=] {
    return model->with_search([&](const auto& search) -> std::unique_ptr<StatefulFeature> {
      using Search = std::decay_t<decltype(search)>;
      return std::make_unique<NgramFeature<Search>>(model, search, ids, score, unknown);
    });
  };
}

}  // namespace treeglot
