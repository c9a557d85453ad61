#include "rules/table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "base/error.h"

namespace treeglot {

namespace {

constexpr std::string_view kKind = "rules";
constexpr std::uint32_t kVersion = 1;

std::string text(std::size_t number) { return std::to_string(number); }

}  // namespace

MappedSymbols::MappedSymbols(const Sections& sections, const std::string& name)
    : ends_(sections.array<std::uint64_t>(name + ".ends")),
      bytes_(sections.array<char>(name + ".bytes")),
      slots_(sections.array<std::uint32_t>(name + ".slots")) {}

void MappedSymbols::add(Sections& sections, const std::string& name, const Symbols& symbols) {
  std::size_t size = 4;
  while (size < symbols.size() * 2) size *= 2;
  std::size_t length = 0;
  for (Symbol symbol = 0; symbol < symbols.size(); ++symbol) length += symbols.text(symbol).size();
  const auto ends = sections.add<std::uint64_t>(name + ".ends", symbols.size());
  const auto bytes = sections.add<char>(name + ".bytes", length);
  const auto slots = sections.add<std::uint32_t>(name + ".slots", size);
  std::ranges::fill(slots, Symbols::kNone);
  std::size_t at = 0;
  for (Symbol symbol = 0; symbol < symbols.size(); ++symbol) {
    const std::string_view word = symbols.text(symbol);
    std::ranges::copy(word, bytes.begin() + static_cast<std::ptrdiff_t>(at));
    ends[symbol] = at += word.size();
    std::size_t slot = hash_bytes(word) & (size - 1);
    while (slots[slot] != Symbols::kNone) slot = (slot + 1) & (size - 1);
    slots[slot] = symbol;
  }
}

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

RuleTable RuleTable::open(const std::string& path, bool verify) {
  return RuleTable(Sections::open(path, kKind, kVersion, verify));
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
      target_ends_(sections_->array<std::uint64_t>("rule.target_ends")),
      link_ends_(sections_->array<std::uint64_t>("rule.link_ends")),
      target_(sections_->array<std::int32_t>("rule.target")),
      features_(sections_->array<float>("rule.features")),
      links_(sections_->array<RuleLink>("rule.links")) {
  const std::size_t nodes = symbol_.size(), rules = lhs_.size();
  if (nodes == 0 || parent_.size() != nodes || first_child_.size() != nodes + 1 || first_rule_.size() != nodes + 1 ||
      first_child_.back() != nodes || first_rule_.back() != rules || target_ends_.size() != rules + 1 ||
      link_ends_.size() != rules + 1 || target_ends_.back() != target_.size() || link_ends_.back() != links_.size() ||
      features_.size() != rules * feature_names_.size()) {
    sections_->fail("is damaged: its sections do not fit together");
  }
}

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
  if (lhs >= c.labels.size()) throw std::invalid_argument("the left-hand side is a label that the table lacks");
  for (const Symbol symbol : source) {
    if (is_nonterminal(symbol) ? label_of(symbol) >= c.labels.size() : symbol >= c.source_words.size())
      throw std::invalid_argument("the source side has a word or label that the table lacks");
  }
  if (std::ranges::any_of(target, [&](std::int32_t symbol) {
        return symbol >= 0 && static_cast<std::size_t>(symbol) >= c.target_words.size();
      }))
    throw std::invalid_argument("the target side has a word that the table lacks");
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
  const Content& c = *content_;
  if (c.lhs.size() >= std::numeric_limits<std::uint32_t>::max())
    throw std::length_error("a rule table holds fewer than 2^32 rules");
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
  std::vector<std::uint32_t> symbol_of, parent, first_child, first_rule;
  symbol_of.push_back(0);
  parent.push_back(0);
  std::size_t first_of_level = 0;
  for (std::size_t depth = 0; !level.empty(); ++depth) {
    std::vector<Range> next;
    for (std::size_t n = 0; n < level.size(); ++n) {
      auto [begin, end] = level[n];
      first_rule.push_back(static_cast<std::uint32_t>(sorted.size()));
      for (; begin < end && source_of(order[begin]).size() == depth; ++begin) sorted.push_back(order[begin]);
      first_child.push_back(static_cast<std::uint32_t>(symbol_of.size()));
      while (begin < end) {
        const Symbol symbol = source_of(order[begin])[depth];
        std::uint32_t last = begin + 1;
        while (last < end && source_of(order[last])[depth] == symbol) ++last;
        symbol_of.push_back(symbol);
        parent.push_back(static_cast<std::uint32_t>(first_of_level + n));
        next.push_back({begin, last});
        begin = last;
      }
    }
    first_of_level += level.size();
    level = std::move(next);
  }
  first_rule.push_back(static_cast<std::uint32_t>(sorted.size()));
  first_child.push_back(static_cast<std::uint32_t>(symbol_of.size()));

  Sections out(kKind, kVersion);
  const auto keep = [&](const char* name, const std::vector<std::uint32_t>& values) {
    std::ranges::copy(values, out.add<std::uint32_t>(name, values.size()).begin());
  };
  MappedSymbols::add(out, "source", c.source_words);
  MappedSymbols::add(out, "target", c.target_words);
  MappedSymbols::add(out, "labels", c.labels);
  MappedSymbols::add(out, "features", c.feature_names);
  keep("trie.symbol", symbol_of);
  keep("trie.first_child", first_child);
  keep("trie.first_rule", first_rule);
  keep("trie.parent", parent);

  // The rules' own arrays, in the order of the trie.
  const auto lhs = out.add<Symbol>("rule.lhs", sorted.size());
  const auto target_ends = out.add<std::uint64_t>("rule.target_ends", sorted.size() + 1);
  const auto link_ends = out.add<std::uint64_t>("rule.link_ends", sorted.size() + 1);
  const auto target = out.add<std::int32_t>("rule.target", c.target.size());
  const auto features = out.add<float>("rule.features", c.features.size());
  const auto links = out.add<RuleLink>("rule.links", c.links.size());
  const auto move_run = [](const auto& from, std::uint64_t begin, std::uint64_t end, const auto& to, std::uint64_t at) {
    std::copy_n(from.data() + begin, end - begin, to.data() + at);
    return at + (end - begin);
  };
  const std::size_t width = c.feature_names.size();
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const RuleId rule = sorted[i];
    lhs[i] = c.lhs[rule];
    move_run(c.features, rule * width, (rule + 1) * width, features, i * width);
    target_ends[i + 1] = move_run(c.target, c.target_ends[rule], c.target_ends[rule + 1], target, target_ends[i]);
    link_ends[i + 1] = move_run(c.links, c.link_ends[rule], c.link_ends[rule + 1], links, link_ends[i]);
  }
  content_ = std::make_unique<Content>();
  return RuleTable(std::move(out));
}

}  // namespace treeglot
