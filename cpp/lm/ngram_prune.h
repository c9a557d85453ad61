// Entropy pruning of n-gram models (Stolcke 1998).
//
// An n-gram hw is left out if that changes the model's perplexity by less than a threshold. With α the back-off weight
// of h, and α′ that without hw, the change of the entropy is
//
//   D = −P(h) [ P(w|h) (log P(w|h′) + log α′ − log P(w|h)) + (log α′ − log α) Σ_{v not explicit after h} P(v|h) ]
//
// and that of the perplexity e^D − 1. Each n-gram is compared with the whole model. An n-gram that a longer one begins
// with stays. P(h) is the model's; for <s> it is that of </s>.
#pragma once

#include <cstdint>
#include <vector>

#include "lm/estimated_ngrams.h"
#include "lm/ngram.h"

namespace treeglot {

struct PrunedNgrams {
  EstimatedNgrams ngrams;
  std::vector<std::uint64_t> counted;  // n-grams before, by order
};

// Throws std::invalid_argument for a model over classes, and for a threshold below 0.
PrunedNgrams prune_ngrams(const NgramModel& model, double threshold);

}  // namespace treeglot
