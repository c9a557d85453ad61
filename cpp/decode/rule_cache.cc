#include "decode/rule_cache.h"

#include <algorithm>
#include <memory>
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
  const auto same = [&](std::uint32_t known) { return entries_[known].node == node; };
  if (const std::uint32_t known = index_.find(hash_number(node), same); known != HashIndex::kNone)
    return entries_[known].groups;
  count_search(SearchCount::misses, 1);
  const std::span<const Group> groups = make(node);  // enters nothing if it throws
  entries_.push_back({node, groups});
  index_.intern(hash_number(node), static_cast<std::uint32_t>(entries_.size() - 1), same);
  return groups;
}

void RuleCache::trim() {
  constexpr std::size_t kMost = 100'000'000;  // bytes
  for (RuleCache& part : parts_) part.trim();
  table_->used();
  if (held_ > kMost) forget();
}

void RuleCache::forget() {
  entries_.clear();
  index_.clear();
  memory_->release();
  held_ = 0;
}

void RuleCache::use(std::shared_ptr<const RuleTable> table) {
  forget();
  sentence_ = std::move(table);
  table_ = sentence_.get();
}

template <class T>
std::span<T> RuleCache::room(std::size_t size) {
  held_ += size * sizeof(T);
  return {static_cast<T*>(memory_->allocate(size * sizeof(T), alignof(T))), size};
}

std::span<const RuleCache::Group> RuleCache::make(RuleTable::Node node) {
  const RuleList rules = table_->rules_of(node);
  const std::vector<Symbol> source =
      affiliates_ && !rules.empty() ? table_->rule(rules[0]).source : std::vector<Symbol>();
  groups_.clear();
  for (std::size_t i = 0; i < rules.size();) {
    const Symbol lhs = table_->lhs(rules[i]);
    made_.clear();
    prepared_.clear();
    order_.clear();
    for (; i < rules.size() && table_->lhs(rules[i]) == lhs; ++i) {
      const std::size_t first = prepared_.size();
      Alternative& rule = made_.emplace_back(score(rules[i], source));
      rule.estimate = scorer_.prepare({rule.target, rule.rule, kInside}, prepared_);
      order_.push_back(
          {rule.priority(), static_cast<std::uint32_t>(made_.size() - 1), first, prepared_.size() - first});
    }
    std::ranges::sort(order_, [](const Place& a, const Place& b) {
      return a.priority > b.priority || (a.priority == b.priority && a.number < b.number);
    });
    if (per_source_ > 0 && order_.size() > per_source_) order_.resize(per_source_);
    const auto alternatives = room<Alternative>(order_.size());
    for (std::size_t place = 0; place < order_.size(); ++place) {
      const auto& [priority, number, first, words] = order_[place];
      Alternative* const kept = std::construct_at(&alternatives[place], made_[number]);
      if (words == 0) continue;
      const auto prepared = room<std::uint64_t>(words);
      std::copy_n(prepared_.from(first).begin(), words, prepared.begin());
      kept->target.prepared = prepared.data();
    }
    groups_.push_back({lhs, alternatives});
  }
  const auto groups = room<Group>(groups_.size());
  std::uninitialized_copy(groups_.begin(), groups_.end(), groups.begin());
  return groups;
}

// A rule of the table without its estimate. Target sides in the model's numbers and affiliations live until forget().
Alternative RuleCache::score(RuleId rule, std::span<const Symbol> source) {
  const auto weights = scorer_.weights();
  double score = 0;
  visit_features(*table_, space_, rule, [&](FeatureId f, float value) { score += double{weights[f]} * value; });
  TargetSide side = target_side(*table_, rule);
  if (!words_.empty()) {
    const auto symbols = room<std::int32_t>(side.size);
    std::ranges::transform(side, symbols.begin(), [&](std::int32_t symbol) {
      return symbol < 0 ? symbol : words_[static_cast<std::size_t>(symbol)];
    });
    side.symbols = symbols.data();
  }
  if (affiliates_) {
    affiliations_.clear();
    append_affiliations(*table_, source, rule, affiliations_);
    const auto affiliations = room<std::uint8_t>(affiliations_.size());
    std::ranges::copy(affiliations_, affiliations.begin());
    side.affiliations = affiliations.data();
  }
  return {side, rule, finite(score), 0};
}

}  // namespace treeglot
