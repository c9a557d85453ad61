// Trees by the max-rule criterion: a tree is as good as the product of its rules' posteriors (Petrov and Klein 2007).
//
// The graph here has a node for a label and a span, sub-states summed out. So it holds more than the parses: trees
// whose rules are each in some parse, but not all in one. No parse is missing and all scores hold. So its best trees
// bound those of parse_packing.h, which drops the others.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "parse/fine_chart.h"
#include "parse/split_grammar.h"

namespace treeglot {

class MaxRule {
 public:
  static constexpr std::uint32_t kNone = ChartEdge::kNone;

  // Takes the edges of the chart's last pass. If its unary rules are chains already, a label and a span have two nodes.
  // One is what words and binary rules make there. The other is that, or one unary rule above some other node's. If
  // they are single steps, they may lead from a node back to itself.
  MaxRule(const SplitGrammar& grammar, const FineChart& chart);

  struct Edge {
    std::uint32_t left = kNone, right = kNone;  // a word's edge has neither, a unary one no right
    // Logarithm of the rule's posterior. Until the edge may matter, a bound that is quick to find and no smaller.
    double score = 0.0;
  };
  // Whether there is any tree: posteriors too small for a double leave none.
  bool has_tree() const { return top_ != kNone && best_[top_] > -std::numeric_limits<double>::infinity(); }
  std::uint32_t top() const { return top_; }
  std::size_t size() const { return best_.size(); }
  const ChartNode& at(std::uint32_t node) const { return nodes_[node < chart_nodes_ ? node : node - chart_nodes_]; }
  std::span<const Edge> edges(std::uint32_t node) const {
    return std::span(edges_).subspan(first_edge_[node], first_edge_[node + 1] - first_edge_[node]);
  }
  // The edge leads from a node to that of the same label and span before unary rules: no edge of a tree.
  bool is_stay(std::uint32_t node, const Edge& edge) const {
    return node >= chart_nodes_ && edge.left + chart_nodes_ == node;
  }
  double best(std::uint32_t node) const { return best_[node]; }
  // The score of the best tree with this edge on top.
  double best(const Edge& edge) const;
  // The logarithm of the rule's posterior.
  double score(const Edge& edge) const;
  // The logarithm of the posterior of an edge: its score, or if it stays, that of no unary rule above.
  double posterior(std::uint32_t node, const Edge& edge) const {
    return is_stay(node, edge) ? stays_[edge.left] : score(edge);
  }
  // The logarithm of the sum of all posteriors of a node.
  double total(std::uint32_t node) const;
  // Of each node the best of what is around it in a tree as good as `least`; −∞ where there is none. From then on, the
  // edges of such trees have exact scores.
  std::vector<double> outside(double least);
  // The nodes that are in a tree as good as `least`, span by span from the shortest.
  std::vector<std::vector<std::uint32_t>> cells(std::span<const double> outside, double least) const;

 private:
  std::vector<std::uint8_t> count_edges(const FineChart& chart, std::uint32_t above);
  double exact_best(std::uint32_t edge);
  void raise_by(std::uint32_t node, std::uint32_t edge);
  void settle_spans(bool layers);
  void settle_layers(std::uint32_t begin, std::uint32_t end);
  void settle_steps(std::uint32_t begin, std::uint32_t end);

  std::span<const ChartNode> nodes_;
  std::uint32_t chart_nodes_ = 0;  // with two layers, node n after unary rules is chart_nodes_ + n
  std::uint32_t top_ = kNone;
  std::vector<std::uint32_t> cells_;       // the first node of each span, by length, and the end
  std::vector<std::uint32_t> first_edge_;  // nodes + 1 offsets
  std::vector<Edge> edges_;
  std::vector<double> posteriors_;  // by edge: kExact where the score is exact
  std::vector<double> best_;
  std::vector<double> stays_;  // with two layers: log of the posterior of no unary rule above the node's
};

}  // namespace treeglot
