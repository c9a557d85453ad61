// Checks every number of a rule table that leads somewhere: checksums do not stop a crafted file.
//
// A table has millions of nodes and rules, and opening it should take little longer than its checksums do. The trie is
// checked level by level. All source sides of a level have the same length. The level above tells how many variables
// they have. Loops over columns have no branches, so the compiler vectorises them.
#include <algorithm>
#include <array>
#include <bit>
#include <bitset>
#include <vector>

#include "base/held_pages.h"
#include "base/numbers.h"
#include "base/sections.h"
#include "rules/table.h"

namespace treeglot {
namespace {

// `bad` is 0 for what is good.
template <class Value, class Bad>
std::uint32_t any(std::span<const Value> values, const Bad& bad) {
  std::uint32_t found = 0;
  for (const Value& value : values) found |= bad(value);
  return found;
}

bool rises(std::span<const std::uint32_t> numbers) {
  std::uint32_t falls = 0;
  for (std::size_t i = 1; i < numbers.size(); ++i) falls |= numbers[i] < numbers[i - 1] ? 1u : 0u;
  return falls == 0;
}

// Gives each member of list i, which lies in [ends[i], ends[i + 1]) − ends[0] of `out`, the number of its list. Writes
// eight at a time: the next list overwrites the excess, so `out` is eight longer than all lists.
template <class Number>
void spread(std::span<const std::uint32_t> ends, std::span<const Number> numbers, std::span<Number> out) {
  const std::uint32_t first = ends[0];
  std::uint32_t end = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::uint32_t at = end;
    end = ends[i + 1] - first;
    do {
      std::fill_n(out.begin() + at, 8, numbers[i]);
      at += 8;
    } while (at < end);
  }
}

constexpr const char* kNoParts = "a rule or a node of its trie has parts that it does not have";
constexpr std::size_t kRulesAtOnce = 256, kMembersAtOnce = 4096;  // room on the stack, in a cache

// Whether a target side has every variable of its source side once.
bool has_all(std::span<const std::int32_t> target, std::uint32_t variables) {
  std::bitset<kLongestSide + 1> used;
  std::uint32_t count = 0;
  for (const std::int32_t symbol : target) {
    if (symbol >= 0) continue;
    const auto variable = static_cast<std::uint32_t>(~symbol);
    if (variable >= variables || used[variable]) return false;
    used.set(variable);
    ++count;
  }
  return count == variables;
}

// The same for short sides: how often each of the first seven variables is used, and all others, four bits each.
constexpr std::uint32_t kCounted = 7, kCountable = 15;
inline std::uint32_t uses(std::int32_t symbol) {
  // 16 to the power of the variable, by the exponent of a float: this can be vectorised, other than shifts.
  const auto variable = static_cast<std::uint32_t>(~std::max(symbol, -8));
  const auto power = std::bit_cast<float>((127u << 23) + (variable << 25));
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(power)) & static_cast<std::uint32_t>(symbol >> 31);
}
constexpr std::uint32_t all_once(std::uint32_t variables) { return 0x1111111u & ((1u << (4 * variables)) - 1); }

}  // namespace

// Nodes of one level, which is the length of their source sides.
struct RuleTable::Nodes {
  std::size_t level;
  Node first, last;
};

// Rules [first, last) of such nodes, and the variables of each.
struct RuleTable::Rules {
  std::size_t level;
  RuleId first, last;
  std::span<const std::uint8_t> variables;

  std::span<const std::uint32_t> ends(std::span<const std::uint32_t> all) const {
    return all.empty() ? all : all.subspan(first, last - first + 1);
  }
  template <class T>
  std::span<const T> members(const Lists<T>& lists) const {
    if (lists.ends.empty()) return {};
    return lists.values.subspan(lists.ends[first], lists.ends[last] - lists.ends[first]);
  }
  template <class T>
  bool in_order(const Lists<T>& lists) const {
    return lists.ends.empty() || (rises(ends(lists.ends)) && lists.ends[last] <= lists.values.size());
  }
  // Verifies the checksums of lists of a file that is verified on use.
  template <class T>
  void use(const Lists<T>& lists, const Sections& sections) const {
    sections.touch(ends(lists.ends));
    if (!in_order(lists)) sections.fail("is damaged: the lists of its rules are not in order");
    sections.touch(members(lists));
  }
};

void RuleTable::fail(const char* problem) const { sections_->fail(std::string("is damaged: ") + problem); }

void RuleTable::check() const {
  const auto expect = [&](bool holds, const char* problem) {
    if (!holds) fail(problem);
  };
  expect(first_child_[0] == 1, "its trie is not in order");
  expect(first_rule_[0] == 0 && first_rule_[1] == 0, "its root has rules");
  for (const auto& ends : {target_.ends, sparse_.ends, links_.ends, rule_labels_.ends, structure_.ends})
    expect(ends.empty() || ends[0] == 0, "the lists of its rules are not in order");
  const auto nodes = static_cast<Node>(symbol_.size());
  std::vector<std::uint8_t> variables(nodes);  // of each node's source side, if it is no longer than a rule's
  constexpr Node kAtOnce = 1 << 13;            // nodes that fit into a cache, with their rules
  const auto release = [&] {
    for (const auto& column : {symbol_, first_child_, first_rule_, parent_, lhs_}) release_pages(std::as_bytes(column));
    release_pages(std::as_bytes(features_));
    const auto release_lists = [](const auto&... lists) {
      (release_pages(std::as_bytes(lists.ends)), ...);
      (release_pages(std::as_bytes(lists.values)), ...);
    };
    release_lists(target_, sparse_, links_, rule_labels_, structure_);
  };
  // Bytes of the file for a node and for a rule, at most, and those that were read since pages were released.
  const std::size_t by_node = 4 * sizeof(Node), by_rule = sections_->size() / std::max<std::size_t>(1, rules()) + 1;
  std::size_t held = 0;
  Node first = 1;
  for (std::size_t level = 1; first < nodes; ++level) {
    // The nodes before `first` are those of all levels above, and have all their children before `last`.
    const Node last = first_child_[first];
    expect(first < last && last <= nodes, "its trie is not in order");
    for (; first < last; first = std::min(last, first + kAtOnce)) {
      stop_here(sections_->stop());
      const Node end = std::min(last, first + kAtOnce);
      expect(sound({level, first, end}, variables), kNoParts);
      held += (end - first) * by_node + (first_rule_[end] - first_rule_[first]) * by_rule;
      if (held < kHeldBytes || sections_->stop() != nullptr) continue;  // in the background, a search uses them
      release();
      held = 0;
    }
  }
}

bool RuleTable::sound(const Nodes& nodes, std::span<std::uint8_t> variables) const {
  // Signed, which SSE2 can compare: no more than 2³¹ words or labels have numbers.
  const auto most = [](std::size_t size) { return static_cast<std::int32_t>(std::min<std::size_t>(size, 0x7fffffff)); };
  const std::int32_t labels = most(labels_.own_.size()), words = most(source_words_.own_.size());
  // Each with its left neighbour, as locals: what is written below could be members as far as the compiler knows.
  const std::size_t count = nodes.last - nodes.first;
  const auto symbols = symbol_.subspan(nodes.first - 1, count + 1),
             parents = parent_.subspan(nodes.first - 1, count + 1);
  const auto first_child = first_child_;
  const std::size_t first_sibling = nodes.first == 1 ? 2 : 1;  // the root has none
  std::uint32_t bad = 0;
  for (std::size_t i = 1; i <= count; ++i) {
    const auto number = static_cast<std::int32_t>(label_of(symbols[i]));
    const std::int32_t end = static_cast<std::int32_t>(symbols[i]) < 0 ? labels : words;
    bad |= static_cast<std::uint32_t>(parents[i] >= nodes.first) | static_cast<std::uint32_t>(number >= end);
  }
  for (std::size_t i = first_sibling; i <= count; ++i)
    bad |= (parents[i - 1] == parents[i] ? 1u : 0u) & (symbols[i - 1] >= symbols[i] ? 1u : 0u);
  if (bad != 0) return false;
  for (std::size_t i = 1; i <= count; ++i) {
    const std::size_t parent = parents[i];
    const auto node = static_cast<Node>(nodes.first + i - 1);
    bad |= node - first_child[parent] >= first_child[parent + 1] - first_child[parent] ? 1u : 0u;
    variables[node] = static_cast<std::uint8_t>(variables[parent] + (symbols[i] >> 31));
  }
  const auto first_rule = first_rule_.subspan(nodes.first, count + 1);
  if (bad != 0 || !rises(first_child_.subspan(nodes.first, count + 1)) || !rises(first_rule) ||
      first_rule.back() > lhs_.size())
    return false;
  if (first_rule.front() == first_rule.back()) return true;
  std::vector<std::uint8_t> by_rule(first_rule.back() - first_rule.front() + 8);
  spread<std::uint8_t>(first_rule, variables.subspan(nodes.first, count), by_rule);
  const Rules all = {nodes.level, first_rule.front(), first_rule.back(), by_rule};
  if (nodes.level > kLongestSide || !sound_values(all) || !all.in_order(links_)) return false;
  for (RuleId rule = all.first; rule < all.last; rule += kRulesAtOnce) {
    const Rules some = {nodes.level, rule, static_cast<RuleId>(std::min<std::size_t>(all.last, rule + kRulesAtOnce)),
                        all.variables.subspan(rule - all.first)};
    if (!sound_quickly(some) && !(sound_by_rule(some) && sound_links(some))) return false;
  }
  return true;
}

// Verifies the values of the rules of one node, but not their links: most searches never ask for them.
void RuleTable::use_values(SourceSide source, RuleId first, RuleId last) const {
  const std::size_t count = last - first;
  sections_->touch(lhs_.subspan(first, count));
  sections_->touch(features_.subspan(first * dense_, count * dense_));
  const std::vector<std::uint8_t> variables(count, static_cast<std::uint8_t>(source.variables));
  const Rules rules = {source.symbols, first, last, variables};
  rules.use(target_, *sections_);
  rules.use(sparse_, *sections_);
  rules.use(rule_labels_, *sections_);
  rules.use(structure_, *sections_);
  if (!sound_values(rules) || !sound_by_rule(rules)) fail(kNoParts);
}

// Likewise, after the values.
void RuleTable::use_links(SourceSide source, RuleId first, RuleId last) const {
  const Rules rules = {source.symbols, first, last, {}};
  rules.use(links_, *sections_);
  if (!sound_links(rules)) fail(kNoParts);
}

// Whether lists are in order, and members of columns are what they should be whichever rule they belong to.
bool RuleTable::sound_values(const Rules& rules) const {
  if (!rules.in_order(target_) || !rules.in_order(sparse_) || !rules.in_order(rule_labels_) ||
      !rules.in_order(structure_))
    return false;
  // Those of the file: a patched copy may be the first to use a rule.
  const auto labels = static_cast<std::uint32_t>(labels_.own_.size()),
             names = static_cast<std::uint32_t>(feature_names_.own_.size()), dense = static_cast<std::uint32_t>(dense_);
  const auto words = static_cast<std::int32_t>(std::min<std::size_t>(target_words_.own_.size(), 0x7fffffff));
  const auto no_label = [=](Symbol label) { return label >= labels ? 1u : 0u; };
  const std::size_t count = rules.last - rules.first;
  return (any(lhs_.subspan(rules.first, count), no_label) | any(rules.members(rule_labels_), no_label) |
          any(rules.members(target_), [=](std::int32_t symbol) { return symbol >= words ? 1u : 0u; }) |
          any(features_.subspan(rules.first * dense_, count * dense_), infinite) |
          any(rules.members(sparse_), [=](const SparseFeature& sparse) {
            return (sparse.feature < dense ? 1u : 0u) | (sparse.feature >= names ? 1u : 0u) | infinite(sparse.value);
          })) == 0;
}

// What sound_by_rule() and sound_links() say, for rules as they usually are; false leaves it to them.
bool RuleTable::sound_quickly(const Rules& rules) const {
  const std::size_t count = rules.last - rules.first;
  const auto target = rules.members(target_);
  const auto links = rules.members(links_);
  const auto heads = rules.members(structure_);
  if (target_.ends.empty() || std::max({target.size(), links.size(), heads.size()}) > kMembersAtOnce) return false;
  const auto target_ends = rules.ends(target_.ends);

  std::array<std::uint32_t, kMembersAtOnce + 1> used;  // by the symbols before each, over all target sides
  used[0] = 0;
  for (std::size_t i = 0; i < target.size(); ++i) used[i + 1] = uses(target[i]);
  for (std::size_t i = 0; i < target.size(); ++i) used[i + 1] += used[i];
  std::array<std::uint8_t, kRulesAtOnce> sizes;
  std::uint32_t bad = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t begin = target_ends[i] - target_ends[0], end = target_ends[i + 1] - target_ends[0];
    const std::uint32_t variables = rules.variables[i], size = end - begin;
    if (size > kCountable || variables > kCounted) {
      bad |= size > kLongestSide || !has_all(target.subspan(begin, size), variables) ? 1u : 0u;
    } else {
      bad |= used[end] - used[begin] != all_once(variables) ? 1u : 0u;
    }
    sizes[i] = static_cast<std::uint8_t>(size);
  }
  if (bad != 0) return false;
  const auto size = std::span<const std::uint8_t>(sizes).first(count);
  const auto level = static_cast<std::uint8_t>(rules.level);
  std::uint8_t outside = 0;
  if (!links.empty()) {
    std::array<std::uint8_t, kMembersAtOnce + 8> most;
    spread<std::uint8_t>(rules.ends(links_.ends), size, most);
    for (std::size_t i = 0; i < links.size(); ++i)
      outside |= static_cast<std::uint8_t>((links[i].source >= level) | (links[i].target >= most[i]));
  }
  if (!heads.empty()) {
    std::array<std::uint8_t, kMembersAtOnce + 8> most;
    spread<std::uint8_t>(rules.ends(structure_.ends), size, most);
    for (std::size_t i = 0; i < heads.size(); ++i)
      bad |= static_cast<std::uint32_t>(static_cast<std::uint32_t>(heads[i]) > most[i]);
  }
  return (bad | outside) == 0;
}

// Whether each rule has as many variables on both sides, and its structure stays within its target side.
bool RuleTable::sound_by_rule(const Rules& rules) const {
  for (RuleId rule = rules.first; rule < rules.last; ++rule) {
    const auto target = target_.of(rule);
    const auto no_head = [&](std::int32_t head) { return head < 0 || static_cast<std::size_t>(head) > target.size(); };
    const auto heads = structure_.of(rule);
    if (target.size() > kLongestSide || !has_all(target, rules.variables[rule - rules.first]) ||
        std::ranges::any_of(heads.first(std::min(heads.size(), target.size())), no_head))
      return false;
  }
  return true;
}

// Whether the links of each rule stay within its sides.
bool RuleTable::sound_links(const Rules& rules) const {
  for (RuleId rule = rules.first; rule < rules.last; ++rule) {
    const std::size_t target = target_.of(rule).size();
    const auto outside = [&](RuleLink link) { return link.source >= rules.level || link.target >= target; };
    if (std::ranges::any_of(links_.of(rule), outside)) return false;
  }
  return true;
}

}  // namespace treeglot
