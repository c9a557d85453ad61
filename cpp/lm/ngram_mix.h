// Linear interpolation of n-gram models into one back-off model (static mixing).
//
// The mixture has the n-grams of all models. Each has the probability Σ_k λ_k P_k(w | h). A model that lacks the n-gram
// backs off. A word that a model does not know has probability 0 there. Back-off weights follow from these
// probabilities. For n-grams that no model has, the result differs from the mixture of the models: it backs off with
// one common weight.
#pragma once

#include <span>

#include "lm/estimated_ngrams.h"
#include "lm/ngram.h"

namespace treeglot {

// Throws std::invalid_argument for models over classes, and for weights that are not one positive number for each.
EstimatedNgrams mix_ngrams(std::span<const NgramModel* const> models, std::span<const double> weights);

}  // namespace treeglot
