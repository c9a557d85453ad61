// The first pass: the best parse through every state and span under the coarsest grammar, over the whole chart.
//
// Logarithms in floats, maximum for sum: nothing can underflow. A rule's best split is the maximum over two arrays that
// lie side by side in memory.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "parse/kept_states.h"
#include "parse/split_grammar.h"

namespace treeglot {

// Level 0 of a grammar, indexed for the pass.
class CoarseGrammar {
 public:
  explicit CoarseGrammar(const SplitGrammar& grammar);

  // Binary rules by two of their states: the maximum over splits is taken once for all rules that share both.
  struct Pair {
    std::uint32_t second;
    std::uint32_t first_rule;
  };
  struct Rule {
    std::uint32_t third;
    float score;
  };
  struct PairTable {
    std::vector<std::uint32_t> first_pair;  // states + 1 offsets, by the first state
    std::vector<Pair> pairs;                // and one more at the end
    std::vector<Rule> rules;
  };
  struct Step {
    std::uint32_t head, child;
    float score;
  };

  std::uint32_t states() const { return states_; }
  std::uint32_t root() const { return root_; }
  const PairTable& by_children() const { return by_children_; }  // left, right → head
  const PairTable& by_right() const { return by_right_; }        // head, right → left
  const PairTable& by_left() const { return by_left_; }          // head, left → right
  std::span<const Step> steps() const { return steps_; }         // best unary chains, of one step or more
  std::span<const std::pair<std::uint32_t, float>> tags(Symbol word) const {
    return std::span<const std::pair<std::uint32_t, float>>(tags_).subspan(first_tag_[word],
                                                                           first_tag_[word + 1] - first_tag_[word]);
  }

 private:
  std::uint32_t states_ = 0, root_ = 0;
  PairTable by_children_, by_right_, by_left_;
  std::vector<Step> steps_;
  std::vector<std::size_t> first_tag_;
  std::vector<std::pair<std::uint32_t, float>> tags_;
};

class CoarseChart {
 public:
  // Keeps the states whose best parse is worse than the best of all by `margin` at most (natural logarithms).
  // `kept` is complete when the outcome is `parsed`; `best` is then the best parse's log probability.
  Outcome run(const CoarseGrammar& grammar, std::span<const Symbol> words, double margin, const Limits& limits,
              KeptStates& kept, double& best);

 private:
  // For each end and state, an array over the other end of spans, defined from `low` up to `high`, without it.
  struct Rows {
    std::vector<float> values;
    std::vector<std::uint32_t> low, high;
    void reset(std::size_t ends, std::size_t states, std::size_t width);
    void put(std::size_t row, std::size_t width, std::uint32_t at, float value);
  };
  void store(Rows& by_begin, Rows& by_end, std::size_t i, std::size_t j, const std::vector<float>& cell) const;
  void combine(const CoarseGrammar::PairTable& table, const Rows& first, std::size_t first_end, const Rows& second,
               std::size_t second_end, std::uint32_t low, std::uint32_t high, float* out) const;
  void fill_inside(const CoarseGrammar& grammar, std::span<const Symbol> words, std::size_t i, std::size_t j,
                   std::vector<float>& cell) const;
  void prune(std::size_t i, std::size_t j, double least, std::vector<float>& outside,
             std::vector<std::uint32_t>& kept) const;

  std::size_t states_ = 0, width_ = 0;
  Rows by_begin_, by_end_;                  // inside
  Rows outside_by_begin_, outside_by_end_;  // outside, of the states that are kept
};

}  // namespace treeglot
