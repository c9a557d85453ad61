// A pass over the states that the pass before it kept: inside and outside sums under one level of a split grammar.
//
// Over every span a state has two inside values. One is of what a binary rule or a word makes there. The other adds
// chains of unary rules above it. Outside likewise. Values of a span are scaled such that the greatest inside is 1, and
// outside such that inside · outside is a posterior. The logarithms of the scales are kept, so no sentence is too long.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "parse/kept_states.h"
#include "parse/split_grammar.h"

namespace treeglot {

// One level of a grammar, indexed for the pass.
class FineGrammar {
 public:
  FineGrammar(const SplitGrammar& grammar, std::size_t level);

  struct HeadRule {
    Symbol head;
    std::uint32_t shape;  // of its block of scores, for the kernels of fine_chart.cc
    std::size_t at;
  };
  static constexpr std::size_t kNone = ~std::size_t{0};

  const Level& level() const { return *level_; }
  std::size_t labels() const { return labels_; }
  Symbol root() const { return root_; }
  // The binary rules of a left child, by their right children.
  class LeftRules {
   public:
    LeftRules(const std::uint32_t* first, std::size_t labels, const HeadRule* rules)
        : first_(first), number_(first[labels] - first[0]), rules_(rules) {}
    std::size_t number() const { return number_; }
    std::span<const HeadRule> of(Symbol right) const { return {rules_ + first_[right], rules_ + first_[right + 1]}; }

   private:
    const std::uint32_t* first_;
    std::size_t number_;
    const HeadRule* rules_;
  };
  LeftRules rules(Symbol left) const { return {first_rule_.data() + left * labels_, labels_, rules_.data()}; }
  const double* scores() const { return level_->scores.data(); }
  // The block of scores of the binary rule; null when there is none.
  const double* rule(Symbol head, Symbol left, Symbol right) const {
    for (const HeadRule& found : rules(left).of(right)) {
      if (found.head == head) return scores() + found.at;
    }
    return nullptr;
  }
  // The block of scores of the unary rule, and of all chains of one step or more; null when there are none.
  const double* step(Symbol head, Symbol child) const { return block(steps_, level_->scores, head, child); }
  const double* chains(Symbol head, Symbol child) const {
    return level_->closed ? step(head, child) : block(chains_, chain_scores_, head, child);
  }

 private:
  const double* block(const std::vector<std::size_t>& at, const std::vector<double>& scores, Symbol head,
                      Symbol child) const {
    const std::size_t found = at[head * labels_ + child];
    return found == kNone ? nullptr : scores.data() + found;
  }
  void sum_chains();

  const Level* level_;
  std::size_t labels_;
  Symbol root_;
  std::vector<std::uint32_t> first_rule_;  // labels² + 1 offsets
  std::vector<HeadRule> rules_;
  std::vector<std::size_t> steps_, chains_;  // labels² blocks
  std::vector<double> chain_scores_;
};

// A labelled span of the chart; its states' values are from `at` on.
struct ChartNode {
  Symbol label = 0;
  std::uint32_t begin = 0, end = 0;
  std::uint32_t at = 0;
};

// A rule of labels somewhere in the chart, and its posterior.
struct ChartEdge {
  static constexpr std::uint32_t kNone = 0xffffffffu;
  std::uint32_t head = 0, left = kNone, right = kNone;  // nodes; a word's edge has none below it, a unary one the left
  double posterior = 0.0;

  // Where unary rules are chains already: that none is above what words or binary rules make of `head`, which is
  // `left`.
  bool is_stay() const { return left == head; }
  bool is_unary() const { return left != kNone && right == kNone && left != head; }
};

class FineChart {
 public:
  // `kept` holds states of the level below, or of this one where it is the only level.
  Outcome run(const FineGrammar& grammar, std::span<const Symbol> words, const KeptStates& kept, const Limits& limits);

  double log_probability() const { return log_probability_; }
  bool closed() const { return grammar_->level().closed; }
  // The states whose posterior is e^-margin or more.
  void keep(const FineGrammar& grammar, double margin, KeptStates& kept) const;
  // Nodes by length of span, then its begin; every edge with a posterior above 0, in no order.
  std::span<const ChartNode> nodes() const { return nodes_; }
  std::uint32_t cell_begin(std::size_t i, std::size_t j) const { return first_node_[cell(i, j)]; }
  std::uint32_t cell_end(std::size_t i, std::size_t j) const { return last_node_[cell(i, j)]; }
  std::span<const ChartEdge> edges() const { return edges_; }
  const FineGrammar& grammar() const { return *grammar_; }  // of the last pass
  // Whether the state may stand there, by the passes before and by what is around it.
  bool is_open(const ChartNode& node, std::size_t state) const {
    return allowed_[node.at + state] > 0.0 && outside_[node.at + state] > 0.0;
  }
  // Whether the word or binary rules make the state.
  bool is_built(const ChartNode& node, std::size_t state) const { return below_[node.at + state] > 0.0; }

 private:
  std::size_t cell(std::size_t i, std::size_t j) const { return i * words_ + j - 1; }
  std::size_t bytes() const {  // nearly all that the chart takes
    return 5 * sizeof(double) * allowed_.size() + sizeof(ChartNode) * nodes_.size() +
           sizeof(ChartEdge) * edges_.size() + sizeof(Use) * used_;
  }
  void allow(const FineGrammar& grammar, const KeptStates& kept);
  bool inside_cell(const FineGrammar& grammar, std::size_t i, std::size_t j, Symbol word);
  // A binary rule between nodes.
  struct Use {
    std::size_t at;  // of the rule's scores
    std::uint32_t head, left, right, shape;
  };
  void note_uses(const FineGrammar& grammar, std::size_t left_cell, std::size_t right_cell);
  double inside_splits(const FineGrammar& grammar, std::size_t i, std::size_t j);
  void inside_chains(const FineGrammar& grammar, std::uint32_t begin, std::uint32_t end);
  void outside_chains(const FineGrammar& grammar, std::uint32_t begin, std::uint32_t end);
  void unary_edges(const FineGrammar& grammar, std::uint32_t head, std::uint32_t begin, std::uint32_t end);
  void outside_splits(const FineGrammar& grammar, std::size_t i, std::size_t j);
  void outside_cell(const FineGrammar& grammar, std::size_t i, std::size_t j);

  std::size_t words_ = 0;
  std::vector<ChartNode> nodes_;
  std::vector<std::uint32_t> first_node_, last_node_;               // by cell
  std::vector<double> scale_;                                       // by cell: logarithm; −∞ when nothing is there
  std::vector<double> allowed_, below_, inside_, outside_, above_;  // by state of a node
  std::vector<Use> uses_;  // those of a cell are side by side, by their splits; there is room for more
  std::size_t used_ = 0;   // how many there are
  std::vector<std::size_t> first_use_, last_use_;  // by cell
  std::vector<ChartEdge> edges_;
  std::vector<std::uint32_t> where_;  // label → its node in the cell at hand
  const FineGrammar* grammar_ = nullptr;
  double log_probability_ = 0.0;
};

}  // namespace treeglot
