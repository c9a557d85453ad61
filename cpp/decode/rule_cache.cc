#include "decode/rule_cache.h"

#include <algorithm>

namespace treeglot {

FeatureSpace::FeatureSpace(const RuleTable& table) {
  for (Symbol name = 0; name < table.feature_names().size(); ++name) names_.intern(table.feature_names().text(name));
  first_ = static_cast<FeatureId>(names_.size());
  for (const char* name : {"word_penalty", "rule_penalty", "glue", "unknown"}) names_.intern(name);
}

void FeatureSpace::add_unknown_lengths() {
  if (unknown_lengths_) return;
  unknown_lengths_ = static_cast<FeatureId>(names_.size());
  for (std::uint32_t length = 1; length <= kUnknownLengths; ++length)
    names_.intern("unknown_length_" + std::to_string(length));
}

std::span<const RuleCache::Group> RuleCache::at(RuleTable::Node node) {
  auto& entry = entries_[node];
  if (entry == nullptr) {
    entry = std::make_unique<Entry>(make(node));
    held_ += entry->alternatives.size();
  }
  return entry->groups;
}

void RuleCache::trim() {
  constexpr std::size_t kMost = 1'000'000;  // alternatives: some 40 MB
  if (held_ <= kMost) return;
  entries_.clear();
  held_ = 0;
}

RuleCache::Entry RuleCache::make(RuleTable::Node node) const {
  Entry entry;
  entry.alternatives.reserve(table_.rules_end(node) - table_.rules_begin(node));
  const auto weights = scorer_.weights();
  struct Range {
    Symbol lhs;
    std::size_t begin, end;
  };
  std::vector<Range> ranges;
  for (RuleId rule = table_.rules_begin(node); rule < table_.rules_end(node);) {
    const Symbol lhs = table_.lhs(rule);
    const auto begin = static_cast<std::ptrdiff_t>(entry.alternatives.size());
    for (; rule < table_.rules_end(node) && table_.lhs(rule) == lhs; ++rule) {
      double score = 0;
      visit_features(table_, space_, rule, [&](FeatureId f, float value) { score += double{weights[f]} * value; });
      const TargetSide side = target_side(table_, rule);
      entry.alternatives.push_back({side, rule, static_cast<float>(score), scorer_.estimate({side, rule, kInside})});
    }
    const auto first = entry.alternatives.begin() + begin;
    std::ranges::stable_sort(first, entry.alternatives.end(), [](const Alternative& a, const Alternative& b) {
      return a.priority() > b.priority();
    });
    if (per_source_ > 0 && entry.alternatives.end() - first > per_source_)
      entry.alternatives.resize(static_cast<std::size_t>(begin) + per_source_);
    ranges.push_back({lhs, static_cast<std::size_t>(begin), entry.alternatives.size()});
  }
  for (const Range& r : ranges)
    entry.groups.push_back({r.lhs, std::span<const Alternative>(entry.alternatives).subspan(r.begin, r.end - r.begin)});
  return entry;
}

}  // namespace treeglot
