#include "decode/glue.h"

#include <algorithm>

namespace treeglot {

Glue::Glue(const TargetWords& words, const FeatureSpace& space, std::span<const float> weights)
    : known_(words), space_(space), weights_(weights), first_word_(static_cast<std::int32_t>(words.size())) {
  fixed_.push_back(make(LocalKind::first, {-1}, {}));
  fixed_.push_back(make(LocalKind::glue, {-1, -2}, {{space.glue(), 1.0f}}));
  fixed_.push_back(make(LocalKind::end, {-1}, {}));
  fixed_.push_back(make(LocalKind::glue, {-1, -2, -3}, {{space.glue(), 2.0f}}));
}

void Glue::begin_sentence() {
  words_.clear();
  word_index_.clear();
  rules_.erase(rules_.begin() + static_cast<std::ptrdiff_t>(fixed_.size()), rules_.end());
  alternatives_.clear();
  targets_.clear();
}

std::int32_t Glue::target_word(std::string_view text) {
  const Symbol known = known_.find(text);
  if (known != Symbols::kNone) return static_cast<std::int32_t>(known);
  const auto next = static_cast<std::uint32_t>(words_.size());
  const std::uint32_t index =
      word_index_.intern(hash_bytes(text), next, [&](std::uint32_t word) { return words_[word] == text; });
  if (index == next) words_.emplace_back(text);
  return first_word_ + static_cast<std::int32_t>(index);
}

std::int32_t Glue::find_word(std::string_view text) const {
  const Symbol known = known_.find(text);
  if (known != Symbols::kNone) return static_cast<std::int32_t>(known);
  const std::uint32_t index =
      word_index_.find(hash_bytes(text), [&](std::uint32_t word) { return words_[word] == text; });
  return index == HashIndex::kNone ? -1 : first_word_ + static_cast<std::int32_t>(index);
}

std::string_view Glue::text(std::int32_t word) const {
  return word < first_word_ ? known_.text(static_cast<Symbol>(word))
                            : std::string_view(words_[static_cast<std::size_t>(word - first_word_)]);
}

std::span<const Alternative> Glue::given(std::span<const std::vector<std::int32_t>> translations, float bonus) {
  std::vector<Alternative> made;
  for (const auto& target : translations) {
    std::vector<FeatureValue> features = {{space_.word_penalty(), static_cast<float>(target.size())}};
    if (bonus != 0) features.push_back({space_.preferred(), bonus});
    made.push_back(make(LocalKind::given, target, std::move(features)));
  }
  std::ranges::stable_sort(made, [](const Alternative& a, const Alternative& b) { return a.score > b.score; });
  alternatives_.push_back(std::move(made));
  return alternatives_.back();
}

std::span<const Alternative> Glue::add(LocalKind kind, std::vector<std::int32_t> target,
                                       std::vector<FeatureValue> features, std::vector<std::int32_t> structure) {
  alternatives_.push_back({make(kind, std::move(target), std::move(features), std::move(structure))});
  return alternatives_.back();
}

Alternative Glue::make(LocalKind kind, std::vector<std::int32_t> target, std::vector<FeatureValue> features,
                       std::vector<std::int32_t> structure, RuleId origin) {
  double score = 0;
  for (const FeatureValue& f : features) score += double{weights_[f.id]} * f.value;
  if (structure.empty()) structure.assign(target.size(), 0);
  rules_.push_back({kind, std::move(target), std::move(structure), std::move(features), origin});
  const LocalRule& kept = rules_.back();
  const auto size = static_cast<std::uint32_t>(kept.target.size());
  return {{kept.target.data(), size, size, kept.structure.data(), nullptr, 0, nullptr},
          static_cast<std::uint32_t>(rules_.size() - 1) | kLocalRule,
          finite(score),
          0.0f};
}

Alternative Glue::retarget(const Alternative& rule, std::vector<std::int32_t> target) {
  targets_.push_back(std::move(target));
  Alternative out = rule;
  out.target.symbols = targets_.back().data();
  out.target.size = static_cast<std::uint32_t>(targets_.back().size());
  out.target.structure = nullptr;  // it was another target side's
  out.target.structure_size = 0;
  return out;
}

std::span<const Alternative> Glue::keep(std::vector<Alternative> alternatives) {
  alternatives_.push_back(std::move(alternatives));
  return alternatives_.back();
}

}  // namespace treeglot
