#include "decode/features/ngram.h"

#ifdef TREEGLOT_COUNT
#include "lm/query_log.h"
#endif

namespace treeglot {

std::unique_ptr<StatefulFeature> make_ngram_feature(const std::shared_ptr<const NgramModel>& model,
                                                    const std::shared_ptr<const WordIds>& ids, FeatureId score,
                                                    FeatureId unknown) {
  return model->with_search_now([&](const auto& search) -> std::unique_ptr<StatefulFeature> {
    using Search = std::decay_t<decltype(search)>;
#ifdef TREEGLOT_COUNT
    if (records_queries()) {
      const RecordedSearch<Search> recorded(search);
      return std::make_unique<NgramFeature<RecordedSearch<Search>>>(model, recorded, ids, score, unknown);
    }
#endif
    return std::make_unique<NgramFeature<Search>>(model, search, ids, score, unknown);
  });
}

FeatureSet::Factory ngram_feature(FeatureSet& features, std::shared_ptr<const NgramModel> model,
                                  const std::string& name) {
  const auto ids = std::make_shared<const WordIds>(model, features.words());
  const FeatureId score = features.space().add(name);
  const FeatureId unknown = model->classed() > 0 ? score : features.space().add(name + "_unknown");
  return [=] { return make_ngram_feature(model, ids, score, unknown); };
}

}  // namespace treeglot
