// Stages that make a forest from a forest.
#pragma once

#include <vector>

#include "syntax/forest.h"

namespace treeglot {

// Margins of relative pruning in natural log units: the c2d page prunes with 3 to train and with 10 to decode.
inline constexpr double kTrainingMargin = 3.0;
inline constexpr double kDecodingMargin = 10.0;

// Relative pruning (Huang 2008, after Graehl) of the scores as given. Drops the edges whose best tree is worse than the
// best of all by more than `margin`. Nodes that are then in no tree go, too. The best tree always stays.
ParseForest prune(const ParseForest& forest, double margin);

// By edge, conditional log probabilities: P(e) = p(e) / Σ p(e′) over the edges e′ into the same head. They come from
// posteriors or from arbitrary scores; conditional ones stay as they are.
std::vector<double> conditional_scores(const ParseForest& forest);
ParseForest conditional(const ParseForest& forest);

// Pruned by the scores as given, with the conditional probabilities of the forest as given. Dropped edges stay in the
// sums. So training and decoding, which prune differently, mean the same by P(e).
ParseForest prune_conditional(const ParseForest& forest, double margin);

}  // namespace treeglot
