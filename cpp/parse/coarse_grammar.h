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
  // The rules of a head with the same left child and right ones of one kind. They are those before `end`, from the end
  // of the group before.
  struct Group {
    std::uint32_t left, end;
    std::uint32_t kind;
    float best;  // of their scores
  };
  // The rules of a head.
  struct Rules {
    const Children* first;
    std::span<const Group> groups;  // ends are counted from `first`
    std::uint32_t states;           // of the grammar
  };
  struct Step {
    std::uint32_t state;  // the head of a step from a child, or the child of one from a head
    float score;
  };

  std::uint32_t states() const { return states_; }
  std::uint32_t root() const { return root_; }
  // States that binary rules make are of kind 1, others of kind 0: most of these are tags.
  static constexpr std::uint32_t kKinds = 2;
  std::uint32_t kind(std::uint32_t state) const { return kinds_[state]; }
  std::span<const Pair> pairs() const { return {pairs_.data(), pairs_.size() - 1}; }
  std::span<const Head> heads(const Pair& pair) const {  // `pair` is one of pairs()
    return {heads_.data() + pair.first_head, heads_.data() + (&pair)[1].first_head};
  }
  Rules rules(std::uint32_t head) const {
    return {children_.data() + first_children_[head],
            {groups_.data() + first_group_[head], groups_.data() + first_group_[head + 1]},
            states_};
  }
  // The best unary chains, of one step or more.
  std::span<const Step> steps_up(std::uint32_t child) const { return up_.of(child); }
  std::span<const Step> steps_down(std::uint32_t head) const { return down_.of(head); }
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
  void group_rules();
  void add_unary(const Level& level);
  void add_tags(const Level& level);

  std::uint32_t states_ = 0, root_ = 0;
  std::vector<std::uint8_t> kinds_;  // by state
  std::vector<Pair> pairs_;          // and one more at the end
  std::vector<Head> heads_;
  std::vector<std::uint32_t> first_children_;  // states + 1 offsets
  std::vector<Children> children_;
  std::vector<std::uint32_t> first_group_;  // states + 1 offsets
  std::vector<Group> groups_;
  Steps up_, down_;
  std::vector<std::size_t> first_tag_;
  std::vector<std::pair<std::uint32_t, float>> tags_;
};

}  // namespace treeglot
