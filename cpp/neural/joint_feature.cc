#include "neural/joint_feature.h"

#include <stdexcept>
#include <utility>

#include "decode/translation_forest.h"
#include "neural/head_feature.h"
#include "neural/lexical_feature.h"

namespace treeglot {
namespace {

constexpr std::size_t kMostHistory = 6;

// What makes the feature, for the model's number of words of history.
template <std::size_t N = 1>
FeatureSet::Factory factory(const std::shared_ptr<const JointModel>& model,
                            const std::shared_ptr<const std::vector<std::uint32_t>>& ids, FeatureId score) {
  if (model->facts().history == N) {
    return [=]() -> std::unique_ptr<StatefulFeature> { return std::make_unique<JointFeature<N>>(model, ids, score); };
  }
  if constexpr (N < kMostHistory) return factory<N + 1>(model, ids, score);
  throw std::invalid_argument("a neural model with " + std::to_string(model->facts().history) +
                              " words of history; expected at most " + std::to_string(kMostHistory));
}

// What the parse of a sentence says. A dependency tree may be one that the matcher made of a forest. A failed parse
// says nothing, of either kind.
ParseContext context_of(const SearchedSentence& sentence, ParseKind kind) {
  if (sentence.parse != nullptr && !sentence.parse->parsed())
    return {kind, std::vector<std::string>(sentence.source.size() * kParseInputs)};
  if (kind == ParseKind::constituents && sentence.parse != nullptr) return parse_context(*sentence.parse);
  if (kind == ParseKind::dependencies) {
    if (sentence.dependency != nullptr) return parse_context(*sentence.dependency);
    if (sentence.forest.tree) return parse_context(*sentence.forest.tree);
  }
  throw std::invalid_argument("the input has no " + std::string(parse_kind_name(kind)) +
                              ", which the neural network of the model sees; expected a parse with them");
}

}  // namespace

JointModel::Rows prepared(const JointModel& model, const SearchedSentence& sentence) {
  model.used();
  std::vector<std::uint32_t> source;
  for (const std::string_view word : sentence.source) source.push_back(model.source().find(word));
  const ParseKind kind = model.facts().parse_kind();
  if (kind == ParseKind::none) return model.prepare(source);
  return model.prepare(source, model.numbers(context_of(sentence, kind)));
}

void add_joint(FeatureSet& features, std::shared_ptr<const JointModel> model, const std::string& name) {
  const TargetWords& words = features.words();
  auto ids = std::make_shared<std::vector<std::uint32_t>>(words.size());
  for (Symbol word = 0; word < ids->size(); ++word) (*ids)[word] = model->target().find(words.text(word));
  const FeatureId score = features.space().add(name);
  FeatureSet::Factory made;
  if (model->facts().heads != 0) {
    features.check_one_grammar();
    made = [=] { return std::make_unique<HeadFeature>(model, ids, score); };
  } else if (model->facts().lexical()) {
    made = [=, &words] { return std::make_unique<LexicalFeature>(model, words, ids, score); };
  } else {
    made = factory(model, ids, score);
  }
  features.affiliate();
  features.add(std::move(made));
}

}  // namespace treeglot
