#include "decode/features/context.h"

#include <stdexcept>

#include "base/error.h"
#include "base/hash_index.h"

namespace treeglot {
namespace {

constexpr std::string_view kArrow = "→", kBar = "|";

}  // namespace

ContextWords::ContextWords(std::span<const std::string> source, std::span<const std::string> target)
    : source_(interned(source)), target_(interned(target)) {}

Symbols ContextWords::interned(std::span<const std::string> words) {
  Symbols out;
  for (const std::string_view special : {"<unk>", "<s>", "</s>"}) out.intern(special);
  if (words.size() >= (std::size_t{1} << kBits) - out.size())
    throw std::invalid_argument(std::to_string(words.size()) + " words of context features; expected fewer than 2^20");
  for (const std::string& word : words) {
    const auto next = static_cast<Symbol>(out.size());
    if (word.find(kArrow) != std::string::npos || word.find(kBar) != std::string::npos || word.empty() ||
        out.intern(word) != next)
      throw std::invalid_argument(quoted(word) + " is no word of context features; expected different words, none " +
                                  "of them empty, <unk>, <s> or </s>, without | and →");
  }
  return out;
}

WordContext WordContext::of(std::uint64_t member) {
  constexpr std::uint64_t kMask = (std::uint64_t{1} << ContextWords::kBits) - 1;
  return {static_cast<Symbol>(member >> 2 * ContextWords::kBits),
          static_cast<Symbol>(member >> ContextWords::kBits & kMask), static_cast<Symbol>(member & kMask)};
}

std::string ContextFamily::name(std::uint64_t member) const {
  const WordContext found = WordContext::of(member);
  const std::string_view beside = words_->source_words().text(found.beside);
  std::string out(prefix());
  if (left_) out.append(beside).append(kBar);
  out.append(words_->source_words().text(found.source))
      .append(kArrow)
      .append(words_->target_words().text(found.target));
  if (!left_) out.append(kBar).append(beside);
  return out;
}

bool ContextFamily::owns(std::string_view name) const {
  const std::size_t arrow = name.find(kArrow), bar = name.find(kBar);
  return name.starts_with(prefix()) && arrow != std::string_view::npos && bar != std::string_view::npos &&
         (bar < arrow) == left_;
}

std::optional<std::uint64_t> ContextFamily::find(std::string_view name) const {
  if (!owns(name)) return std::nullopt;
  const std::string_view rest = name.substr(prefix().size());
  const std::size_t bar = rest.find(kBar);
  const std::string_view first = rest.substr(0, bar), second = rest.substr(bar + kBar.size());
  const std::string_view beside = left_ ? first : second, pair = left_ ? second : first;
  const std::size_t arrow = pair.find(kArrow);
  const WordContext found{words_->source_words().find(pair.substr(0, arrow)),
                          words_->target_words().find(pair.substr(arrow + kArrow.size())),
                          words_->source_words().find(beside)};
  if (found.source == Symbols::kNone || found.target == Symbols::kNone || found.beside == Symbols::kNone)
    return std::nullopt;
  return found.member();
}

void ContextFeature::begin_sentence(const SearchedSentence& sentence) {
  ++sentence_;
  first_ = sentence.first;
  added_.clear();
  for (const std::string& word : sentence.added) added_.push_back(words_->target(word));
  source_.assign(1, ContextWords::kBegin);
  for (const std::string_view word : sentence.source) source_.push_back(words_->source(word));
  source_.push_back(ContextWords::kEnd);
  sources_ = EdgeSources(sentence.forest);
}

void ContextFeature::apply(const Application& application, const std::byte* const*, std::size_t, std::byte*,
                           Sink& sink) const {
  if (sink.keeps_values()) {
    visit(application, [&](FeatureId feature) { sink.add_dynamic(feature, 1); });
    return;
  }
  const std::uint64_t key = std::uint64_t{application.edge} << 32 | application.rule;
  Score& slot = scores_[hash_number(key) % kScores];
  if (slot.sentence != sentence_ || slot.edge != application.edge || slot.rule != application.rule ||
      slot.symbols != application.target.symbols) {
    slot = {sentence_, application.edge, application.rule, application.target.symbols, 0};
    visit(application, [&](FeatureId feature) { slot.score += sink.dynamic_weight(feature); });
  }
  sink.add_score(slot.score);
}

template <class Visit>
void ContextFeature::visit(const Application& application, const Visit& visit) const {
  links_.clear();
  append_known_links(application.target, sources_[application.edge], links_);
  if (links_.empty()) return;
  own_words_.clear();
  for (const std::int32_t symbol : application.target)
    if (symbol >= 0) own_words_.push_back(id(symbol));
  for (const Link link : links_) {
    const std::size_t at = link.source + 1;  // in source_
    const Symbol source = source_[at], target = own_words_[link.target];
    visit(dynamic_feature(families_.left, WordContext{source, target, source_[at - 1]}.member()));
    visit(dynamic_feature(families_.right, WordContext{source, target, source_[at + 1]}.member()));
  }
}

void add_context(FeatureSet& features, std::span<const std::string> source, std::span<const std::string> target) {
  const auto words = std::make_shared<const ContextWords>(source, target);
  const TargetWords& known = features.words();
  auto ids = std::make_shared<std::vector<Symbol>>(known.size());
  for (Symbol word = 0; word < ids->size(); ++word) (*ids)[word] = words->target(known.text(word));
  const ContextFeature::Families families{features.families().add(std::make_shared<ContextFamily>(words, true)),
                                          features.families().add(std::make_shared<ContextFamily>(words, false))};
  features.affiliate();
  features.add([=] { return std::make_unique<ContextFeature>(words, ids, families); });
}

}  // namespace treeglot
