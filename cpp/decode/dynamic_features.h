// Features that have a name only once they fire: members of a family, such as subst_f[NP→VP], told by two labels of the
// rule table. There are too many to name them all beforehand: what tells them apart is their number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
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

// Gives the names of features by number.
class FeatureNames {
 public:
  virtual ~FeatureNames() = default;
  virtual std::string name(FeatureId id) const = 0;
};

inline constexpr FeatureId kDynamicFeature = FeatureId{1} << 63;

// A member has 60 bits.
inline FeatureId dynamic_feature(std::uint32_t family, std::uint64_t member) {
  return kDynamicFeature | FeatureId{family} << 60 | member;
}
inline FeatureId dynamic_feature(std::uint32_t family, Symbol first, Symbol second) {
  return dynamic_feature(family, std::uint64_t{first} << 30 | second);
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

// Names the members of a family of features.
class DynamicFamily {
 public:
  virtual ~DynamicFamily() = default;
  virtual std::string name(std::uint64_t member) const = 0;
  // owns() says whether a name belongs to the family, and find() gives its member. Names without one never fire.
  virtual bool owns(std::string_view name) const = 0;
  virtual std::optional<std::uint64_t> find(std::string_view name) const = 0;
};

// Members are two labels of a table: PREFIX[LABEL SEPARATOR LABEL].
class LabelFamily final : public DynamicFamily {
 public:
  LabelFamily(std::shared_ptr<const RuleTable> table, std::string prefix, std::string separator)
      : table_(std::move(table)), prefix_(std::move(prefix)), separator_(std::move(separator)) {}

  std::string name(std::uint64_t member) const override;
  bool owns(std::string_view name) const override;
  std::optional<std::uint64_t> find(std::string_view name) const override;

 private:
  std::optional<std::string_view> inside(std::string_view name) const;  // its brackets, if it is called so

  std::shared_ptr<const RuleTable> table_;
  std::string prefix_, separator_;
};

// The families of a model.
class DynamicFamilies {
 public:
  std::uint32_t add(std::shared_ptr<const DynamicFamily> family);

  std::string name(FeatureId id) const;
  bool owns(std::string_view name) const;
  std::optional<FeatureId> find(std::string_view name) const;

 private:
  std::vector<std::shared_ptr<const DynamicFamily>> families_;
};

}  // namespace treeglot
