// A plain PCFG, read off trees, and its exact forests: every parse of a sentence, unpruned.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "base/symbols.h"
#include "syntax/forest.h"
#include "syntax/tree.h"

namespace treeglot {

class Pcfg {
 public:
  // The productions of `trees`, with their relative frequencies. A production that only `others` have counts `unseen`
  // (more than 0) times: so the forests of held-out sentences hold their trees, though nothing is counted in them.
  // Refuses trees with different root labels, words beside other children, and cycles of unary rules (such a grammar
  // has sentences with infinitely many parses).
  Pcfg(std::span<const Tree* const> trees, std::span<const Tree* const> others, double unseen);

  // All parses; an edge's score is the logarithm of its rule's probability. A sentence without one is an unparsed
  // forest.
  ParseForest forest(std::span<const std::string_view> words) const;

  struct Rule {
    Symbol head = 0;
    std::vector<Symbol> body;  // labels, or one word
    bool lexical = false;
    double count = 0.0;
    double logprob = 0.0;
  };
  std::span<const Rule> rules() const { return rules_; }  // in the order of their first occurrence
  std::string_view label(Symbol symbol) const { return labels_.text(symbol); }
  std::string_view word(Symbol symbol) const { return words_.text(symbol); }

 private:
  friend class Chart;
  static constexpr std::uint32_t kNoState = 0xffffffffu;

  void estimate();
  void index();
  void rank_labels();

  Symbols labels_, words_;
  Symbol root_ = Symbols::kNone;
  std::vector<Rule> rules_;

  // The bodies of all rules that are not lexical as one trie; state 0 stands before their first label.
  struct State {
    std::uint32_t parent = kNoState;
    Symbol last = 0;                      // the label between parent and this state
    std::vector<std::uint32_t> complete;  // rules that end here
  };
  std::vector<State> states_;
  std::vector<std::uint32_t> next_;                                            // states × labels → state
  std::vector<std::vector<std::uint32_t>> tags_;                               // word → its lexical rules
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> by_head_;  // label → (rule, state of its end)
  std::vector<Symbol> bottom_up_;  // labels, each after those it reaches by unary rules
};

}  // namespace treeglot
