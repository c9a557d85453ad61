#include "decode/match_chart.h"

#include <algorithm>
#include <stdexcept>

#include "base/error.h"
#include "decode/best_matches.h"

namespace treeglot {
namespace {

// A source side found on a span: where its rules are, and the chart's node for each of its nonterminals.
struct Match {
  RuleTable::Node node;
  std::uint32_t first_tail;
  std::uint32_t arity;
};

struct Local {  // what a span has beside the rules' matches
  Symbol label;
  std::span<const Alternative> alternatives;
};

struct PassedLabel {  // of words that pass through
  Symbol label;
  float value;
};

struct Item {  // what a cell of the chart holds for one label
  Symbol label;
  NodeId node;
};

// Cells are finished for begins from right to left, and ends from left to right: whatever a rule that begins at i can
// hold after its first symbol has been finished before, and a rule that begins with a nonterminal over [i, j) is
// followed as soon as that cell is. So partial matches live on the stack alone: no dot chart (Sennrich 2014), and a
// rule that begins with words costs nothing where those words are not.
class Chart {
 public:
  Chart(const RuleTable& table, const UnaryRules& unary, const ChartOptions& options,
        std::span<const std::string_view> words, std::span<const Constraint> constraints, RuleCache& cache, Glue& glue)
      : table_(table),
        unary_(unary),
        options_(options),
        words_(words),
        cache_(cache),
        glue_(glue),
        best_(options.label_limit, options.match_limit) {
    length_ = static_cast<std::uint32_t>(words.size());
    limit_ = std::max(options.span_limit, 1u);
    width_ = limit_;
    for (const Constraint& constraint : constraints) width_ = std::max(width_, constraint.span.size());
    if (!options.goal.empty()) sentence_ = table.labels().find(options.goal);
    width_ = shares_goal() || options.marked ? length_ : std::min(width_, length_);
    for (const std::string_view word : words) symbols_.push_back(table.source_words().find(word));
    given_.assign(length_, nullptr);
    for (const Constraint& constraint : constraints)
      for (std::uint32_t i = constraint.span.begin; i < constraint.span.end; ++i) given_[i] = &constraint;
    cells_.resize(static_cast<std::size_t>(length_) * (width_ + 1));
    matches_.resize(length_ + 1);
    // Where the table has no such label, one that no rule uses.
    const auto find = [&](std::string_view label) { return label_of(table.labels().find(label)); };
    for (const auto& [label, value] : options.passed) passed_.push_back({find(label), value});
    if (passed_.empty()) passed_.push_back({find("X"), 1.0f});
    x_ = passed_[0].label;
    glued_ = find(options.glued);
  }

  TranslationForest run() {
    const auto [first, last] = table_.nonterminal_children(RuleTable::kRoot);
    for (std::uint32_t begin = length_; begin-- > 0;) {
      begin_ = begin;
      tails_.clear();
      match_tails_.clear();
      for (auto& found : matches_) found.clear();
      if (given_[begin] == nullptr) extend_by_word(RuleTable::kRoot, begin);
      const std::uint32_t furthest = std::min(length_, begin + width_);
      for (std::uint32_t end = begin + 1; end <= furthest; ++end) {
        finish_cell(end);
        if (end < length_) extend_by_cell(first, last, begin, end);
      }
    }
    add_sentence();
    if (best_.labels_cut()) out_.note("more labels on a span than label_limit");
    if (best_.matches_cut()) out_.note("more matches on a span than match_limit");
    return out_.freeze(goal_);
  }

 private:
  std::vector<Item>& cell(std::uint32_t begin, std::uint32_t end) {
    return cells_[static_cast<std::size_t>(begin) * (width_ + 1) + (end - begin)];
  }

  // Follows the trie from `node`, which has matched [begin_, at).
  void extend(RuleTable::Node node, std::uint32_t at) {
    // (A source side that is one nonterminal is found here too, after its cell is finished: add_unary uses it.)
    if (table_.rules_begin(node) != table_.rules_end(node)) {
      matches_[at].push_back(
          {node, static_cast<std::uint32_t>(match_tails_.size()), static_cast<std::uint32_t>(tails_.size())});
      match_tails_.insert(match_tails_.end(), tails_.begin(), tails_.end());
    }
    if (at >= length_ || at - begin_ >= limit() || !table_.has_children(node)) return;
    extend_by_word(node, at);
    const auto [first, last] = table_.nonterminal_children(node);
    if (first == last) return;
    const std::uint32_t furthest = std::min(length_, begin_ + limit());
    for (std::uint32_t end = at + 1; end <= furthest; ++end) extend_by_cell(first, last, at, end);
  }

  void extend_by_word(RuleTable::Node node, std::uint32_t at) {
    if (symbols_[at] == Symbols::kNone || given_[at] != nullptr) return;
    const RuleTable::Node child = table_.child(node, symbols_[at]);
    if (child != RuleTable::kNoNode) extend(child, at + 1);
  }

  // With the labels of a cell, to those of the nodes [first, last) that they lead to.
  void extend_by_cell(RuleTable::Node first, RuleTable::Node last, std::uint32_t at, std::uint32_t end) {
    for (const Item& item : cell(at, end)) {
      const RuleTable::Node child = table_.child(first, last, nonterminal(item.label));
      if (child == RuleTable::kNoNode) continue;
      tails_.push_back(item.node);
      extend(child, end);
      tails_.pop_back();
    }
  }

  void finish_cell(std::uint32_t end) {
    add_rules(end);
    if (begin_ == 0 && shares_goal() && options_.glue) add_glue(end);
  }

  // Turns the matches on [begin_, end) into edges, one node for each left-hand side.
  void add_rules(std::uint32_t end) {
    const Constraint* given = given_[begin_];
    if (given != nullptr && given->span == Span{begin_, end}) {
      if (best_.limited()) {
        add_best(end, {{x_, glue_.given(given->translations)}});
        return;
      }
      if (orders_labels()) add_labels(end, std::span(passed_).first(1));
      out_.add_edge(node_for(end, x_), {}, glue_.given(given->translations), kInside);
      if (unary_.any) add_unary(end);
      return;
    }
    if (end - begin_ > limit()) return;
    const bool mark = options_.marked && (begin_ == 0 || end == length_);
    const bool passes = end == begin_ + 1 && given == nullptr && !mark &&
                        (options_.pass_through == PassThrough::all ||
                         (options_.pass_through == PassThrough::unknown && matches_[end].empty()));
    std::vector<Local> local;
    if (passes) {
      for (const auto& [label, value] : passed_)
        local.push_back({label, glue_.unknown(words_[begin_], options_.mark, value)});
    }
    if (best_.limited()) {
      add_best(end, local);
      return;
    }
    if (orders_labels()) add_labels(end, std::span(passed_).first(local.size()));
    for (const Match& match : matches_[end]) add_match(end, match);
    for (const auto& [label, alternatives] : local) out_.add_edge(node_for(end, label), {}, alternatives, kInside);
    if (unary_.any) add_unary(end);
  }

  void add_match(std::uint32_t end, const Match& match) {
    const auto tails = std::span<const NodeId>(match_tails_).subspan(match.first_tail, match.arity);
    for (const RuleCache::Group& group : cache_.at(match.node))
      out_.add_edge(node_for(end, group.lhs), tails, group.alternatives, kInside);
  }

  // The same within limits; `local` is what the span has beside the rules' matches.
  void add_best(std::uint32_t end, const std::vector<Local>& local) {
    best_.clear();
    for (const Match& match : matches_[end]) {
      const auto tails = std::span<const NodeId>(match_tails_).subspan(match.first_tail, match.arity);
      float below = 0;
      for (const NodeId tail : tails) below += estimates_[tail];
      for (const RuleCache::Group& group : cache_.at(match.node))
        best_.propose(group.lhs, group.alternatives, tails, below);
    }
    for (const auto& [label, alternatives] : local) best_.propose(label, alternatives, {}, 0);
    best_.choose(table_, unary_, cache_);
    for (BestMatches::Label& label : best_.labels()) {
      label.node = node_for(end, label.label);
      estimates_.resize(label.node + 1);
      estimates_[label.node] = label.estimate;
      out_.rank_node(label.node, label.rank);
    }
    for (const BestMatches::Match& match : best_.matches()) {
      const NodeId head = best_.find(match.lhs).node;
      if (match.below == Symbols::kNone) {
        out_.add_edge(head, match.tails, match.alternatives, kInside);
      } else {
        out_.add_edge(head, std::span(&best_.find(match.below).node, 1), match.alternatives, kInside);
      }
    }
  }

  bool orders_labels() const { return unary_.any || (begin_ == 0 && shares_goal()); }

  // Makes the nodes that the matches, what passes through or is given, glue, and the unary rules above them will need,
  // in the order of the unary rules.
  void add_labels(std::uint32_t end, std::span<const PassedLabel> passed) {
    std::vector<Symbol> labels;
    const auto note = [&](RuleTable::Node node) {
      for (const RuleCache::Group& group : cache_.at(node))
        if (std::ranges::find(labels, group.lhs) == labels.end()) labels.push_back(group.lhs);
    };
    for (const Match& match : matches_[end]) note(match.node);
    for (const PassedLabel& x : passed)
      if (std::ranges::find(labels, x.label) == labels.end()) labels.push_back(x.label);
    const bool begins = begin_ == 0 && shares_goal();
    if (begins && std::ranges::find(labels, sentence_) == labels.end()) labels.push_back(sentence_);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const RuleTable::Node node = table_.child(RuleTable::kRoot, nonterminal(labels[i]));
      if (node != RuleTable::kNoNode) note(node);
    }
    std::ranges::stable_sort(labels, {}, [&](Symbol label) { return unary_.rank_of(label); });
    if (begins && unary_.goal_last) {
      std::erase(labels, sentence_);
      labels.push_back(sentence_);
    }
    for (const Symbol label : labels) node_for(end, label);
  }

  void add_unary(std::uint32_t end) {
    for (const Item item : cell(begin_, end)) {
      const RuleTable::Node node = table_.child(RuleTable::kRoot, nonterminal(item.label));
      if (node == RuleTable::kNoNode) continue;
      for (const RuleCache::Group& group : cache_.at(node)) {
        const NodeId head = node_for(end, group.lhs);
        if (head > item.node) out_.add_edge(head, std::span(&item.node, 1), group.alternatives, kInside);
      }
    }
  }

  NodeId node_for(std::uint32_t end, Symbol label) {
    for (const Item& item : cell(begin_, end))
      if (item.label == label) return item.node;
    const NodeId node = out_.add_node({begin_, end}, label);
    cell(begin_, end).push_back({label, node});
    return node;
  }

  std::uint32_t limit() const { return options_.marked && begin_ == 0 ? length_ : limit_; }
  bool shares_goal() const { return sentence_ != Symbols::kNone; }
  bool is_glued(Symbol label) const { return options_.glued.empty() ? label != sentence_ : label == glued_; }

  // S → X and S → S X over [0, end), where S is a label that rules of the table may use, too.
  void add_glue(std::uint32_t end) {
    const NodeId head = node_for(end, sentence_);
    for (const Item& item : cell(0, end))
      if (is_glued(item.label)) out_.add_edge(head, std::span(&item.node, 1), glue_.first(), kInside);
    for (std::uint32_t middle = 1; middle < end; ++middle) {
      const auto left = std::ranges::find(cell(0, middle), sentence_, &Item::label);
      if (left == cell(0, middle).end()) continue;
      for (const Item& item : cell(middle, end)) {
        if (!is_glued(item.label)) continue;
        const NodeId tails[] = {left->node, item.node};
        out_.add_edge(head, tails, glue_.glue(), kInside);
      }
    }
  }

  // S → X, S → S X from the left, and the end of the sentence.
  void add_sentence() {
    if (shares_goal() || options_.marked) {
      goal_ = out_.add_node({0, length_}, Symbols::kNone);
      for (const Item& item : cell(0, length_))
        if (item.label == sentence_ || options_.goal.empty())
          out_.add_edge(goal_, std::span(&item.node, 1), glue_.end(), kBegins | kEnds);
      return;
    }
    std::vector<NodeId> sentence(length_ + 1, kNoNode);
    for (std::uint32_t end = 1; end <= length_ && options_.glue; ++end) {
      for (std::uint32_t middle = end - std::min(end, width_); middle < end; ++middle) {
        if (middle > 0 && sentence[middle] == kNoNode) continue;
        for (const Item& item : cell(middle, end)) {
          if (!is_glued(item.label)) continue;
          if (sentence[end] == kNoNode) sentence[end] = out_.add_node({0, end}, Symbols::kNone);
          if (middle == 0) {
            out_.add_edge(sentence[end], std::span(&item.node, 1), glue_.first(), kBegins);
          } else {
            const NodeId tails[] = {sentence[middle], item.node};
            out_.add_edge(sentence[end], tails, glue_.glue(), kInside);
          }
        }
      }
    }
    goal_ = out_.add_node({0, length_}, Symbols::kNone);
    if (sentence[length_] != kNoNode) out_.add_edge(goal_, std::span(&sentence[length_], 1), glue_.end(), kEnds);
  }

  const RuleTable& table_;
  const UnaryRules& unary_;
  const ChartOptions& options_;
  std::span<const std::string_view> words_;
  RuleCache& cache_;
  Glue& glue_;
  std::uint32_t length_ = 0, limit_ = 0, width_ = 0, begin_ = 0;
  Symbol x_ = 0, glued_ = 0;
  std::vector<PassedLabel> passed_;
  Symbol sentence_ = Symbols::kNone;      // the label of S; none: no rule of the table can use it
  std::vector<Symbol> symbols_;           // of the source words, in the table
  std::vector<const Constraint*> given_;  // by word
  std::vector<std::vector<Item>> cells_;
  std::vector<NodeId> tails_;                // of the partial match at hand
  std::vector<std::vector<Match>> matches_;  // of rules that begin at begin_, by their end
  std::vector<NodeId> match_tails_;
  BestMatches best_;
  std::vector<float> estimates_;  // by node, where there are limits

  TranslationForestBuilder out_;
  NodeId goal_ = kNoNode;
};

struct Arc {  // rules above → below, each a label
  Symbol below, above;
  std::size_t rules;
};

// Whether the rules lead from one label up to another.
bool leads_to(const std::vector<Arc>& arcs, Symbol from, Symbol to, std::size_t labels) {
  std::vector<std::uint8_t> seen(labels, 0);
  std::vector<Symbol> open = {from};
  while (!open.empty()) {
    const Symbol label = open.back();
    open.pop_back();
    for (const Arc& arc : arcs) {
      if (arc.below != label || seen[arc.above]) continue;
      if (arc.above == to) return true;
      seen[arc.above] = 1;
      open.push_back(arc.above);
    }
  }
  return false;
}

}  // namespace

UnaryRules::UnaryRules(const RuleTable& table, const ChartOptions& options) : rank(table.labels().size(), 0) {
  std::vector<Arc> arcs;
  const auto [first, last] = table.nonterminal_children(RuleTable::kRoot);
  for (RuleTable::Node node = first; node < last; ++node) {
    for (RuleId rule = table.rules_begin(node); rule < table.rules_end(node); ++rule) {
      const Arc arc = {label_of(table.symbol(node)), table.lhs(rule), 1};
      if (!arcs.empty() && arcs.back().below == arc.below && arcs.back().above == arc.above) {
        ++arcs.back().rules;
      } else {
        arcs.push_back(arc);
      }
    }
  }
  any = !arcs.empty();
  const Symbol goal = options.goal.empty() ? Symbols::kNone : table.labels().find(options.goal);
  if (options.glue && goal != Symbols::kNone) {  // S → X is one of them, and is never left out
    const Symbol glued = options.glued.empty() ? Symbols::kNone : table.labels().find(options.glued);
    goal_last = options.glued.empty() || leads_to(arcs, goal, glued, rank.size());
    if (!goal_last && glued != Symbols::kNone) arcs.push_back({glued, goal, 0});
    for (const Arc& arc : arcs)
      if (goal_last && arc.below == goal) left_out += arc.rules;
  }
  // Depth-first over "X above Y", on a stack of our own; an edge back into the path would close a circle.
  enum : std::uint8_t { kNew, kOnPath, kDone };
  std::vector<std::uint8_t> mark(rank.size(), kNew);
  auto next = static_cast<std::uint32_t>(rank.size());
  for (Symbol start = 0; start < rank.size(); ++start) {
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
      if (mark[arc.above] == kOnPath && !(goal_last && arc.below == goal)) left_out += arc.rules;
      if (mark[arc.above] != kNew) continue;
      mark[arc.above] = kOnPath;
      path.push_back({arc.above, 0});
    }
  }
}

ChartMatcher::ChartMatcher(std::shared_ptr<const RuleTable> table, const ChartOptions& options)
    : table_(std::move(table)), options_(options), unary_(*table_, options) {
  if (options.glue && !options.goal.empty() && options.goal == options.glued)
    throw std::invalid_argument("the label of sentences and the one that glue joins are both " + quoted(options.goal));
  if (!options.goal.empty() && (options.label_limit > 0 || options.match_limit > 0))
    throw std::invalid_argument("label_limit and match_limit are for tables without rules of whole sentences");
}

TranslationForest ChartMatcher::match(const Input& input, RuleCache& cache, Glue& glue) const {
  return Chart(*table_, unary_, options_, input.words, input.constraints, cache, glue).run();
}

}  // namespace treeglot
