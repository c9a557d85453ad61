// Stages that make a forest from a forest.
#pragma once

#include "syntax/forest.h"

namespace treeglot {

// Margins of relative pruning in natural log units: the c2d page prunes with 3 to train and with 10 to decode.
inline constexpr double kTrainingMargin = 3.0;
inline constexpr double kDecodingMargin = 10.0;

// Relative pruning (Huang 2008, after Graehl) of the scores as given: drops the edges whose best tree is worse than the
// best of all by more than `margin`, and the nodes that are in no tree then. The best tree always stays.
ParseForest prune(const ParseForest& forest, double margin);

// Conditional log probabilities: P(e) = p(e) / Σ p(e′) over the edges e′ into the same head, from posteriors as from
// arbitrary scores; conditional ones stay as they are.
ParseForest conditional(const ParseForest& forest);

}  // namespace treeglot
