#include "decode/dynamic_features.h"

#include <stdexcept>

namespace treeglot {

void DynamicWeights::add(FeatureId id, float weight) {
  const auto next = static_cast<std::uint32_t>(weights_.size());
  const std::uint32_t at =
      index_.intern(hash_number(id), next, [&](std::uint32_t known) { return weights_[known].id == id; });
  if (at == next) weights_.push_back({id, 0});
  weights_[at].value = weight;
}

std::uint32_t DynamicFamilies::add(std::string prefix, std::string separator) {
  if (families_.size() == 8) throw std::length_error("a model has at most 8 families of features");
  families_.push_back({std::move(prefix), std::move(separator)});
  return static_cast<std::uint32_t>(families_.size() - 1);
}

std::string DynamicFamilies::name(FeatureId id, const RuleTable& table) const {
  constexpr FeatureId kMask = (FeatureId{1} << 30) - 1;
  const Family& family = families_[id >> 60 & 7];
  std::string out = family.prefix + "[";
  out += table.labels().text(static_cast<Symbol>(id >> 30 & kMask));
  out += family.separator;
  out += table.labels().text(static_cast<Symbol>(id & kMask));
  return out + "]";
}

std::optional<std::string_view> DynamicFamilies::Family::inside(std::string_view name) const {
  if (!name.starts_with(prefix + "[") || !name.ends_with("]")) return std::nullopt;
  return name.substr(prefix.size() + 1, name.size() - prefix.size() - 2);
}

bool DynamicFamilies::owns(std::string_view name) const {
  for (const Family& family : families_)
    if (const auto inside = family.inside(name); inside && inside->find(family.separator) != std::string_view::npos)
      return true;
  return false;
}

std::optional<FeatureId> DynamicFamilies::find(std::string_view name, const RuleTable& table) const {
  for (std::uint32_t f = 0; f < families_.size(); ++f) {
    const Family& family = families_[f];
    const auto inside = family.inside(name);
    if (!inside) continue;
    for (std::size_t at = inside->find(family.separator); at != std::string_view::npos;
         at = inside->find(family.separator, at + 1)) {
      const Symbol first = table.labels().find(inside->substr(0, at));
      const Symbol second = table.labels().find(inside->substr(at + family.separator.size()));
      if (first != Symbols::kNone && second != Symbols::kNone) return dynamic_feature(f, first, second);
    }
  }
  return std::nullopt;
}

}  // namespace treeglot
