#include "decode/dynamic_features.h"

#include <algorithm>
#include <stdexcept>

namespace treeglot {

void DynamicWeights::add(FeatureId id, float weight) {
  const auto next = static_cast<std::uint32_t>(weights_.size());
  const std::uint32_t at =
      index_.intern(hash_number(id), next, [&](std::uint32_t known) { return weights_[known].id == id; });
  if (at == next) weights_.push_back({id, 0});
  weights_[at].value = weight;
}

std::string LabelFamily::name(std::uint64_t member) const {
  constexpr std::uint64_t kMask = (std::uint64_t{1} << 30) - 1;
  std::string out = prefix_ + "[";
  out += table_->labels().text(static_cast<Symbol>(member >> 30));
  out += separator_;
  out += table_->labels().text(static_cast<Symbol>(member & kMask));
  return out + "]";
}

std::optional<std::string_view> LabelFamily::inside(std::string_view name) const {
  if (!name.starts_with(prefix_ + "[") || !name.ends_with("]")) return std::nullopt;
  return name.substr(prefix_.size() + 1, name.size() - prefix_.size() - 2);
}

bool LabelFamily::owns(std::string_view name) const {
  const auto found = inside(name);
  return found && found->find(separator_) != std::string_view::npos;
}

std::optional<std::uint64_t> LabelFamily::find(std::string_view name) const {
  const auto found = inside(name);
  if (!found) return std::nullopt;
  for (std::size_t at = found->find(separator_); at != std::string_view::npos; at = found->find(separator_, at + 1)) {
    const Symbol first = table_->labels().find(found->substr(0, at));
    const Symbol second = table_->labels().find(found->substr(at + separator_.size()));
    if (first != Symbols::kNone && second != Symbols::kNone) return std::uint64_t{first} << 30 | second;
  }
  return std::nullopt;
}

std::uint32_t DynamicFamilies::add(std::shared_ptr<const DynamicFamily> family) {
  if (families_.size() == 8) throw std::length_error("a model has at most 8 families of features");
  families_.push_back(std::move(family));
  return static_cast<std::uint32_t>(families_.size() - 1);
}

std::string DynamicFamilies::name(FeatureId id) const {
  return families_[id >> 60 & 7]->name(id & ((std::uint64_t{1} << 60) - 1));
}

bool DynamicFamilies::owns(std::string_view name) const {
  return std::ranges::any_of(families_, [&](const auto& family) { return family->owns(name); });
}

std::optional<FeatureId> DynamicFamilies::find(std::string_view name) const {
  for (std::uint32_t f = 0; f < families_.size(); ++f)
    if (const auto member = families_[f]->find(name)) return dynamic_feature(f, *member);
  return std::nullopt;
}

}  // namespace treeglot
