// A rule on its way into a table, as 32-bit words: all of it but its source side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/symbols.h"
#include "rules/table.h"

namespace treeglot {

// Beside the sides and the dense features of a rule.
struct RuleNotes {
  std::span<const SparseFeature> sparse = {};
  std::span<const RuleLink> alignment = {};
  std::span<const Symbol> labels = {};
  std::span<const std::int32_t> structure = {};
};

// The lists of a rule, in the order in which a table has them.
enum RuleListKind : std::uint8_t { kTargetList, kSparseList, kLinkList, kLabelList, kStructureList, kRuleLists };

// A view of a record.
struct RuleRecord {
  Symbol lhs = 0;
  std::span<const std::byte> features;           // dense ones, as floats
  std::span<const std::byte> lists[kRuleLists];  // their values
};
inline constexpr std::size_t kListValueSizes[kRuleLists] = {sizeof(std::int32_t), sizeof(SparseFeature),
                                                            sizeof(RuleLink), sizeof(Symbol), sizeof(std::int32_t)};

// Makes `out` the record of a rule whose target side has at most kLongestSide symbols.
void make_record(Symbol lhs, std::span<const std::int32_t> target, std::span<const float> features,
                 const RuleNotes& notes, std::vector<std::uint32_t>& out);

// The record that begins at `at`, which is moved behind it. Its rule has so many dense features.
RuleRecord take_record(const std::uint32_t*& at, std::size_t dense);

}  // namespace treeglot
