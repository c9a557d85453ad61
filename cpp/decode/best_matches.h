// The matches with the best estimates among those that rules find on one span. With thousands of labels that must
// match, a span has more nodes and matches than a search could use.
//
// The estimate of a match sums its best rule, what stateful features expect of that rule, and its tails' best
// estimates. It is the score of a derivation, except for what depends on how its rules are combined.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/symbols.h"
#include "decode/rule_cache.h"
#include "decode/translation_forest.h"
#include "rules/table.h"

namespace treeglot {

struct UnaryRules;

class BestMatches {
 public:
  struct Label {
    Symbol label;
    float estimate;
    std::uint32_t rank;     // 0: the best
    NodeId node = kNoNode;  // for the caller's use
  };
  struct Match {
    float estimate;
    Symbol lhs;
    std::span<const Alternative> alternatives;
    std::span<const NodeId> tails;
    std::uint32_t number = 0;       // the caller's, of one that it proposed
    Symbol below = Symbols::kNone;  // of a unary rule: the label that it stands on, in place of tails
    bool always = false;            // whatever the limits are
  };

  // Keeps at most so many labels and matches. 0 means all.
  BestMatches(std::uint32_t labels, std::uint32_t matches) : most_labels_(labels), most_matches_(matches) {}

  bool limited() const { return most_labels_ > 0 || most_matches_ > 0; }

  void clear();
  // Proposes a match. `tails` must stay in place until `choose`; their estimates add up to `below`. No limit drops a
  // match that is needed `always`.
  void propose(Symbol lhs, std::span<const Alternative> alternatives, std::span<const NodeId> tails, float below,
               std::uint32_t number, bool always = false);
  // Takes matches best first. Those of unary rules are proposed when the label below them is taken, so whatever is kept
  // has a derivation.
  void choose(const RuleTable& table, const UnaryRules& unary, RuleCache& cache);

  std::span<Label> labels() { return labels_; }                // in the order of the unary rules
  std::span<const Match> matches() const { return matches_; }  // best first
  Label& find(Symbol label);
  // Whether a limit has dropped anything so far, on any span.
  bool labels_cut() const { return labels_cut_; }
  bool matches_cut() const { return matches_cut_; }

 private:
  // A proposal by its number: of two with the same estimate the first is better.
  struct Ranked {
    float estimate;
    std::uint32_t number;
    friend bool operator<(const Ranked& a, const Ranked& b) {
      return a.estimate != b.estimate ? a.estimate < b.estimate : a.number > b.number;
    }
  };

  bool take(const Match& match);

  std::uint32_t most_labels_, most_matches_;
  std::vector<Match> proposed_;
  std::vector<Ranked> queue_;  // those to choose from, a heap: it moves less than one of matches would
  std::vector<Match> matches_;
  std::vector<Label> labels_;
  bool labels_cut_ = false, matches_cut_ = false;
};

}  // namespace treeglot
