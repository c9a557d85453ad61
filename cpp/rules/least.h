// The least probabilities that a table gives: what one more occurrence of a side is worth, where counts are not kept.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "rules/table.h"

namespace treeglot {

class LeastProbabilities {
 public:
  static constexpr RuleId kNoRule = 0xffffffffu;
  static constexpr float kNone = std::numeric_limits<float>::infinity();  // no rule of the table has the side

  // The columns of the table's dense features, natural logarithms. Reads all rules once.
  struct Columns {
    std::optional<std::uint32_t> target_given_source, source_given_target, rule_given_root;
  };
  LeastProbabilities(std::shared_ptr<const RuleTable> table, const Columns& columns);

  struct Found {
    RuleId rule = kNoRule;  // with the same left-hand side, sides and structure
    float given_source = kNone, given_target = kNone, given_root = kNone;
  };
  // For each rule of another table, such as one of the rules of a new sentence pair.
  std::vector<Found> find(const RuleTable& others) const;

  // The median probability of sides that have only one rule: what a rule with a new side gets. 0 if there is none.
  float lone_given_source() const { return lone_given_source_; }
  float lone_given_target() const { return lone_given_target_; }

 private:
  struct Target {
    std::uint64_t hash = 0;
    float least = 0;
  };
  struct Slot {
    Target target;
    std::uint32_t rules = 0;  // that have it
  };
  void read_targets(std::uint32_t column);
  float value(RuleId rule, std::uint32_t column) const { return table_->features(rule)[column]; }

  std::shared_ptr<const RuleTable> table_;
  Columns columns_;
  std::vector<Target> targets_;  // sorted; those that two rules have, or more
  std::vector<float> roots_;     // by left-hand side
  float lone_given_source_ = 0, lone_given_target_ = 0;
};

}  // namespace treeglot
