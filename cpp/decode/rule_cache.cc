#include "decode/rule_cache.h"

#include <algorithm>
#include <utility>

#include "decode/affiliation.h"
#include "decode/search_counts.h"

namespace treeglot {

FeatureSpace::FeatureSpace()
    : word_penalty_(add("word_penalty")),
      glue_(add("glue")),
      unknown_(add("unknown")),
      preferred_(add("preferred")),
      lattice_(add("lattice")) {}

FeatureSpace::FeatureSpace(const FeatureSpace& common, const RuleTable& table, std::string prefix)
    : FeatureSpace(common) {
  prefix_ = std::move(prefix);
  for (Symbol name = 0; name < table.feature_names().size(); ++name)
    table_.push_back(add(table.feature_names().text(name)));
  rule_penalty_ = add("rule_penalty");
}

FeatureSpace::FeatureSpace(const RuleTable& table, std::string prefix) : prefix_(std::move(prefix)) {
  for (Symbol name = 0; name < table.feature_names().size(); ++name) names_->intern(table.feature_names().text(name));
  word_penalty_ = add("word_penalty");
  rule_penalty_ = add("rule_penalty");
  glue_ = add("glue");
  unknown_ = add("unknown");
  preferred_ = add("preferred");
  lattice_ = add("lattice");
}

Symbol TargetWords::find(std::string_view text) const {
  const Symbol found = first_.find(text);
  if (found != Symbols::kNone) return found;
  const Symbol other = more_.find(text);
  return other == Symbols::kNone ? other : other + static_cast<Symbol>(first_.size());
}

std::vector<std::int32_t> TargetWords::add(const RuleTable& table) {
  std::vector<std::int32_t> out;
  out.reserve(table.target_words().size());
  for (Symbol word = 0; word < table.target_words().size(); ++word) {
    const std::string_view text = table.target_words().text(word);
    const Symbol known = first_.find(text);
    const Symbol number = known != Symbols::kNone ? known : more_.intern(text) + static_cast<Symbol>(first_.size());
    out.push_back(static_cast<std::int32_t>(number));
  }
  return out;
}

std::span<const RuleCache::Group> RuleCache::at(RuleTable::Node node) {
  const auto next = static_cast<std::uint32_t>(entries_.size());
  const std::uint32_t entry =
      index_.intern(hash_number(node), next, [&](std::uint32_t known) { return entries_[known].node == node; });
  if (entry == next) {
    count_search(SearchCount::misses, 1);
    entries_.push_back(make(node));
    held_ += entries_.back().alternatives.size();
  }
  return entries_[entry].groups;
}

void RuleCache::trim() {
  constexpr std::size_t kMost = 1'000'000;  // alternatives: some 60 MB
  for (RuleCache& part : parts_) part.trim();
  table_->used();
  if (held_ > kMost) forget();
}

void RuleCache::forget() {
  entries_.clear();
  index_.clear();
  held_ = 0;
}

void RuleCache::use(std::shared_ptr<const RuleTable> table) {
  forget();
  sentence_ = std::move(table);
  table_ = sentence_.get();
}

RuleCache::Entry RuleCache::make(RuleTable::Node node) const {
  Entry entry{node, {}, {}, {}, {}};
  const RuleList rules = table_->rules_of(node);
  entry.alternatives.reserve(rules.size());
  std::size_t symbols = 0, links = 0;
  const bool copies = !words_.empty() || affiliates_;
  for (std::size_t i = 0; copies && i < rules.size(); ++i) {
    symbols += table_->target(rules[i]).size();
    links += table_->alignment(rules[i]).size();
  }
  if (!words_.empty()) entry.targets.reserve(symbols);
  if (affiliates_) entry.affiliations.reserve(symbols + 3 * rules.size() + 2 * links);
  const std::vector<Symbol> source =
      affiliates_ && !rules.empty() ? table_->rule(rules[0]).source : std::vector<Symbol>();
  const auto weights = scorer_.weights();
  struct Range {
    Symbol lhs;
    std::size_t begin, end;
  };
  std::vector<Range> ranges;
  for (std::size_t i = 0; i < rules.size();) {
    const Symbol lhs = table_->lhs(rules[i]);
    const auto begin = static_cast<std::ptrdiff_t>(entry.alternatives.size());
    for (; i < rules.size() && table_->lhs(rules[i]) == lhs; ++i) {
      const RuleId rule = rules[i];
      double score = 0;
      visit_features(*table_, space_, rule, [&](FeatureId f, float value) { score += double{weights[f]} * value; });
      TargetSide side = target_side(*table_, rule);
      if (!words_.empty()) renumber(entry, side);
      if (affiliates_) affiliate(entry, source, rule, side);
      entry.alternatives.push_back({side, rule, finite(score), scorer_.estimate({side, rule, kInside})});
    }
    const auto first = entry.alternatives.begin() + begin;
    std::ranges::stable_sort(first, entry.alternatives.end(),
                             [](const Alternative& a, const Alternative& b) { return a.priority() > b.priority(); });
    if (per_source_ > 0 && entry.alternatives.end() - first > per_source_)
      entry.alternatives.resize(static_cast<std::size_t>(begin) + per_source_);
    ranges.push_back({lhs, static_cast<std::size_t>(begin), entry.alternatives.size()});
  }
  for (const Range& r : ranges)
    entry.groups.push_back({r.lhs, std::span<const Alternative>(entry.alternatives).subspan(r.begin, r.end - r.begin)});
  return entry;
}

// The room for its symbols is reserved, so that none of them moves.
void RuleCache::renumber(Entry& entry, TargetSide& side) const {
  const std::size_t first = entry.targets.size();
  for (const std::int32_t symbol : side)
    entry.targets.push_back(symbol < 0 ? symbol : words_[static_cast<std::size_t>(symbol)]);
  side.symbols = entry.targets.data() + first;
}

// Likewise.
void RuleCache::affiliate(Entry& entry, std::span<const Symbol> source, RuleId rule, TargetSide& side) const {
  const std::size_t first = entry.affiliations.size();
  append_affiliations(*table_, source, rule, entry.affiliations);
  side.affiliations = entry.affiliations.data() + first;
}

}  // namespace treeglot
