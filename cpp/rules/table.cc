#include "rules/table.h"

#include <algorithm>
#include <optional>
#include <thread>

#include "base/thread_pool.h"

namespace treeglot {
namespace {

constexpr std::uint64_t kWorthAThread = 1 << 20;  // bytes

}  // namespace

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
  const auto sections = std::make_shared<const Sections>(Sections::map(path, kKind, kVersion, !verify));
  if (!verify) return RuleTable(sections);
  // Checksums and values, each on a thread of its own. A checksum that does not fit says more, so its error comes
  // first.
  const unsigned threads = sections->size() < kWorthAThread ? 1 : std::thread::hardware_concurrency();
  std::optional<RuleTable> table;
  const auto check = [&](std::size_t part) {
    if (part == 0) return sections->verify(), true;
    return table.emplace(RuleTable(sections)), true;
  };
  ordered_map(2, threads, check, [](std::size_t, bool) {});
  return *std::move(table);
}

template <class T>
RuleTable::Lists<T> RuleTable::lists(const std::string& name) const {
  if (!sections_->has(name)) return {};
  const Lists<T> out = {sections_->array<std::uint32_t>(name + ".ends"), sections_->array<T>(name)};
  if (out.ends.size() != rules() + 1 || out.ends.back() != out.values.size())
    sections_->fail("is damaged: its sections do not fit together");
  return out;
}

RuleTable::RuleTable(std::shared_ptr<const Sections> sections)
    : sections_(std::move(sections)),
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

}  // namespace treeglot
