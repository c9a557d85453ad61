// Labelled brackets in common, as EVALB counts them, and the most that any tree of a forest has.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "syntax/forest.h"
#include "syntax/tree.h"

namespace treeglot {

// Statistics that add up over sentences.
struct BracketCounts {
  std::size_t matched = 0, gold = 0, test = 0;
  std::size_t exact = 0, sentences = 0;
  std::size_t right_tags = 0, words = 0;
  std::size_t missing = 0;  // sentences without a tree: nothing matched

  double precision() const { return test == 0 ? 0.0 : static_cast<double>(matched) / static_cast<double>(test); }
  double recall() const { return gold == 0 ? 0.0 : static_cast<double>(matched) / static_cast<double>(gold); }
  double f1() const {
    return gold + test == 0 ? 0.0 : 2.0 * static_cast<double>(matched) / static_cast<double>(gold + test);
  }
  BracketCounts& operator+=(const BracketCounts& other);
};

// What counts: a node above tags is a bracket unless its label is left out; a word whose gold tag is left out is none.
struct BracketOptions {
  std::vector<std::string> left_out;
  std::vector<std::pair<std::string, std::string>> equal;  // a label, and the one it is taken for
};

// Refuses trees over different numbers of words.
BracketCounts count_brackets(const Tree& gold, const Tree& test, const BracketOptions& options);
// Counts for the tree of the forest with the best F1 against `gold` (Huang 2008).
BracketCounts count_oracle(const Tree& gold, const ParseForest& forest, const BracketOptions& options);

}  // namespace treeglot
