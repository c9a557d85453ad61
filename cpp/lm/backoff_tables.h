// A back-off model as plain tables that can be changed: n-grams left out, probabilities replaced, weights computed
// anew.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/hash_index.h"
#include "base/symbols.h"
#include "lm/estimated_ngrams.h"
#include "lm/ngram.h"
#include "lm/ngram_rows.h"

namespace treeglot {

struct BackoffOrder {
  NgramList ngrams;
  std::vector<double> probability, backoff;
  HashIndex index;

  std::uint32_t find(std::span<const Symbol> words) const;  // or HashIndex::kNone
  void make_index();
};

// What is left for the words that do not follow a context explicitly: its own share, and that of these words in the
// order below. Their ratio is the back-off weight.
struct ContextMass {
  double own = 1, lower = 1;
  bool context = false;  // some n-gram continues it

  double backoff() const;
};

class BackoffTables {
 public:
  // The n-grams of a model. Throws std::invalid_argument for a model over classes.
  static BackoffTables of(const NgramModel& model);

  // <unk>, <s> and </s> are its first words.
  BackoffTables();
  Symbols vocabulary;
  std::vector<BackoffOrder> orders;

  // P(last word | the others).
  double probability(std::span<const Symbol> words) const;
  // By n-gram of order n − 1, from the n-grams of order n ≥ 2.
  std::vector<ContextMass> masses(std::size_t n) const;
  // Gives all contexts the weights with which probabilities sum to 1.
  void renormalise();

  EstimatedNgrams finish() &&;
};

// The words and n-grams of several models, in the order in which words first come and the order of words read
// backwards. `ids` gets, for each model, its number of each word, 0 where it does not know the word. Probabilities and
// back-off weights are not set.
BackoffTables unite(std::span<const NgramModel* const> models, std::vector<std::vector<WordId>>& ids);

}  // namespace treeglot
