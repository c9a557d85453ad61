// A model over windows, estimated as n-gram models are: interpolated modified Kneser-Ney.
#pragma once

#include <vector>

#include "lm/estimated_ngrams.h"
#include "lm/window_counts.h"

namespace treeglot {

struct WindowModel {
  EstimatedNgrams ngrams;
  std::vector<Discounts> discounts;  // of each order
};

// `predicted` says of each word of the vocabulary whether it can stand at the end of a window; <unk>, word 0, can. The
// probabilities of these words sum to 1 in every context, whether seen or not.
//
// The model is a usual back-off model. Its n-grams are those of the windows and their contexts; an n-gram that is only
// a context, and a special word that is not predicted, has the probability 0.
WindowModel estimate_windows(WindowTables tables, const Symbols& vocabulary, const std::vector<bool>& predicted,
                             const FallbackDiscounts& fallback);

}  // namespace treeglot
