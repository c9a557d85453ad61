// A rule table whose file was not verified when it opened: every access verifies the blocks and the numbers that it
// reads. A thread may check all in the meantime; accesses are quick from then on.
//
// A walk begins at the root and goes from node to child. A child must name its parent, so the walk to a node and the
// way back have the same symbols. The rules of a node are checked together: the way back tells their variables. A
// search for these rules must lead to the node, so a rule has the same source side for every caller.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "base/mapped_file.h"
#include "base/sections.h"
#include "rules/table.h"

namespace treeglot {
namespace {

// What a whole check reads in the time that verifying on use costs a sentence; lm/ngram.cc says what it is for. Little
// is used for the first time after many sentences, and using the same rules again costs next to nothing.
constexpr std::uint64_t kBytesOfUse = 1 << 19;

constexpr const char* kNoOrder = "its trie is not in order";

// Bits that threads set.
class Marks {
 public:
  explicit Marks(std::size_t count) : pages_(Pages::fresh((count / 64 + 1) * sizeof(std::uint64_t))) {}
  bool has(std::size_t i) { return (word(i).load(std::memory_order_acquire) >> (i % 64) & 1) != 0; }
  void set(std::size_t i) { word(i).fetch_or(std::uint64_t{1} << (i % 64), std::memory_order_release); }

 private:
  std::atomic_ref<std::uint64_t> word(std::size_t i) {
    return std::atomic_ref(reinterpret_cast<std::uint64_t*>(pages_.writable().data())[i / 64]);
  }
  Pages pages_;
};

}  // namespace

struct RuleTable::OnUse {
  OnUse(std::size_t nodes, std::size_t rules, Verification::Check check, const Sections& sections)
      : of_node(nodes),
        rule(rules),
        links(rules),
        variables(nodes),
        verification(std::move(check), 1 + sections.size() / kBytesOfUse, sections.opening() == Opening::background) {}

  Marks of_node;    // all rules of it are sound, with its variables
  Marks rule;       // it is sound except for its links, with the variables of some node
  Marks links;      // they are, too
  Marks variables;  // the children of a node that nonterminals lead to are sound
  Verification verification;
};

void RuleTable::watch() {
  const auto check = [sections = sections_](const Stop* stop) {
    const auto all = std::make_shared<const Sections>(sections->to_verify(stop));
    all->verify();
    RuleTable(all).check();
    all->set_sound();
  };
  on_use_ = std::make_shared<OnUse>(symbol_.size(), lhs_.size(), check, *sections_);
}

bool RuleTable::settled() const {
  if (!on_use_->verification.sound()) return false;
  quick_nodes_ = symbol_.size();
  quick_rules_ = lhs_.size();
  return true;
}

void RuleTable::verify() const {
  if (on_use_ != nullptr) on_use_->verification.complete();
}

void RuleTable::used() const {
  if (on_use_ != nullptr && !settled()) on_use_->verification.used();
}

std::uint32_t RuleTable::last_of(std::span<const std::uint32_t> numbers) const {
  sections_->touch(numbers.last(1));
  return numbers.back();
}

// The beginnings of a node's children and rules, and their ends.
void RuleTable::use_node(Node node) const {
  if (on_use_->of_node.has(node)) return;
  const auto children = first_child_.subspan(node, 2), rules = first_rule_.subspan(node, 2);
  sections_->touch(children);
  sections_->touch(rules);
  if (children[0] <= node || children[0] > children[1] || children[1] > symbol_.size() || rules[0] > rules[1] ||
      rules[1] > lhs_.size() || (node == 0 && (children[0] != 1 || rules[1] != 0)))
    fail(kNoOrder);
}

void RuleTable::use_symbol(Node node) const {
  sections_->touch(symbol_.subspan(node, 1));
  const Symbol symbol = symbol_[node];
  if (label_of(symbol) >= (is_nonterminal(symbol) ? labels_.own_.size() : source_words_.own_.size()))
    fail("a node of its trie has a symbol that does not exist");
}

void RuleTable::use_child(Node node, Node child) const {
  sections_->touch(parent_.subspan(child, 1));
  if (parent_[child] != node) fail(kNoOrder);
}

RuleTable::Node RuleTable::child_on_use(Node node, Symbol symbol) const {
  if (settled()) return child(first_child_[node], first_child_[node + 1], symbol);
  use_node(node);
  const auto children = symbol_.subspan(first_child_[node], first_child_[node + 1] - first_child_[node]);
  const auto used = [&](const Symbol& other) {
    sections_->touch(std::span(&other, 1));
    return other;
  };
  const auto found = std::ranges::lower_bound(children, symbol, {}, used);
  if (found == children.end() || used(*found) != symbol) return kNoNode;
  const auto child = first_child_[node] + static_cast<Node>(found - children.begin());
  use_child(node, child);
  return child;
}

RuleTable::VariableChildren RuleTable::variables_on_use(Node node) const {
  if (settled() || on_use_->variables.has(node)) return own_variables(node);
  use_node(node);
  const Node end = first_child_[node + 1];
  Node begin = end;
  for (; begin > first_child_[node]; --begin) {
    use_symbol(begin - 1);
    if (!is_nonterminal(symbol_[begin - 1])) break;
    use_child(node, begin - 1);
  }
  on_use_->variables.set(node);
  return {begin, end};
}

// The node that a search for any rule of [first, last) leads to. The search for each takes the same way: none of the
// numbers on it separates two of them.
RuleTable::Node RuleTable::owner(RuleId first, RuleId last) const {
  const auto used = [&](const std::uint32_t& number) {
    sections_->touch(std::span(&number, 1));
    if (first < number && number < last) fail(kNoOrder);
    return number;
  };
  const auto found = std::ranges::upper_bound(first_rule_, first, {}, used);
  if (found == first_rule_.begin() || found == first_rule_.end()) fail(kNoOrder);
  return static_cast<Node>(found - first_rule_.begin() - 1);
}

RuleTable::Node RuleTable::node_on_use(RuleId rule) const {
  const Node node = owner(rule, rule + 1);
  use_rules(node);
  if (first_rule_[node] > rule || first_rule_[node + 1] <= rule) fail(kNoOrder);
  return node;
}

void RuleTable::use_rule(RuleId rule) const {
  if (!on_use_->rule.has(rule)) (void)node_on_use(rule);
}

void RuleTable::use_rules(Node node) const {
  if (on_use_->of_node.has(node)) return;
  use_node(node);
  const RuleId first = first_rule_[node], last = first_rule_[node + 1];
  if (first < last) {
    if (owner(first, last) != node) fail(kNoOrder);  // another node has the same rules
    use_values(source_side(node), first, last);
  }
  for (RuleId rule = first; rule < last; ++rule) on_use_->rule.set(rule);
  on_use_->of_node.set(node);
}

void RuleTable::use_links(RuleId rule) const {
  if (links_.ends.empty() || settled() || on_use_->links.has(rule)) return;
  const Node node = node_on_use(rule);
  const RuleId first = first_rule_[node], last = first_rule_[node + 1];
  use_links(source_side(node), first, last);
  for (RuleId other = first; other < last; ++other) on_use_->links.set(other);
}

// The way back to the root.
RuleTable::SourceSide RuleTable::source_side(Node node) const {
  SourceSide out = {0, 0};
  for (Node at = node; at != 0; ++out.symbols) {
    use_symbol(at);
    sections_->touch(parent_.subspan(at, 1));
    if (out.symbols == kLongestSide || parent_[at] >= at) fail(kNoOrder);
    out.variables += is_nonterminal(symbol_[at]) ? 1 : 0;
    at = parent_[at];
  }
  return out;
}

}  // namespace treeglot
