// Features that have a name only once they fire: a member of a family such as subst_f[NP→VP], told by two labels of the
// rule table. There are too many to name them all beforehand: their labels are their number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash_index.h"
#include "base/symbols.h"
#include "rules/table.h"

namespace treeglot {

using FeatureId = std::uint64_t;

struct FeatureValue {
  FeatureId id;
  float value;
};

// What features are called.
class FeatureNames {
 public:
  virtual ~FeatureNames() = default;
  virtual std::string name(FeatureId id) const = 0;
};

inline constexpr FeatureId kDynamicFeature = FeatureId{1} << 63;

inline FeatureId dynamic_feature(std::uint32_t family, Symbol first, Symbol second) {
  return kDynamicFeature | FeatureId{family} << 60 | FeatureId{first} << 30 | second;
}

// Weights of members of families: 0 unless given. Asked for every candidate of the search, so a flat table.
class DynamicWeights {
 public:
  void add(FeatureId id, float weight);
  float operator[](FeatureId id) const {
    const std::uint32_t found = index_.find(hash_number(id), [&](std::uint32_t i) { return weights_[i].id == id; });
    return found == HashIndex::kNone ? 0 : weights_[found].value;
  }

 private:
  std::vector<FeatureValue> weights_;
  HashIndex index_;
};

// The families of a model, and how their members are called: PREFIX[LABEL SEPARATOR LABEL].
class DynamicFamilies {
 public:
  std::uint32_t add(std::string prefix, std::string separator);

  std::string name(FeatureId id, const RuleTable& table) const;
  // Whether a name is one of a family's, and the feature, if there are such labels: others can never fire.
  bool owns(std::string_view name) const;
  std::optional<FeatureId> find(std::string_view name, const RuleTable& table) const;

 private:
  struct Family {
    std::string prefix, separator;
    std::optional<std::string_view> inside(std::string_view name) const;  // its brackets, if it is called so
  };
  std::vector<Family> families_;
};

}  // namespace treeglot
