// Rest costs (Heafield, Koehn and Lavie 2012): what a word is likely to score when a context comes to stand before it.
//
// A text in the search does not know what will stand before it. The 1-gram of its first word is a poor estimate, since
// smoothing makes it for contexts without an n-gram alone. The rest cost of w is log10 of the sum over all words c of
// p(c) p(w | c), from the model's own 1-grams and 2-grams. Estimates order the search; scores stay as they are.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lm/ngram_table.h"

namespace treeglot {

class RestCosts {
 public:
  // `begin` and `end` are <s> and </s>: a sentence begins as often as it ends.
  RestCosts(std::span<const NgramValue> unigrams, WordId begin, WordId end);

  // Adds a 2-gram of the model. The order of 2-grams makes no difference.
  void add(WordId context, WordId word, float log10);
  std::vector<float> finish() const;  // by word

 private:
  // Sums are exact in these units, so that no order of adding can change them.
  static constexpr double kUnit = 1.0 / (std::uint64_t{1} << 52);

  std::vector<float> log10_;                   // of 1-grams
  std::vector<double> probability_, backoff_;  // of 1-grams
  std::vector<double> context_;                // how often a word stands before another
  std::vector<std::uint64_t> gained_;          // what 2-grams add to backing off; those of false models may wrap around
};

}  // namespace treeglot
