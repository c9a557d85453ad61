// The best tree, and the forest of good ones, by the max-rule criterion: the tree whose rules' posteriors have the
// greatest product (Petrov and Klein 2007). Nodes are labels without sub-states; parts of rules (@X) are taken out.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "parse/fine_chart.h"
#include "parse/split_grammar.h"
#include "syntax/forest.h"
#include "syntax/tree.h"

namespace treeglot {

// Groups of labels that reach each other by unary rules, each after those it reaches: the order of nodes over one span.
std::vector<std::uint32_t> unary_ranks(const SplitGrammar& grammar);

class MaxRule {
 public:
  // Takes the edges of the chart's last pass. Where its unary rules are chains already, a label and a span have two nodes:
  // what words and binary rules make there, and that or one unary rule above some other's. Otherwise, where unary rules
  // lead from a label back to itself, unary edges over a span stay as long as they close no cycle: those of the nodes'
  // best trees, then the others from the likeliest on. `ranks` are those of unary_ranks, `parts` those of the grammar.
  MaxRule(const SplitGrammar& grammar, std::span<const std::uint32_t> ranks, std::span<const std::uint8_t> parts,
          const FineChart& chart);

  // Whether there is any: posteriors too small for a double leave none.
  bool has_tree() const { return top_ != ChartEdge::kNone && best_edge_[top_] != ChartEdge::kNone; }
  // Sum of the logarithms of the best tree's posteriors.
  double best() const { return best_[top_]; }
  std::size_t left_out() const { return left_out_; }  // unary edges against the order

  // With `drop_root` without the root, if the tree has one node right below it that is no word.
  Tree tree(std::span<const std::string_view> words, bool drop_root) const;
  // The edges whose best tree is worse than the best of all by `margin` at most. An edge of several binary rules scores
  // the sum of theirs. With `probabilities`, the same edges with conditional log probabilities: those of its rules given
  // their heads, from the posteriors.
  // At most `most` edges of a node stay, the best; `cut` counts the nodes that have more.
  ParseForest forest(std::span<const std::string_view> words, double margin, std::size_t most, bool probabilities,
                     std::size_t& cut) const;

 private:
  struct Edge {
    std::uint32_t left = ChartEdge::kNone, right = ChartEdge::kNone;
    double score = 0.0;
  };
  struct Flat {  // an edge of a rule as the treebank had it
    std::vector<std::uint32_t> tails;
    double score = 0.0, conditional = 0.0;
  };
  void order_cell(std::uint32_t begin, std::uint32_t end, std::span<const std::uint32_t> ranks);
  void settle_best(std::uint32_t begin, std::uint32_t end, std::span<const std::uint32_t> ranks);
  void settle_layers(std::uint32_t begin, std::uint32_t end);
  double edge_best(const Edge& edge) const;
  // The edge leads from a node to that of the same label and span before unary rules: no edge of a tree.
  bool is_stay(std::uint32_t node, const Edge& edge) const {
    return node >= chart_nodes_ && edge.left + chart_nodes_ == node;
  }
  const ChartNode& at(std::uint32_t node) const { return nodes_[node < chart_nodes_ ? node : node - chart_nodes_]; }
  std::vector<double> outside() const;
  bool flatten(std::uint32_t head, double outside, double least, std::size_t most, std::span<const double> totals,
               std::vector<Flat>& out) const;

  const SplitGrammar& grammar_;
  std::span<const std::uint8_t> parts_;
  std::span<const ChartNode> nodes_;
  std::uint32_t chart_nodes_ = 0;  // with two layers, node n after unary rules is chart_nodes_ + n
  std::uint32_t top_ = 0;
  std::vector<std::uint32_t> first_edge_;  // nodes + 1 offsets
  std::vector<Edge> edges_;
  std::vector<double> best_;
  std::vector<std::uint32_t> best_edge_;
  std::vector<double> stays_;         // with two layers: log of the posterior of no unary rule above the node's
  std::vector<std::uint32_t> order_;  // nodes with a tree, each after those below it
  std::size_t left_out_ = 0;
};

}  // namespace treeglot
