#include "neural/lexical_feature.h"

#include <algorithm>

#include "base/hash_index.h"
#include "neural/joint_feature.h"

namespace treeglot {

LexicalFeature::LexicalFeature(std::shared_ptr<const JointModel> model, const TargetWords& words,
                               std::shared_ptr<const std::vector<std::uint32_t>> ids, FeatureId score)
    : model_(std::move(model)),
      words_(words),
      ids_(std::move(ids)),
      score_(score),
      units_(model_->facts().last()),
      first_added_(static_cast<std::int32_t>(ids_->size())),
      sums_(kSums) {}

void LexicalFeature::begin_sentence(const SearchedSentence& sentence) {
  ++sentence_;
  first_added_ = sentence.first;
  added_.assign(sentence.added.begin(), sentence.added.end());
  const JointModel::Rows rows = prepared(*model_, sentence);
  hidden_.resize(rows.words() * units_);
  for (std::size_t at = 0; at < rows.words(); ++at) model_->hidden(rows[at], nullptr, hidden_.data() + at * units_);
  sources_ = EdgeSources(sentence.forest);
}

void LexicalFeature::apply(const Application& application, const std::byte* const*, std::size_t, std::byte*,
                           Sink& sink) const {
  const std::uint64_t key = std::uint64_t{application.edge} << 32 | application.rule;
  Sum& slot = sums_[hash_number(key) % kSums];
  if (slot.sentence != sentence_ || slot.edge != application.edge || slot.rule != application.rule ||
      slot.symbols != application.target.symbols)
    slot = {sentence_, application.edge, application.rule, application.target.symbols, sum_of(application)};
  sink.add(score_, slot.sum);
}

float LexicalFeature::sum_of(const Application& application) const {
  const EdgeSource source = sources_[application.edge];
  if (source.own.empty()) return 0;
  own_words_.clear();
  for (const std::int32_t symbol : application.target)
    if (symbol >= 0) own_words_.push_back(symbol);
  links_.clear();
  append_links(application.target, source, links_);
  std::ranges::sort(links_);
  double sum = 0;
  auto next = links_.begin();
  for (const std::uint32_t at : source.own) {
    const auto first = next;
    while (next != links_.end() && next->source == at) ++next;
    sum += model_->score(hidden_.data() + at * units_, translation({first, next}));
  }
  return static_cast<float>(sum);
}

std::uint32_t LexicalFeature::translation(std::span<const Link> links) const {
  if (links.empty()) return JointVocabulary::kNone;
  const std::int32_t word = own_words_[links.front().target];
  if (links.size() == 1 && word < first_added_) return (*ids_)[static_cast<std::size_t>(word)];
  std::string all(text(word));
  for (const Link link : links.subspan(1)) all.append(" ").append(text(own_words_[link.target]));
  return model_->target().find(all);
}

std::string_view LexicalFeature::text(std::int32_t word) const {
  return word < first_added_ ? words_.text(static_cast<Symbol>(word))
                             : std::string_view(added_[static_cast<std::size_t>(word - first_added_)]);
}

}  // namespace treeglot
