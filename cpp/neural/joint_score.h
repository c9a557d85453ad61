// The scores of sentence pairs with links under a joint model.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "neural/joint_model.h"
#include "syntax/alignment.h"
#include "syntax/dependency.h"

namespace treeglot {

struct JointScores {
  std::vector<float> log_probabilities;  // of each target word and of the sentence's end; of a lexical model, below
  std::vector<double> log_sums;          // JointModel::log_sum at each, if asked for
};

// Adds the scores of one sentence pair, whose source is prepared. `normalise` subtracts log_sums, which makes them
// exact probabilities. All numbers and links are trusted.
void score_words(const JointModel& model, const JointModel::Rows& rows, std::span<const std::uint32_t> target,
                 std::span<const Link> links, bool normalise, JointScores& out);
// Those of a model over heads, for each word of a tree with as many words as the target.
void score_tree(const JointModel& model, const JointModel::Rows& rows, std::span<const std::uint32_t> target,
                std::span<const Link> links, const Dependency& tree, bool normalise, JointScores& out);
// Those of a lexical model: a score for each source word, given the number of its translation.
void score_translations(const JointModel& model, const JointModel::Rows& rows,
                        std::span<const std::uint32_t> translations, bool normalise, JointScores& out);

}  // namespace treeglot
