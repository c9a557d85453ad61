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
    if (slots_.empty()) return 0;
    for (std::size_t i = place(id);; i = (i + 1) & (slots_.size() - 1)) {
      if (slots_[i].id == id) return slots_[i].weight;
      if (slots_[i].id == kEmpty) return 0;
    }
  }

 private:
  static constexpr FeatureId kEmpty = 0;
  struct Slot {
    FeatureId id = kEmpty;
    float weight = 0;
  };
  std::size_t place(FeatureId id) const {
    return static_cast<std::size_t>((id * 0x9e3779b97f4a7c15u) >> 32) & (slots_.size() - 1);
  }

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
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
