#include "rules/least.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "base/hash_index.h"

namespace treeglot {
namespace {

std::uint64_t hash_of(std::span<const std::int32_t> target) {
  std::uint64_t hash = target.size();
  for (const std::int32_t symbol : target) hash = hash_number(hash ^ static_cast<std::uint32_t>(symbol)) + 1;
  return hash;
}

float median(std::vector<float>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// The numbers that one table has for the symbols of another; kNone for those that it lacks.
std::vector<Symbol> numbers(const TableSymbols& from, const TableSymbols& to) {
  std::vector<Symbol> out(from.size());
  for (Symbol symbol = 0; symbol < from.size(); ++symbol) out[symbol] = to.find(from.text(symbol));
  return out;
}

// The node of a source side whose words and labels have these numbers in the table; kNoNode if it has none.
RuleTable::Node node_of(const RuleTable& table, std::span<const Symbol> source, std::span<const Symbol> words,
                        std::span<const Symbol> labels) {
  RuleTable::Node node = table.root();
  for (const Symbol symbol : source) {
    const Symbol number = is_nonterminal(symbol) ? labels[label_of(symbol)] : words[symbol];
    if (number == Symbols::kNone || node == RuleTable::kNoNode) return RuleTable::kNoNode;
    node = table.child(node, is_nonterminal(symbol) ? nonterminal(number) : number);
  }
  return node;
}

}  // namespace

LeastProbabilities::LeastProbabilities(std::shared_ptr<const RuleTable> table, const Columns& columns)
    : table_(std::move(table)), columns_(columns) {
  for (const auto& column : {columns.target_given_source, columns.source_given_target, columns.rule_given_root})
    if (column && *column >= table_->dense_features()) throw std::invalid_argument("no such dense feature");
  if (columns.target_given_source) {
    std::vector<float> lone;
    for (RuleTable::Node node = 0; node < table_->nodes(); ++node)
      if (const RuleList rules = table_->rules_of(node); rules.size() == 1)
        lone.push_back(value(rules[0], *columns.target_given_source));
    lone_given_source_ = median(lone);
  }
  if (columns.source_given_target) read_targets(*columns.source_given_target);
  roots_.assign(table_->labels().size(), kNone);
  if (columns.rule_given_root) {
    for (RuleId rule = 0; rule < table_->rules(); ++rule) {
      float& least = roots_[table_->lhs(rule)];
      least = std::min(least, value(rule, *columns.rule_given_root));
    }
  }
}

// Equal targets have equal hashes and so the same bucket. A bucket's distinct hashes fit into a processor's cache.
void LeastProbabilities::read_targets(std::uint32_t column) {
  constexpr unsigned kShift = 64 - 10;
  const std::size_t rules = table_->rules();
  std::vector<std::uint64_t> hashes(rules);
  std::vector<std::size_t> ends((std::size_t{1} << (64 - kShift)) + 1);
  for (RuleId rule = 0; rule < rules; ++rule) {
    hashes[rule] = hash_of(table_->target(rule));
    ++ends[(hashes[rule] >> kShift) + 1];
  }
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  std::vector<Target> all(rules);
  for (RuleId rule = 0; rule < rules; ++rule)
    all[ends[hashes[rule] >> kShift]++] = {hashes[rule], value(rule, column)};  // now where the bucket ends
  std::vector<float> lone;
  std::vector<Slot> slots;
  for (std::size_t bucket = 0; bucket + 1 < ends.size(); ++bucket) {
    const std::size_t begin = bucket == 0 ? 0 : ends[bucket - 1];
    slots.assign(std::bit_ceil(2 * (ends[bucket] - begin) + 1), Slot{});
    for (std::size_t i = begin; i < ends[bucket]; ++i) {
      std::size_t at = all[i].hash & (slots.size() - 1);
      while (slots[at].rules != 0 && slots[at].target.hash != all[i].hash) at = (at + 1) & (slots.size() - 1);
      Slot& slot = slots[at];
      slot.target = {all[i].hash, slot.rules == 0 ? all[i].least : std::min(slot.target.least, all[i].least)};
      ++slot.rules;
    }
    const auto first = static_cast<std::ptrdiff_t>(targets_.size());
    for (const Slot& slot : slots) {
      if (slot.rules == 1) lone.push_back(slot.target.least);
      if (slot.rules > 1) targets_.push_back(slot.target);
    }
    std::ranges::sort(targets_.begin() + first, targets_.end(), {}, &Target::hash);
  }
  targets_.shrink_to_fit();
  lone_given_target_ = median(lone);
}

// A target side with other numbers of words; whether all words have one.
static bool renumber(std::span<const std::int32_t> symbols, const std::vector<Symbol>& words,
                     std::vector<std::int32_t>& out) {
  bool known = true;
  for (const std::int32_t symbol : symbols) {
    const Symbol number = symbol < 0 ? 0 : words[static_cast<std::size_t>(symbol)];
    known = known && number != Symbols::kNone;
    out.push_back(symbol < 0 ? symbol : static_cast<std::int32_t>(number));
  }
  return known;
}

std::vector<LeastProbabilities::Found> LeastProbabilities::find(const RuleTable& others) const {
  const std::vector<Symbol> source_words = numbers(others.source_words(), table_->source_words()),
                            target_words = numbers(others.target_words(), table_->target_words()),
                            labels = numbers(others.labels(), table_->labels());
  std::vector<Found> out(others.rules());
  for (RuleId id = 0; id < others.rules(); ++id) {
    Found& found = out[id];
    const Rule rule = others.rule(id);
    const Symbol lhs = labels[rule.lhs];
    if (lhs != Symbols::kNone) found.given_root = roots_[lhs];
    std::vector<std::int32_t> target;
    const bool known = renumber(rule.target, target_words, target);
    if (known) {
      const auto at = std::ranges::lower_bound(targets_, hash_of(target), {}, &Target::hash);
      if (at != targets_.end() && at->hash == hash_of(target)) found.given_target = at->least;
    }
    const RuleTable::Node node = node_of(*table_, rule.source, source_words, labels);
    if (node == RuleTable::kNoNode) continue;
    const RuleList rules = table_->rules_of(node);
    for (std::size_t i = 0; i < rules.size(); ++i) {
      const RuleId other = rules[i];
      if (columns_.target_given_source)
        found.given_source = std::min(found.given_source, value(other, *columns_.target_given_source));
      if (known && table_->lhs(other) == lhs && std::ranges::equal(table_->target(other), target) &&
          std::ranges::equal(table_->structure(other), rule.structure))
        found.rule = other;
    }
  }
  return out;
}

}  // namespace treeglot
