#include "rules/table.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "base/thread_pool.h"
#include "rules/table_patch.h"

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

RuleTable::VariableChildren RuleTable::own_variables(Node node) const {
  const Node end = first_child_[node + 1];
  Node begin = end;
  while (begin > first_child_[node] && is_nonterminal(symbol_[begin - 1])) --begin;
  return {begin, end};
}

std::vector<RuleTable::Node> RuleTable::variable_children(Node node) const {
  std::vector<Node> out;
  Node own = node;
  if (!is_own(node)) {
    const TablePatch::Node& patched = patch_->nodes[node - symbol_.size()];
    own = patched.own;
    for (const std::uint32_t child : patched.children)
      if (is_nonterminal(patch_->nodes[child].symbol)) out.push_back(static_cast<Node>(symbol_.size() + child));
  }
  const std::size_t of_patch = out.size();
  if (own != kNoNode) {
    const VariableChildren range = variables(own);
    for (Node child = range.first; child < range.last; ++child) {
      const auto hides = [&](Node other) { return symbol(other) == symbol_[child]; };
      if (std::none_of(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(of_patch), hides)) out.push_back(child);
    }
  }
  std::ranges::sort(out, {}, [&](Node child) { return symbol(child); });
  return out;
}

RuleTable::Node RuleTable::node_of(RuleId rule) const {
  if (rule >= quick_rules_ && !settled()) return node_on_use(rule);
  return static_cast<Node>(std::ranges::upper_bound(first_rule_, rule) - first_rule_.begin() - 1);
}

Rule RuleTable::rule(RuleId id) const {
  if (const Rule* const patched = patched_rule(id)) return *patched;
  Rule out;
  out.lhs = lhs(id);
  for (Node node = node_of(id); node != 0; node = parent_[node]) out.source.push_back(symbol(node));
  std::ranges::reverse(out.source);
  out.target.assign(target(id).begin(), target(id).end());
  out.features.assign(features(id).begin(), features(id).end());
  out.sparse.assign(sparse_features(id).begin(), sparse_features(id).end());
  out.alignment.assign(alignment(id).begin(), alignment(id).end());
  out.labels.assign(rule_labels(id).begin(), rule_labels(id).end());
  out.structure.assign(structure(id).begin(), structure(id).end());
  return out;
}

void RuleTable::write(const std::string& path) const {
  if (patch_ != nullptr) throw std::invalid_argument("the table has corrections; expected one that is compiled");
  sections_->write(path);
}

RuleTable RuleTable::patched(std::shared_ptr<const TablePatch> patch) const {
  RuleTable out = *this;
  const auto add = [](TableSymbols& symbols, const Symbols* more) {
    symbols.more_ = more == nullptr || more->size() == 0 ? nullptr : more;
  };
  add(out.source_words_, patch == nullptr ? nullptr : &patch->source_words);
  add(out.target_words_, patch == nullptr ? nullptr : &patch->target_words);
  add(out.labels_, patch == nullptr ? nullptr : &patch->labels);
  add(out.feature_names_, patch == nullptr ? nullptr : &patch->feature_names);
  out.root_ = patch == nullptr ? 0 : static_cast<Node>(symbol_.size());
  out.patch_ = std::move(patch);
  return out;
}

std::size_t RuleTable::rules() const { return lhs_.size() + (patch_ == nullptr ? 0 : patch_->rules.size()); }
std::size_t RuleTable::nodes() const { return symbol_.size() + (patch_ == nullptr ? 0 : patch_->nodes.size()); }

Symbol RuleTable::symbol(Node node) const {
  if (!is_own(node)) return patch_->nodes[node - symbol_.size()].symbol;
  if (!is_quick(node) && !settled()) use_symbol(node);
  return symbol_[node];
}

bool RuleTable::is_hidden(Node node) const {
  return patch_ != nullptr && std::ranges::binary_search(patch_->hidden, node);
}

RuleTable::Node RuleTable::other_child(Node node, Symbol symbol) const {
  if (is_own(node)) return child_on_use(node, symbol);
  const auto number = static_cast<std::uint32_t>(node - symbol_.size());
  const std::uint32_t found = patch_->child(number, symbol);
  if (found != TablePatch::kNone) return static_cast<Node>(symbol_.size() + found);
  const Node own = patch_->nodes[number].own;
  return own == kNoNode ? kNoNode : own_child(own, symbol);
}

RuleTable::VariableChildren RuleTable::other_variables(Node node) const {
  if (is_own(node)) return variables_on_use(node);
  const TablePatch::Node& patched = patch_->nodes[node - symbol_.size()];
  const auto variable = [&](std::uint32_t child) { return is_nonterminal(patch_->nodes[child].symbol); };
  VariableChildren out = patched.own == kNoNode ? VariableChildren() : variables(patched.own);
  if (std::ranges::any_of(patched.children, variable)) out.patched = node;
  return out;
}

bool RuleTable::other_children(Node node) const {
  if (is_own(node)) {
    if (!settled()) use_node(node);
    return first_child_[node] != first_child_[node + 1];
  }
  const TablePatch::Node& patched = patch_->nodes[node - symbol_.size()];
  return !patched.children.empty() || (patched.own != kNoNode && has_children(patched.own));
}

RuleList RuleTable::other_rules(Node node) const {
  if (is_own(node)) {
    if (!settled()) use_rules(node);
    return {first_rule_[node], first_rule_[node + 1]};
  }
  const TablePatch::Node& patched = patch_->nodes[node - symbol_.size()];
  if (!patched.changed) return patched.own == kNoNode ? RuleList(0, 0) : rules_of(patched.own);
  return RuleList(std::span(patch_->lists).subspan(patched.first_rule, patched.end_rule - patched.first_rule));
}

const Rule* RuleTable::other_rule(RuleId rule) const {
  if (!is_own_rule(rule)) return &patch_->rules[rule - lhs_.size()];
  if (!settled()) use_rule(rule);
  return nullptr;
}

std::uint32_t TablePatch::make_child(const RuleTable& table, std::uint32_t node, Symbol symbol) {
  const auto next = static_cast<std::uint32_t>(nodes.size());
  const std::uint32_t found =
      index_.intern(hash(node, symbol), next, [&](std::uint32_t known) { return is(known, node, symbol); });
  if (found != next) return found;
  const RuleTable::Node above = nodes[node].own;
  const RuleTable::Node own = above == RuleTable::kNoNode ? above : table.own_child(above, symbol);
  nodes.push_back({own, node, symbol});
  nodes[node].children.push_back(next);
  return next;
}

RuleTable RuleTable::open(const std::string& path, Opening how) {
  constexpr std::uint64_t kWorthAThread = 1 << 20;  // bytes
  const auto sections = std::make_shared<const Sections>(Sections::map(path, kKind, kVersion, how));
  if (sections->opening() != Opening::verified) return RuleTable(sections);
  // Checksums and values, each on a thread of its own. A checksum that does not fit says more, so its error comes
  // first.
  const unsigned threads = sections->size() < kWorthAThread ? 1 : std::thread::hardware_concurrency();
  std::optional<RuleTable> table;
  const auto check = [&](std::size_t part) {
    if (part == 0) return sections->verify(), true;
    return table.emplace(RuleTable(sections)).check(), true;
  };
  ordered_map(2, threads, check, [](std::size_t, bool) {});
  return *std::move(table);
}

template <class T>
RuleTable::Lists<T> RuleTable::lists(const std::string& name) const {
  if (!sections_->has(name)) return {};
  const Lists<T> out = {sections_->unverified<std::uint32_t>(name + ".ends"), sections_->unverified<T>(name)};
  if (out.ends.size() != rules() + 1 || last_of(out.ends) != out.values.size())
    sections_->fail("is damaged: its sections do not fit together");
  return out;
}

RuleTable::RuleTable(std::shared_ptr<const Sections> sections)
    : sections_(std::move(sections)),
      source_words_(*sections_, "source"),
      target_words_(*sections_, "target"),
      labels_(*sections_, "labels"),
      feature_names_(*sections_, "features", true),  // the search numbers them by their texts
      symbol_(sections_->unverified<std::uint32_t>("trie.symbol")),
      first_child_(sections_->unverified<std::uint32_t>("trie.first_child")),
      first_rule_(sections_->unverified<std::uint32_t>("trie.first_rule")),
      parent_(sections_->unverified<std::uint32_t>("trie.parent")),
      lhs_(sections_->unverified<Symbol>("rule.lhs")),
      features_(sections_->unverified<float>("rule.features")),
      target_(lists<std::int32_t>("rule.target")),
      sparse_(lists<SparseFeature>("rule.sparse")),
      links_(lists<RuleLink>("rule.links")),
      rule_labels_(lists<Symbol>("rule.labels")),
      structure_(lists<std::int32_t>("rule.structure")) {
  const std::size_t nodes = symbol_.size();
  dense_ = lhs_.empty() ? 0 : features_.size() / lhs_.size();
  if (nodes == 0 || parent_.size() != nodes || first_child_.size() != nodes + 1 || first_rule_.size() != nodes + 1 ||
      last_of(first_child_) != nodes || last_of(first_rule_) != lhs_.size() ||
      features_.size() != lhs_.size() * dense_ || dense_ > feature_names_.size()) {
    sections_->fail("is damaged: its sections do not fit together");
  }
  if (sections_->on_use()) {
    watch();
  } else {
    quick_nodes_ = nodes;
    quick_rules_ = lhs_.size();
  }
}

}  // namespace treeglot
