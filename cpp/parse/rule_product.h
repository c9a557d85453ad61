// Several grammars' forests of one sentence as one: a product of experts over rules (Petrov 2010).
//
// Forests share only what trees show. A place is a label and a span, and a rule is a place above others. So the
// grammars may differ in sub-states, in how they make rules binary, and in what their labels remember.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "parse/kept_states.h"
#include "syntax/forest.h"

namespace treeglot {

// What one grammar believes: its pruned forest, whose edges score the logarithms of rules' posteriors. Also the same
// forest with conditional probabilities, if these are wanted.
struct Belief {
  ParseForest posteriors;
  std::optional<ParseForest> probabilities;

  std::size_t bytes() const;  // nearly all that it takes
};

struct ProductOptions {
  double missing = 10.0;  // no rule scores less than −missing under one grammar, and one that it lacks scores that
  double margin = 10.0;   // of edges below the best tree
  std::size_t most_edges = 500;
};

struct RuleProduct {
  ParseForest forest;
  Outcome outcome = Outcome::no_parse;
  std::size_t cut = 0;  // nodes that have more edges than stay, or more labels in a cycle of unary rules
};

// The forest of the trees whose rules each are in one of the beliefs, which have the same words and the same goal. No
// unary chain passes a label twice. An edge scores the mean over the grammars of its rule's scores: the best tree is
// that of the greatest product of posteriors. The edges whose best tree is within the margin stay.
//
// With probabilities, a rule's score under a grammar is its probability given its head. The probability of a tree is in
// proportion to the product of its rules' means. Edges score their conditional probabilities among the forest's trees.
RuleProduct multiply(std::span<const Belief> beliefs, const ProductOptions& options, const Limits& limits);

}  // namespace treeglot
