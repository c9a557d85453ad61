// Chart matching: every rule of a table on every span of a sentence.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "decode/best_matches.h"
#include "decode/matcher.h"
#include "rules/table.h"

namespace treeglot {

struct ChartOptions {
  std::uint32_t span_limit = 10;  // the widest span a rule may cover, the paper's distortion limit; above it only glue
  std::uint32_t label_limit = 0;  // labels kept on a span, those with the best estimates; 0: all
  std::uint32_t match_limit = 0;  // matches of source sides, likewise
  bool unknown_labels = false;    // what no rule translates fits variables with any label; otherwise X alone
};

// The label of what fits every variable of a rule with other symbols. Rules whose source side is one nonterminal do not
// apply to it: it already fits where their left-hand side would. No table has so many labels.
inline constexpr Symbol kAnyLabel = 0x7ffffffeu;

// Calls use(child) for each child of `node` that a nonterminal with this label leads to.
template <class Use>
void for_each_variable(const RuleTable& table, RuleTable::Node node, const RuleTable::VariableChildren& variables,
                       Symbol label, const Use& use) {
  if (label != kAnyLabel) {
    const RuleTable::Node child = table.child(variables, nonterminal(label));
    if (child != RuleTable::kNoNode) use(child);
  } else if (variables.patched == RuleTable::kNoNode) {
    for (RuleTable::Node child = variables.first; child < variables.last; ++child) use(child);
  } else {
    for (const RuleTable::Node child : table.variable_children(node)) use(child);
  }
}

// The rules X → Y whose source side is one nonterminal. They join nodes of one cell, so labels are ordered such that
// every Y comes before its X. Where they form a circle, the rules that would close it are left out.
struct UnaryRules {
  struct Arc {  // rules above → below, each a label
    Symbol below, above;
    std::size_t rules;
  };
  static std::vector<Arc> arcs_of(const RuleTable& table);

  explicit UnaryRules(const RuleTable& table) : UnaryRules(arcs_of(table), table.labels().size()) {}
  UnaryRules(const std::vector<Arc>& arcs, std::size_t labels);

  // Labels that the table does not have come first.
  std::uint32_t rank_of(Symbol label) const { return label < rank.size() ? rank[label] + 1 : 0; }

  std::vector<std::uint32_t> rank;  // by label
  std::size_t left_out = 0;         // rules
  bool any = false;
};

// Cells are finished for begins from right to left, and ends from left to right. So everything that a rule from i on
// can hold after its first symbol is already finished. A rule that begins with a nonterminal over [i, j) is followed as
// soon as that cell is finished. So partial matches live on the stack alone, without a dot chart (Sennrich 2014). A
// rule that begins with words costs nothing where those words are not.
//
// Words that no rule translates pass through as X, or fit any variable (`unknown_labels`). Sentences are S → X and S →
// S X with any label in place of X. What is virtual is what other decoders define otherwise.
class Chart {
 public:
  // All must outlive the chart.
  Chart(const RuleTable& table, const UnaryRules& unary, const ChartOptions& options, const Input& input,
        RuleCache& cache, Glue& glue);
  virtual ~Chart() = default;

  TranslationForest run();

 protected:
  struct Local {  // what a span has beside the rules' matches
    Symbol label;
    std::span<const Alternative> alternatives;
  };
  struct Item {  // what a cell of the chart holds for one label
    Symbol label;
    NodeId node;
  };

  virtual std::uint32_t reach() const { return std::min(length_, begin_ + limit_); }     // where rules from begin_ end
  virtual void pass_through(std::uint32_t word, bool matched, std::vector<Local>& out);  // one that begins at begin_
  virtual bool orders_labels() const { return unary_.any; }
  virtual void order_labels(std::vector<Symbol>& labels) { close(labels); }
  virtual void finish_cell(std::uint32_t end) { add_rules(end); }
  virtual bool is_glued(Symbol /*label*/) const { return true; }
  virtual void add_sentence();

  // Adds the labels that unary rules make of those given, and puts all in the order of these rules.
  void close(std::vector<Symbol>& labels);
  void add_rules(std::uint32_t end);
  NodeId node_for(std::uint32_t end, Symbol label) { return node_for(open(end), label); }
  // The rows are stored from the last word to the first, whose row may be longer.
  std::vector<Item>& cell(std::uint32_t begin, std::uint32_t end) {
    return cells_[static_cast<std::size_t>(length_ - 1 - begin) * (width_ + 1) + (end - begin)];
  }
  std::uint32_t widest(std::uint32_t begin) const { return begin == 0 ? first_width_ : width_; }
  // Also one that is wider than the others, of a translation that the input gives.
  std::vector<Item>& any_cell(std::uint32_t begin, std::uint32_t end) {
    return end - begin <= widest(begin) ? cell(begin, end) : wide_.at(begin);
  }
  // Calls use(begin) for each given translation that ends at `end` and is wider than the cells.
  template <class Use>
  void for_each_wide(std::uint32_t end, Use use) {
    for (const auto& [begin, items] : wide_)
      if (begun_[begin]->span.end == end) use(begin);
  }

  const RuleTable& table_;
  const UnaryRules& unary_;
  std::span<const std::string_view> words_;
  Glue& glue_;
  std::uint32_t length_ = 0, limit_ = 0, begin_ = 0;
  std::uint32_t width_ = 0;        // of the widest cells that rules use
  std::uint32_t first_width_ = 0;  // of those that begin the sentence
  Symbol x_ = 0;                   // the label of what is given or passes through
  Symbol unknown_ = 0;             // likewise, where the table has no rule: X, or one that fits every variable
  TranslationForestBuilder out_;
  NodeId goal_ = kNoNode;

 private:
  friend class LatticeWalk;

  // The cell that is being filled.
  struct OpenCell {
    Span span;
    std::vector<Item>& items;
  };
  // What the input gives an edge: the value of its feature, and the arcs of a lattice. A sentence gives nothing.
  struct Use {
    float value = 0;
    std::span<const EdgeId> arcs;
  };
  struct SentenceUse {
    static Use of(std::size_t /*found*/) { return {}; }
    static float score(std::size_t /*found*/) { return 0; }
  };
  // A source side found on a span: where its rules are, and the chart's node for each of its nonterminals.
  struct Match {
    RuleTable::Node node;
    std::uint32_t first_tail;
    std::uint32_t arity;
  };

  void extend(RuleTable::Node node, std::uint32_t at);
  void extend_by_word(RuleTable::Node node, std::uint32_t at);
  void extend_by_items(RuleTable::Node node, const RuleTable::VariableChildren& variables, std::span<const Item> items,
                       std::uint32_t end);
  std::span<const NodeId> tails_of(const Match& match) const {
    return std::span(match_tails_).subspan(match.first_tail, match.arity);
  }
  void add_given(const Constraint& given, std::vector<Local>& out);
  void add_glued(std::uint32_t middle, std::uint32_t end, const Item& item, std::vector<NodeId>& sentence);
  void add_goal(std::uint32_t end, NodeId sentence);
  OpenCell open(std::uint32_t end) { return {{begin_, end}, any_cell(begin_, end)}; }
  NodeId node_for(const OpenCell& cell, Symbol label);
  // Turns what was found in a cell into edges, one node for each left-hand side. `uses` knows what the input gives each
  // of the matches, and after them each of what is local.
  template <class Uses>
  void fill(const OpenCell& cell, std::span<const Match> matches, std::span<const Local> local, const Uses& uses);
  template <class Uses>
  void add_best(const OpenCell& cell, std::span<const Match> matches, std::span<const Local> local, const Uses& uses);
  void add_labels(const OpenCell& cell, std::span<const Match> matches, std::span<const Local> local);
  void add_unary(const OpenCell& cell);
  TranslationForest finish(std::optional<FeatureId> edge_feature = std::nullopt);

  const Lattice* lattice_;  // whose arcs have the words; nullptr: they are a sentence
  RuleCache& cache_;
  std::uint32_t reach_ = 0;
  std::vector<Symbol> symbols_;           // of the source words, in the table
  std::vector<const Constraint*> given_;  // by word: the one that is required of it
  std::vector<const Constraint*> begun_;  // by word: the one that begins there
  bool lenient_;
  std::vector<std::vector<Item>> cells_;
  std::map<std::uint32_t, std::vector<Item>> wide_;  // by their begin: cells of given translations above the width
  std::vector<NodeId> tails_;                        // of the partial match at hand
  std::vector<std::vector<Match>> matches_;          // of rules that begin at begin_, by their end
  std::vector<NodeId> match_tails_;
  BestMatches best_;
  std::vector<float> estimates_;  // by node, where there are limits
};

class ChartMatcher final : public Matcher {
 public:
  ChartMatcher(std::shared_ptr<const RuleTable> table, const ChartOptions& options)
      : table_(std::move(table)), options_(options), unary_(*table_) {}

  std::size_t left_out() const override { return unary_.left_out; }
  bool reads_lattices() const override { return true; }

  TranslationForest match(const Input& input, RuleCache& cache, Glue& glue) const override {
    return Chart(*table_, unary_, options_, input, cache, glue).run();
  }

 private:
  std::shared_ptr<const RuleTable> table_;
  ChartOptions options_;
  UnaryRules unary_;
};

template <class Uses>
void Chart::fill(const OpenCell& cell, std::span<const Match> matches, std::span<const Local> local, const Uses& uses) {
  if (best_.limited()) return add_best(cell, matches, local, uses);
  if (orders_labels()) add_labels(cell, matches, local);
  for (std::size_t i = 0; i < matches.size(); ++i) {
    const Use use = uses.of(i);
    for (const RuleCache::Group& group : cache_.at(matches[i].node))
      out_.add_edge(node_for(cell, group.lhs), tails_of(matches[i]), group.alternatives, kInside, use.value, use.arcs);
  }
  for (std::size_t i = 0; i < local.size(); ++i) {
    const Use use = uses.of(matches.size() + i);
    out_.add_edge(node_for(cell, local[i].label), {}, local[i].alternatives, kInside, use.value, use.arcs);
  }
  if (unary_.any) add_unary(cell);
}

// The same within limits.
template <class Uses>
void Chart::add_best(const OpenCell& cell, std::span<const Match> matches, std::span<const Local> local,
                     const Uses& uses) {
  best_.clear();
  for (std::uint32_t i = 0; i < matches.size(); ++i) {
    float below = uses.score(i);
    for (const NodeId tail : tails_of(matches[i])) below += estimates_[tail];
    for (const RuleCache::Group& group : cache_.at(matches[i].node))
      best_.propose(group.lhs, group.alternatives, tails_of(matches[i]), below, i);
  }
  for (std::size_t i = 0; i < local.size(); ++i) {
    const auto number = static_cast<std::uint32_t>(matches.size() + i);
    best_.propose(local[i].label, local[i].alternatives, {}, uses.score(number), number, lenient_);
  }
  best_.choose(table_, unary_, cache_);
  for (BestMatches::Label& label : best_.labels()) {
    label.node = node_for(cell, label.label);
    estimates_.resize(label.node + 1);
    estimates_[label.node] = label.estimate;
    out_.rank_node(label.node, label.rank);
  }
  for (const BestMatches::Match& match : best_.matches()) {
    const NodeId head = best_.find(match.lhs).node;
    if (match.below == Symbols::kNone) {
      const Use use = uses.of(match.number);
      out_.add_edge(head, match.tails, match.alternatives, kInside, use.value, use.arcs);
    } else {
      out_.add_edge(head, std::span(&best_.find(match.below).node, 1), match.alternatives, kInside);
    }
  }
}

}  // namespace treeglot
