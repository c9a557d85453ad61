#include "decode/match_chart.h"

#include <algorithm>

#include "decode/match_lattice.h"

namespace treeglot {

Chart::Chart(const RuleTable& table, const UnaryRules& unary, const ChartOptions& options, const Input& input,
             RuleCache& cache, Glue& glue)
    : table_(table),
      unary_(unary),
      words_(input.words),
      glue_(glue),
      length_(static_cast<std::uint32_t>(input.words.size())),
      limit_(std::max(options.span_limit, 1u)),
      width_(std::min(limit_, length_)),
      first_width_(width_),
      x_(label_of(table.labels().find("X"))),  // where the table has no such label, one that no rule uses
      unknown_(options.unknown_labels ? kAnyLabel : x_),
      lattice_(input.lattice),
      cache_(cache),
      given_(length_, nullptr),
      begun_(length_, nullptr),
      lenient_(input.lenient),
      matches_(length_ + 1),
      best_(options.label_limit, options.match_limit) {
  for (const std::string_view word : words_) symbols_.push_back(table.source_words().find(word));
  for (const Constraint& constraint : input.constraints) {
    begun_[constraint.span.begin] = &constraint;
    for (std::uint32_t i = constraint.span.begin; constraint.required && i < constraint.span.end; ++i)
      given_[i] = &constraint;
  }
}

TranslationForest Chart::run() {
  if (lattice_ != nullptr) return LatticeWalk(*this, *lattice_).run();
  limit_ = std::min(limit_, length_);
  if (length_ > 0) cells_.resize(static_cast<std::size_t>(length_ - 1) * (width_ + 1) + first_width_ + 1);
  const RuleTable::VariableChildren variables = table_.variables(table_.root());
  for (std::uint32_t begin = length_; begin-- > 0;) {
    begin_ = begin;
    reach_ = reach();
    tails_.clear();
    match_tails_.clear();
    const std::uint32_t last_matched = std::min(length_, begin + 1 + limit_);
    for (std::uint32_t end = begin + 1; end <= last_matched; ++end) matches_[end].clear();
    if (given_[begin] == nullptr) extend_by_word(table_.root(), begin);
    const std::uint32_t furthest = std::min(length_, begin + widest(begin));
    for (std::uint32_t end = begin + 1; end <= furthest; ++end) {
      finish_cell(end);
      if (end < length_) extend_by_items(table_.root(), variables, cell(begin, end), end);
    }
    if (const Constraint* const given = begun_[begin]; given != nullptr && given->span.end > furthest) {
      wide_[begin];
      finish_cell(given->span.end);
    }
  }
  add_sentence();
  return finish();
}

TranslationForest Chart::finish(std::optional<FeatureId> edge_feature) {
  if (best_.labels_cut()) out_.note("more labels on a span than label_limit");
  if (best_.matches_cut()) out_.note("more matches on a span than match_limit");
  return out_.freeze(goal_, edge_feature);
}

// Follows the trie from `node`, which has matched [begin_, at).
void Chart::extend(RuleTable::Node node, std::uint32_t at) {
  // (A source side that is one nonterminal is found here too, after its cell is finished: add_unary uses it.)
  if (!table_.rules_of(node).empty()) {
    matches_[at].push_back(
        {node, static_cast<std::uint32_t>(match_tails_.size()), static_cast<std::uint32_t>(tails_.size())});
    match_tails_.insert(match_tails_.end(), tails_.begin(), tails_.end());
  }
  if (at >= reach_ || !table_.has_children(node)) return;
  extend_by_word(node, at);
  const RuleTable::VariableChildren variables = table_.variables(node);
  if (variables.empty()) return;
  for (std::uint32_t end = at + 1; end <= std::min(reach_, at + width_); ++end)
    extend_by_items(node, variables, cell(at, end), end);
  if (reach_ <= at + width_) return;
  if (const auto wide = wide_.find(at); wide != wide_.end() && begun_[at]->span.end <= reach_)
    extend_by_items(node, variables, wide->second, begun_[at]->span.end);
}

void Chart::extend_by_word(RuleTable::Node node, std::uint32_t at) {
  if (symbols_[at] == Symbols::kNone || given_[at] != nullptr) return;
  const RuleTable::Node child = table_.child(node, symbols_[at]);
  if (child != RuleTable::kNoNode) extend(child, at + 1);
}

// With the labels of a cell that ends at `end`, to the children that they lead to.
void Chart::extend_by_items(RuleTable::Node node, const RuleTable::VariableChildren& variables,
                            std::span<const Item> items, std::uint32_t end) {
  for (const Item& item : items) {
    tails_.push_back(item.node);
    for_each_variable(table_, node, variables, item.label, [&](RuleTable::Node child) { extend(child, end); });
    tails_.pop_back();
  }
}

void Chart::pass_through(std::uint32_t word, bool matched, std::vector<Local>& out) {
  if (!matched) out.push_back({unknown_, glue_.unknown(words_[word])});
}

// A given translation is an X, and has the labels of the table's rules for the same words. Without such rules it is
// like an unknown word.
void Chart::add_given(const Constraint& given, std::vector<Local>& out) {
  const auto alternatives = glue_.given(given.translations, given.bonus);
  RuleTable::Node node = table_.root();
  for (std::uint32_t at = given.span.begin; at < given.span.end && node != RuleTable::kNoNode; ++at)
    node = symbols_[at] == Symbols::kNone ? RuleTable::kNoNode : table_.child(node, symbols_[at]);
  const bool has_rules = node != RuleTable::kNoNode && node != table_.root() && !table_.rules_of(node).empty();
  out.push_back({has_rules ? x_ : unknown_, alternatives});
  if (!has_rules) return;
  for (const RuleCache::Group& group : cache_.at(node))
    if (group.lhs != x_) out.push_back({group.lhs, alternatives});
}

// Turns the matches on [begin_, end) into edges, one node for each left-hand side.
void Chart::add_rules(std::uint32_t end) {
  std::vector<Local> local;
  const Constraint* const given = begun_[begin_];
  if (given != nullptr && given->span.end == end) {
    add_given(*given, local);
  } else if (end > reach_) {
    return;
  }
  if (given_[begin_] == nullptr && end == begin_ + 1) pass_through(begin_, !lenient_ && !matches_[end].empty(), local);
  fill(open(end), matches_[end], local, SentenceUse());
}

void Chart::close(std::vector<Symbol>& labels) {
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const RuleTable::Node node = table_.child(table_.root(), nonterminal(labels[i]));
    if (node == RuleTable::kNoNode) continue;
    for (const RuleCache::Group& group : cache_.at(node))
      if (std::ranges::find(labels, group.lhs) == labels.end()) labels.push_back(group.lhs);
  }
  std::ranges::stable_sort(labels, {}, [&](Symbol label) { return unary_.rank_of(label); });
}

// Makes the nodes that the matches, what passes through or is given, and the rules above them will need, in order.
void Chart::add_labels(const OpenCell& cell, std::span<const Match> matches, std::span<const Local> local) {
  std::vector<Symbol> labels;
  const auto note = [&](Symbol label) {
    if (std::ranges::find(labels, label) == labels.end()) labels.push_back(label);
  };
  for (const Match& match : matches)
    for (const RuleCache::Group& group : cache_.at(match.node)) note(group.lhs);
  for (const Local& one : local) note(one.label);
  order_labels(labels);
  for (const Symbol label : labels) node_for(cell, label);
}

void Chart::add_unary(const OpenCell& cell) {
  for (const Item item : cell.items) {
    const RuleTable::Node node = table_.child(table_.root(), nonterminal(item.label));
    if (node == RuleTable::kNoNode) continue;
    for (const RuleCache::Group& group : cache_.at(node)) {
      const NodeId head = node_for(cell, group.lhs);
      if (head > item.node) out_.add_edge(head, std::span(&item.node, 1), group.alternatives, kInside);
    }
  }
}

NodeId Chart::node_for(const OpenCell& cell, Symbol label) {
  for (const Item& item : cell.items)
    if (item.label == label) return item.node;
  cell.items.push_back({label, out_.add_node(cell.span, label)});
  return cell.items.back().node;
}

// S → X, S → S X from the left, and the end of the sentence.
void Chart::add_sentence() {
  std::vector<NodeId> sentence(length_ + 1, kNoNode);
  const auto join = [&](std::uint32_t middle, std::uint32_t end) {
    if (middle > 0 && sentence[middle] == kNoNode) return;
    for (const Item& item : any_cell(middle, end)) add_glued(middle, end, item, sentence);
  };
  for (std::uint32_t end = 1; end <= length_; ++end) {
    for_each_wide(end, [&](std::uint32_t begin) { join(begin, end); });
    for (std::uint32_t middle = end - std::min(end, width_); middle < end; ++middle) join(middle, end);
  }
  add_goal(length_, sentence[length_]);
}

// Puts an item of [middle, end) after the sentence before it; `sentence` has the nodes of S by their end.
void Chart::add_glued(std::uint32_t middle, std::uint32_t end, const Item& item, std::vector<NodeId>& sentence) {
  if (!is_glued(item.label)) return;
  if (sentence[end] == kNoNode) sentence[end] = out_.add_node({0, end}, Symbols::kNone);
  if (middle == 0) {
    out_.add_edge(sentence[end], std::span(&item.node, 1), glue_.first(), kBegins);
  } else {
    const NodeId tails[] = {sentence[middle], item.node};
    out_.add_edge(sentence[end], tails, glue_.glue(), kInside);
  }
}

void Chart::add_goal(std::uint32_t end, NodeId sentence) {
  goal_ = out_.add_node({0, end}, Symbols::kNone);
  if (sentence != kNoNode) out_.add_edge(goal_, std::span(&sentence, 1), glue_.end(), kEnds);
}

std::vector<UnaryRules::Arc> UnaryRules::arcs_of(const RuleTable& table) {
  std::vector<Arc> arcs;
  for (const RuleTable::Node node : table.variable_children(table.root())) {
    const RuleList rules = table.rules_of(node);
    for (std::size_t i = 0; i < rules.size(); ++i) {
      const Arc arc = {label_of(table.symbol(node)), table.lhs(rules[i]), 1};
      if (!arcs.empty() && arcs.back().below == arc.below && arcs.back().above == arc.above) {
        ++arcs.back().rules;
      } else {
        arcs.push_back(arc);
      }
    }
  }
  return arcs;
}

// Depth-first over "X above Y", on a stack of our own; an edge back into the path would close a cycle.
UnaryRules::UnaryRules(const std::vector<Arc>& arcs, std::size_t labels) : rank(labels, 0), any(!arcs.empty()) {
  enum : std::uint8_t { kNew, kOnPath, kDone };
  std::vector<std::uint8_t> mark(labels, kNew);
  auto next = static_cast<std::uint32_t>(labels);
  for (Symbol start = 0; start < labels; ++start) {
    if (mark[start] != kNew) continue;
    struct Frame {
      Symbol label;
      std::size_t arc;
    };
    std::vector<Frame> path = {{start, 0}};
    mark[start] = kOnPath;
    while (!path.empty()) {
      Frame& top = path.back();
      while (top.arc < arcs.size() && arcs[top.arc].below != top.label) ++top.arc;
      if (top.arc == arcs.size()) {
        mark[top.label] = kDone;
        rank[top.label] = --next;  // after everything above it: from the highest rank down
        path.pop_back();
        continue;
      }
      const Arc& arc = arcs[top.arc++];
      if (mark[arc.above] == kOnPath) left_out += arc.rules;
      if (mark[arc.above] != kNew) continue;
      mark[arc.above] = kOnPath;
      path.push_back({arc.above, 0});
    }
  }
}

}  // namespace treeglot
