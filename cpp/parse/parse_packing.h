// The parses of a sentence, packed: the best of them, and the forest of the good ones.
//
// Trees of one label over one span are apart where the grammar tells them apart. A node is known by the sub-states that
// derivations of its trees give their root: a bottom-up tree automaton made deterministic. Below unary rules that lead
// back to a label, it is also known by the labels that its chain of unary rules has passed. So a forest holds every
// parse once and nothing else. The exception are parses whose chains pass a label twice, for they have no end. Nodes
// that nothing above them tells apart are one again.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parse/fine_chart.h"
#include "parse/max_rule.h"
#include "parse/split_grammar.h"
#include "syntax/forest.h"
#include "syntax/tree.h"

namespace treeglot {

class ParsePacking {
 public:
  // The edges whose best parse is worse than the best of all by `margin` at most; of one node the best `most`. With
  // `probabilities` forests may have conditional log probabilities: those of an edge's rules given their heads, from
  // the posteriors. `parts` are those of the grammar.
  ParsePacking(const SplitGrammar& grammar, std::span<const std::uint8_t> parts, const FineChart& chart, double margin,
               std::size_t most, bool probabilities, const Limits& limits);

  // Posteriors too small for a double leave no tree. The same holds when time was up.
  bool has_tree() const { return top_ != kNone; }
  bool is_late() const { return is_late_; }
  // With `drop_root` without the root, if the tree has one node right below it that is no word.
  Tree tree(std::span<const std::string_view> words, bool drop_root) const;
  // With posteriors, or if they were asked for with conditional probabilities. `cut` counts the nodes that have more
  // edges or chains than stay, or are one because a place has too many.
  ParseForest forest(std::span<const std::string_view> words, ScoreKind kind, std::size_t& cut) const;

 private:
  static constexpr std::uint32_t kNone = MaxRule::kNone;
  using States = std::string;     // of each sub-state whether it is in the set, 1 or 0
  using Support = std::uint32_t;  // a set of sub-states, by number; 0 is the empty one

  struct Edge {
    std::vector<std::uint32_t> tails;  // nodes
    double score = 0.0, conditional = 0.0;
  };
  // Of a place, a node of the max-rule graph. First, edges are those of binary rules, with parts among the tails. Then
  // the edges of places that are no parts become edges of rules as the treebank had them.
  struct Node {
    std::uint32_t place = 0;
    Support support = 0;
    double best = 0.0;
    std::vector<Edge> edges;
    bool is_cut = false;
  };

  class Chains;
  void build(double least);
  void build_cell(std::span<const std::uint32_t> places);
  void build_chains(std::span<const std::uint32_t> places);
  std::vector<Node> join(std::uint32_t place, std::span<const std::uint32_t> chain);
  void join_parts(std::vector<Node>& out, std::uint32_t place, const MaxRule::Edge& edge, double conditional);
  void add_edge(std::vector<Node>& nodes, std::uint32_t place, Support support, Edge edge) const;
  std::vector<std::uint32_t> finish(std::vector<Node> nodes);
  void flatten(Node& node);
  void unite_bindings(std::vector<Node>& nodes);
  void limit(std::vector<Node>& nodes);
  std::span<const std::uint32_t> found(std::uint32_t place);
  void unite_below_root();
  std::vector<std::uint8_t> reached_nodes() const;
  void merge_alike();
  void move_edges(const std::vector<std::uint32_t>& merged);
  void merge_edges(Node& node, const std::vector<std::uint32_t>& merged) const;
  void prune(double margin);
  bool time_is_up() { return is_late_ = is_late_ || limits_.late(); }
  double edge_best(const Edge& edge) const;
  Support support(std::uint32_t place, const MaxRule::Edge& edge, Support left, Support right);
  Support united(Support a, Support b);
  Support intern(const States& states);
  bool is_part(std::uint32_t place) const { return parts_[graph_.at(place).label] != 0; }

  const SplitGrammar& grammar_;
  std::span<const std::uint8_t> parts_;
  const FineChart& chart_;
  MaxRule graph_;
  std::size_t most_;
  bool probabilities_;
  const Limits& limits_;
  bool is_late_ = false;
  double least_ = 0.0;
  std::vector<double> outside_;                    // by place
  std::vector<std::vector<Node>> joined_;          // a place's nodes as binary rules make them
  std::vector<std::vector<std::uint32_t>> found_;  // a place's nodes as all rules but those of its chains have them
  std::vector<Node> nodes_;                        // each after those below it
  std::vector<States> supports_;
  std::map<States, Support> numbers_;
  std::uint32_t top_ = kNone;
};

}  // namespace treeglot
