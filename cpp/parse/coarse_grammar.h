// The coarsest level of a grammar, in logarithms and indexed for the first pass.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "parse/split_grammar.h"

namespace treeglot {

class CoarseGrammar {
 public:
  explicit CoarseGrammar(const SplitGrammar& grammar);

  // Binary rules by their children: the maximum over splits is taken once for all rules that share both.
  struct Head {
    std::uint32_t state;
    float score;
  };
  struct Pair {
    std::uint32_t left, right;
    std::uint32_t first_head;
  };
  struct Children {
    std::uint32_t left, right;
    float score;
  };
  struct Step {
    std::uint32_t state;  // the head of a step from a child, or the child of one from a head
    float score;
  };

  std::uint32_t states() const { return states_; }
  std::uint32_t root() const { return root_; }
  std::span<const Pair> pairs() const { return {pairs_.data(), pairs_.size() - 1}; }
  std::span<const Head> heads(const Pair& pair) const {  // `pair` is one of pairs()
    return {heads_.data() + pair.first_head, heads_.data() + (&pair)[1].first_head};
  }
  std::span<const Children> children(std::uint32_t head) const {
    return {children_.data() + first_children_[head], children_.data() + first_children_[head + 1]};
  }
  // The best unary chains, of one step or more.
  std::span<const Step> steps_up(std::uint32_t child) const { return up_.of(child); }
  std::span<const Step> steps_down(std::uint32_t head) const { return down_.of(head); }
  // By how much two steps in a row may be better than the one step that they make. It is next to 0 unless a grammar
  // says wrongly that its unary rules are chains, and infinite where that one step does not exist.
  float excess() const { return excess_; }
  std::span<const std::pair<std::uint32_t, float>> tags(Symbol word) const {
    return std::span<const std::pair<std::uint32_t, float>>(tags_).subspan(first_tag_[word],
                                                                           first_tag_[word + 1] - first_tag_[word]);
  }

 private:
  struct Steps {
    std::vector<std::uint32_t> first;  // states + 1 offsets
    std::vector<Step> steps;
    std::span<const Step> of(std::uint32_t state) const {
      return {steps.data() + first[state], steps.data() + first[state + 1]};
    }
  };
  void add_binary(const Level& level);
  void add_unary(const Level& level);
  void add_tags(const Level& level);

  std::uint32_t states_ = 0, root_ = 0;
  std::vector<Pair> pairs_;  // and one more at the end
  std::vector<Head> heads_;
  std::vector<std::uint32_t> first_children_;  // states + 1 offsets
  std::vector<Children> children_;
  Steps up_, down_;
  float excess_ = 0.0f;
  std::vector<std::size_t> first_tag_;
  std::vector<std::pair<std::uint32_t, float>> tags_;
};

}  // namespace treeglot
