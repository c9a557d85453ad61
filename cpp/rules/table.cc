#include "rules/table.h"

#include <algorithm>
#include <bit>

#include "base/numbers.h"
#include "base/thread_pool.h"

namespace treeglot {

RuleTable::Node RuleTable::child(Node begin, Node end, Symbol symbol) const {
  const std::uint32_t* base = symbol_.data() + begin;
  std::size_t size = end - begin;
  if (size == 0) return kNoNode;
  // Branchless binary search for the last symbol ≤ `symbol`.
  while (size > 1) {
    const std::size_t half = size / 2;
    base += base[half] <= symbol ? half : 0;
    size -= half;
  }
  return *base == symbol ? static_cast<Node>(base - symbol_.data()) : kNoNode;
}

std::pair<RuleTable::Node, RuleTable::Node> RuleTable::nonterminal_children(Node node) const {
  const Node end = first_child_[node + 1];
  Node begin = end;
  while (begin > first_child_[node] && is_nonterminal(symbol_[begin - 1])) --begin;
  return {begin, end};
}

RuleTable::Node RuleTable::node_of(RuleId rule) const {
  return static_cast<Node>(std::ranges::upper_bound(first_rule_, rule) - first_rule_.begin() - 1);
}

Rule RuleTable::rule(RuleId id) const {
  Rule out;
  out.lhs = lhs(id);
  for (Node node = node_of(id); node != kRoot; node = parent_[node]) out.source.push_back(symbol(node));
  std::ranges::reverse(out.source);
  out.target.assign(target(id).begin(), target(id).end());
  out.features.assign(features(id).begin(), features(id).end());
  out.sparse.assign(sparse_features(id).begin(), sparse_features(id).end());
  out.alignment.assign(alignment(id).begin(), alignment(id).end());
  out.labels.assign(rule_labels(id).begin(), rule_labels(id).end());
  out.structure.assign(structure(id).begin(), structure(id).end());
  return out;
}

RuleTable RuleTable::open(const std::string& path, bool verify) {
  return RuleTable(Sections::open(path, kKind, kVersion, verify));
}

template <class T>
RuleTable::Lists<T> RuleTable::lists(const std::string& name) const {
  if (!sections_->has(name)) return {};
  const Lists<T> out = {sections_->array<std::uint32_t>(name + ".ends"), sections_->array<T>(name)};
  if (out.ends.size() != rules() + 1 || out.ends.back() != out.values.size())
    sections_->fail("is damaged: its sections do not fit together");
  return out;
}

RuleTable::RuleTable(Sections sections)
    : sections_(std::make_shared<const Sections>(std::move(sections))),
      source_words_(*sections_, "source"),
      target_words_(*sections_, "target"),
      labels_(*sections_, "labels"),
      feature_names_(*sections_, "features"),
      symbol_(sections_->array<std::uint32_t>("trie.symbol")),
      first_child_(sections_->array<std::uint32_t>("trie.first_child")),
      first_rule_(sections_->array<std::uint32_t>("trie.first_rule")),
      parent_(sections_->array<std::uint32_t>("trie.parent")),
      lhs_(sections_->array<Symbol>("rule.lhs")),
      features_(sections_->array<float>("rule.features")),
      target_(lists<std::int32_t>("rule.target")),
      sparse_(lists<SparseFeature>("rule.sparse")),
      links_(lists<RuleLink>("rule.links")),
      rule_labels_(lists<Symbol>("rule.labels")),
      structure_(lists<std::int32_t>("rule.structure")) {
  const std::size_t nodes = symbol_.size();
  dense_ = rules() == 0 ? 0 : features_.size() / rules();
  if (nodes == 0 || parent_.size() != nodes || first_child_.size() != nodes + 1 || first_rule_.size() != nodes + 1 ||
      first_child_.back() != nodes || first_rule_.back() != rules() || features_.size() != rules() * dense_ ||
      dense_ > feature_names_.size()) {
    sections_->fail("is damaged: its sections do not fit together");
  }
  if (sections_->untrusted()) check();
}

namespace {

// Loops without jumps, which the compiler makes vectors of: `bad` is 0 for what is good.
template <class Value, class Bad>
std::uint32_t any(std::span<const Value> values, const Bad& bad) {
  std::uint32_t found = 0;
  for (const Value& value : values) found |= bad(value);
  return found;
}

bool rises(std::span<const std::uint32_t> numbers, std::uint32_t first) {
  std::uint32_t falls = !numbers.empty() && numbers[0] != first ? 1 : 0;
  for (std::size_t i = 1; i < numbers.size(); ++i) falls |= numbers[i] < numbers[i - 1] ? 1u : 0u;
  return falls == 0;
}

// Whether a target side has every variable of its source side once.
bool has_all(std::span<const std::int32_t> target, std::uint32_t variables) {
  if (variables <= 8) {
    std::uint64_t uses = 0;  // a byte for each variable: a side is too short to carry over
    std::int32_t last = 0;
    for (const std::int32_t symbol : target) {
      uses += std::uint64_t{symbol < 0} << (static_cast<std::uint32_t>(~symbol) * 8 & 63);
      last = std::min(last, symbol);
    }
    return last >= -static_cast<std::int32_t>(variables) &&
           uses == (variables == 0 ? 0 : 0x0101010101010101u >> (64 - 8 * variables));
  }
  std::vector<bool> used(variables, false);
  for (const std::int32_t symbol : target) {
    if (symbol >= 0) continue;
    if (~symbol >= static_cast<std::int32_t>(variables) || used[static_cast<std::size_t>(~symbol)]) return false;
    used[static_cast<std::size_t>(~symbol)] = true;
  }
  return std::ranges::find(used, false) == used.end();
}

}  // namespace

void RuleTable::check() const {
  const auto expect = [&](bool holds, const char* problem) {
    if (!holds) sections_->fail(std::string("is damaged: ") + problem);
  };
  const std::size_t nodes = symbol_.size();
  expect(rises(first_child_, 1) && rises(first_rule_, 0) && first_rule_[1] == 0, "its trie is not in order");
  for (const auto& ends : {target_.ends, sparse_.ends, links_.ends, rule_labels_.ends, structure_.ends})
    expect(rises(ends, 0), "the lists of its rules are not in order");
  // Up to one more than a rule may have. The trie of a rule that was left out as too long may be deeper.
  std::vector<std::uint16_t> symbols(nodes), variables(nodes);
  constexpr int kMost = kLongestSide + 1;
  bool sorted = true;
  for (Node node = 1; node < nodes; ++node) {
    const Node parent = parent_[node];
    const Symbol symbol = symbol_[node], label = label_of(symbol);
    expect(parent < node, "its trie is not in order");
    symbols[node] = static_cast<std::uint16_t>(std::min(symbols[parent] + 1, kMost));
    variables[node] = static_cast<std::uint16_t>(std::min(variables[parent] + (is_nonterminal(symbol) ? 1 : 0), kMost));
    sorted &= (first_child_[parent] <= node) & (node < first_child_[parent + 1]) &
              ((parent_[node - 1] != parent) | (symbol_[node - 1] < symbol) | (node == 1)) &
              (label < (is_nonterminal(symbol) ? labels_.size() : source_words_.size()));
  }
  expect(sorted, "its trie is not in order");
  constexpr std::size_t kAtOnce = 1 << 12;  // nodes, whose rules fit into a cache
  ordered_map(
      nodes / kAtOnce + 1, checking_threads(),
      [&](std::size_t part) {
        const auto first = static_cast<Node>(part * kAtOnce);
        return sound(first, static_cast<Node>(std::min(nodes, first + kAtOnce)), symbols, variables);
      },
      [&](std::size_t, bool sound) { expect(sound, "a rule has parts that are not the table's"); });
}

bool RuleTable::sound(Node first, Node last, std::span<const std::uint16_t> symbols,
                      std::span<const std::uint16_t> variables) const {
  const RuleId begin = first_rule_[first], end = first_rule_[last];
  const auto all = [&]<class T>(const Lists<T>& lists) {
    return lists.ends.empty() ? lists.values
                              : lists.values.subspan(lists.ends[begin], lists.ends[end] - lists.ends[begin]);
  };
  const auto labels = static_cast<std::uint32_t>(labels_.size()),
             names = static_cast<std::uint32_t>(feature_names_.size()), dense = static_cast<std::uint32_t>(dense_);
  const auto words = static_cast<std::int32_t>(std::min<std::size_t>(target_words_.size(), 0x7fffffff));
  const auto no_label = [=](Symbol label) { return label >= labels ? 1u : 0u; };
  if (any(lhs_.subspan(begin, end - begin), no_label) | any(all(rule_labels_), no_label) |
      any(all(target_), [=](std::int32_t symbol) { return symbol >= words ? 1u : 0u; }) |
      any(features_.subspan(begin * dense_, (end - begin) * dense_), infinite) |
      any(all(sparse_), [=](const SparseFeature& sparse) {
        return (sparse.feature < dense ? 1u : 0u) | (sparse.feature >= names ? 1u : 0u) | infinite(sparse.value);
      }))
    return false;
  for (Node node = first; node < last; ++node) {
    for (RuleId rule = first_rule_[node]; rule < first_rule_[node + 1]; ++rule) {
      const auto target = this->target(rule);
      if (symbols[node] > kLongestSide || target.size() > kLongestSide || !has_all(target, variables[node]))
        return false;
      const auto size = static_cast<std::uint32_t>(target.size());
      std::uint32_t outside = 0;
      const auto links = alignment(rule);
      for (std::size_t i = 0; i < links.size(); i += 4) {
        // Four at once, the last one for those that are not there: how many there are is hard to foretell.
        for (std::size_t j = i; j < i + 4; ++j) {
          const RuleLink link = links[std::min(j, links.size() - 1)];
          outside |= (link.source >= symbols[node] ? 1u : 0u) | (link.target >= size ? 1u : 0u);
        }
      }
      const auto heads = structure(rule);
      for (const std::int32_t head : heads.first(std::min(heads.size(), target.size())))
        outside |= static_cast<std::uint32_t>(head) > size ? 1u : 0u;
      if (outside != 0) return false;
    }
  }
  return true;
}

}  // namespace treeglot
