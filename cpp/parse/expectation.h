// Expectation over sub-states of a treebank's trees: inside and outside along each tree, and counts of rules. Also what
// merging two halves of a state would cost.
#pragma once

#include <span>
#include <vector>

#include "parse/split_grammar.h"
#include "parse/treebank.h"

namespace treeglot {

// The rules of a treebank at one level; `scores` of rule r of a kind begin at `at[kind][r]`.
struct TrainingLevel {
  std::vector<std::uint32_t> states, first;  // as in Level
  std::vector<std::uint32_t> coarse;
  std::vector<std::size_t> at[3];
  std::vector<double> scores;

  std::uint32_t total_states() const { return first.back(); }
  // Of a rule's block.
  std::size_t size(const Treebank& bank, RuleKind kind, std::size_t rule) const;
  // Numbers the states and gives every rule its block; scores become 0.
  void lay_out(const Treebank& bank);
};

// Sums over trees.
struct Expectation {
  double log_likelihood = 0.0;
  std::vector<double> counts;  // laid out as scores
};

// Trees come in parts of a fixed number, so that any number of threads gives the same bytes. Counts are added up unless
// `counted` is false.
Expectation expect(const Treebank& bank, const TrainingLevel& level, unsigned threads, bool counted);

// The change of the log likelihood for each pair of states 2x, 2x + 1, if every node forgot which of the two it has.
// The states have the numbers of `level`, both of one label; `pairs` has the first. `share` has each state's part of
// its pair.
std::vector<double> merging_gains(const Treebank& bank, const TrainingLevel& level,
                                  std::span<const std::uint32_t> pairs, std::span<const double> share,
                                  unsigned threads);

}  // namespace treeglot
