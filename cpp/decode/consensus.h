// What lists of translations agree on: minimum Bayes risk decoding, and the combination of several systems.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace treeglot {

// One translation of a list, with its model's score (natural log).
struct ScoredText {
  std::string text;
  double score = 0;
};

struct ConsensusOptions {
  std::uint32_t order = 4;  // of the longest n-grams that count
  double scale = 1;         // scores times this are log-probabilities, but for a constant
};

// The texts of one sentence's lists, each once, and how far the lists agree with each.
//
// A row has 1 + lists * (1 + order) values. The first is the text's number of words. Each list then has the text's
// probability there and, for n = 1, 2, …, the sum of its n-grams' probabilities. An n-gram that the text has twice
// counts twice. Its probability is that of the list's texts that have it (Tromble et al. 2008).
struct Agreement {
  std::vector<std::string> texts;  // in the order in which the lists have them
  std::vector<double> values;      // row by row

  static std::size_t width(std::size_t lists, std::uint32_t order) { return 1 + lists * (1 + std::size_t{order}); }
};

// Refuses scores and scales that are not finite, and orders other than 1 to 16.
Agreement agreement(std::span<const std::vector<ScoredText>> lists, const ConsensusOptions& options);

}  // namespace treeglot
