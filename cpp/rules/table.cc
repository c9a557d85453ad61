#include "rules/table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "base/error.h"

namespace treeglot {

Symbol MappedSymbols::find(std::string_view text) const {
  if (slots_.empty()) return Symbols::kNone;
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = hash_bytes(text) & mask;; slot = (slot + 1) & mask) {
    const Symbol symbol = slots_[slot];
    if (symbol == Symbols::kNone || this->text(symbol) == text) return symbol;
  }
}

RuleTable::Node RuleTable::child(Node node, Symbol symbol) const {
  const std::uint32_t* base = symbol_.data() + first_child_[node];
  std::size_t size = first_child_[node + 1] - first_child_[node];
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
  out.alignment.assign(alignment(id).begin(), alignment(id).end());
  return out;
}

namespace {

// The arrays of a vocabulary, as MappedSymbols reads them.
struct SymbolArrays {
  std::vector<std::uint32_t> ends, slots;
  std::vector<char> bytes;

  explicit SymbolArrays(const Symbols& symbols) {
    std::size_t size = 4;
    while (size < symbols.size() * 2) size *= 2;
    slots.assign(size, Symbols::kNone);
    for (Symbol symbol = 0; symbol < symbols.size(); ++symbol) {
      const std::string_view text = symbols.text(symbol);
      bytes.insert(bytes.end(), text.begin(), text.end());
      ends.push_back(static_cast<std::uint32_t>(bytes.size()));
      std::size_t slot = hash_bytes(text) & (size - 1);
      while (slots[slot] != Symbols::kNone) slot = (slot + 1) & (size - 1);
      slots[slot] = symbol;
    }
  }
  MappedSymbols view() const { return {ends, bytes, slots}; }
};

std::string text(std::size_t number) { return std::to_string(number); }

}  // namespace

struct RuleTableBuilder::Content {
  Symbols source_words, target_words, labels, feature_names;
  std::vector<Symbol> lhs, source;
  std::vector<std::uint64_t> source_ends = {0}, target_ends = {0}, link_ends = {0};
  std::vector<std::int32_t> target;
  std::vector<float> features;
  std::vector<RuleLink> links;
};

RuleTableBuilder::RuleTableBuilder(std::vector<std::string> feature_names) : content_(std::make_unique<Content>()) {
  for (const std::string& name : feature_names) {
    if (content_->feature_names.find(name) != Symbols::kNone)
      throw std::invalid_argument("the feature " + quoted(name) + " is named twice");
    content_->feature_names.intern(name);
  }
}
RuleTableBuilder::~RuleTableBuilder() = default;
RuleTableBuilder::RuleTableBuilder(RuleTableBuilder&&) noexcept = default;
RuleTableBuilder& RuleTableBuilder::operator=(RuleTableBuilder&&) noexcept = default;

Symbol RuleTableBuilder::source_word(std::string_view word) { return content_->source_words.intern(word); }
Symbol RuleTableBuilder::target_word(std::string_view word) { return content_->target_words.intern(word); }
Symbol RuleTableBuilder::label(std::string_view label) { return content_->labels.intern(label); }

void RuleTableBuilder::add(Symbol lhs, std::span<const Symbol> source, std::span<const std::int32_t> target,
                           std::span<const float> features, std::span<const RuleLink> alignment) {
  Content& c = *content_;
  if (source.empty()) throw std::invalid_argument("a rule needs a source side");
  const auto variables = static_cast<std::size_t>(std::ranges::count_if(source, is_nonterminal));
  std::size_t used = 0;
  for (std::size_t i = 0; i < target.size(); ++i) {
    if (target[i] >= 0) continue;
    const auto variable = static_cast<std::size_t>(-(static_cast<std::int64_t>(target[i]) + 1));
    if (variable >= variables) {
      throw std::invalid_argument("the target side uses variable " + text(variable + 1) + ", the source side has " +
                                  text(variables));
    }
    if (std::ranges::count(target.first(i), target[i]) > 0)
      throw std::invalid_argument("the target side uses variable " + text(variable + 1) + " twice");
    ++used;
  }
  if (used != variables) {
    throw std::invalid_argument("the source side has " + text(variables) + " variables, the target side uses " +
                                text(used));
  }
  if (features.size() != c.feature_names.size()) {
    throw std::invalid_argument("a rule with " + text(features.size()) + " features in a table with " +
                                text(c.feature_names.size()));
  }
  for (std::size_t f = 0; f < features.size(); ++f) {
    if (!std::isfinite(features[f])) {
      throw std::invalid_argument("feature " + quoted(c.feature_names.text(static_cast<Symbol>(f))) +
                                  " is not a finite number");
    }
  }
  for (const RuleLink link : alignment) {
    if (link.source >= source.size() || link.target >= target.size()) {
      throw std::invalid_argument("link " + text(link.source) + "-" + text(link.target) + " is outside a rule of " +
                                  text(source.size()) + " source and " + text(target.size()) + " target symbols");
    }
  }
  c.lhs.push_back(lhs);
  c.source.insert(c.source.end(), source.begin(), source.end());
  c.source_ends.push_back(c.source.size());
  c.target.insert(c.target.end(), target.begin(), target.end());
  c.target_ends.push_back(c.target.size());
  c.features.insert(c.features.end(), features.begin(), features.end());
  c.links.insert(c.links.end(), alignment.begin(), alignment.end());
  c.link_ends.push_back(c.links.size());
}

RuleTable RuleTableBuilder::finish() {
  struct Arrays {
    explicit Arrays(const Content& content)
        : source_words(content.source_words),
          target_words(content.target_words),
          labels(content.labels),
          feature_names(content.feature_names) {}
    SymbolArrays source_words, target_words, labels, feature_names;
    std::vector<std::uint32_t> symbol, first_child, first_rule, parent;
    std::vector<Symbol> lhs;
    std::vector<std::uint64_t> target_ends, link_ends;
    std::vector<std::int32_t> target;
    std::vector<float> features;
    std::vector<RuleLink> links;
  };
  const Content& c = *content_;
  if (c.lhs.size() >= std::numeric_limits<std::uint32_t>::max())
    throw std::length_error("a rule table holds fewer than 2^32 rules");
  auto arrays = std::make_shared<Arrays>(c);
  Arrays& a = *arrays;

  const auto source_of = [&](RuleId rule) {
    return std::span<const Symbol>(c.source).subspan(c.source_ends[rule], c.source_ends[rule + 1] - c.source_ends[rule]);
  };
  std::vector<RuleId> order(c.lhs.size());
  std::iota(order.begin(), order.end(), RuleId{0});
  std::ranges::sort(order, [&](RuleId x, RuleId y) {
    const auto sx = source_of(x), sy = source_of(y);
    const auto compared = std::lexicographical_compare_three_way(sx.begin(), sx.end(), sy.begin(), sy.end());
    if (compared != 0) return compared < 0;
    return c.lhs[x] != c.lhs[y] ? c.lhs[x] < c.lhs[y] : x < y;
  });

  // Breadth first: a node stands for the rules [begin, end) of `order` that share its `depth` first symbols. Rules
  // whose source side ends there come first among them.
  struct Range {
    std::uint32_t begin, end;
  };
  std::vector<Range> level = {{0, static_cast<std::uint32_t>(order.size())}};
  std::vector<RuleId> sorted;  // rules in the order of their nodes
  sorted.reserve(order.size());
  a.symbol.push_back(0);
  a.parent.push_back(0);
  std::size_t first_of_level = 0;
  for (std::size_t depth = 0; !level.empty(); ++depth) {
    std::vector<Range> next;
    for (std::size_t n = 0; n < level.size(); ++n) {
      auto [begin, end] = level[n];
      a.first_rule.push_back(static_cast<std::uint32_t>(sorted.size()));
      for (; begin < end && source_of(order[begin]).size() == depth; ++begin) sorted.push_back(order[begin]);
      a.first_child.push_back(static_cast<std::uint32_t>(a.symbol.size()));
      while (begin < end) {
        const Symbol symbol = source_of(order[begin])[depth];
        std::uint32_t last = begin + 1;
        while (last < end && source_of(order[last])[depth] == symbol) ++last;
        a.symbol.push_back(symbol);
        a.parent.push_back(static_cast<std::uint32_t>(first_of_level + n));
        next.push_back({begin, last});
        begin = last;
      }
    }
    first_of_level += level.size();
    level = std::move(next);
  }
  a.first_rule.push_back(static_cast<std::uint32_t>(sorted.size()));
  a.first_child.push_back(static_cast<std::uint32_t>(a.symbol.size()));

  const std::size_t width = c.feature_names.size();
  a.lhs.reserve(sorted.size());
  a.target.reserve(c.target.size());
  a.features.reserve(c.features.size());
  a.links.reserve(c.links.size());
  a.target_ends = {0};
  a.link_ends = {0};
  for (const RuleId rule : sorted) {
    a.lhs.push_back(c.lhs[rule]);
    const auto at = [](const auto& values, std::uint64_t i) { return values.begin() + static_cast<std::ptrdiff_t>(i); };
    a.target.insert(a.target.end(), at(c.target, c.target_ends[rule]), at(c.target, c.target_ends[rule + 1]));
    a.target_ends.push_back(a.target.size());
    a.features.insert(a.features.end(), at(c.features, rule * width), at(c.features, (rule + 1) * width));
    a.links.insert(a.links.end(), at(c.links, c.link_ends[rule]), at(c.links, c.link_ends[rule + 1]));
    a.link_ends.push_back(a.links.size());
  }

  RuleTable table;
  table.source_words_ = a.source_words.view();
  table.target_words_ = a.target_words.view();
  table.labels_ = a.labels.view();
  table.feature_names_ = a.feature_names.view();
  table.symbol_ = a.symbol;
  table.first_child_ = a.first_child;
  table.first_rule_ = a.first_rule;
  table.parent_ = a.parent;
  table.lhs_ = a.lhs;
  table.target_ends_ = a.target_ends;
  table.link_ends_ = a.link_ends;
  table.target_ = a.target;
  table.features_ = a.features;
  table.links_ = a.links;
  table.owner_ = std::move(arrays);
  content_ = std::make_unique<Content>();
  return table;
}

}  // namespace treeglot
