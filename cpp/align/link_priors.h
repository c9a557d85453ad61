// What is known of word pairs before any text is seen: pseudo-counts of links, numbered as the corpus's cells.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "align/cells.h"

namespace treeglot {

class Aligner;

// A word pair of a lexicon, and as how many links it counts.
struct LexiconEntry {
  std::string source, target;
  double weight;
};

struct LinkPriorOptions {
  double cognates = 0;  // links that a pair of identical words counts as
  double stems = 0;     // likewise, of words whose stems are always linked
  int stem_letters = 4;
};

// How similar two words are, from 0 to 1. Equal words have 1. Others have the length of their longest common
// subsequence, divided by the length of the longer word (Melamed 1999). Values below 0.7, and words of less than four
// characters, have 0. The case of ASCII letters does not matter.
double cognate_similarity(std::string_view source, std::string_view target);

// Pseudo-counts of links in both directions.
using LinkPriors = std::array<std::vector<float>, 2>;

// Cells in which all word pairs with priors have numbers. `before`, if any, is an aligner that is updated, `stems` one
// of the corpus's stems. `stop` ends the work early.
Cells make_cells(const SentencePairs& pairs, const Aligner* before, const std::vector<LexiconEntry>& lexicon,
                 const LinkPriorOptions& options, const Aligner* stems, const std::atomic<bool>& stop);

// The priors of all numbers.
LinkPriors make_priors(const Cells& cells, const Aligner* before, const std::vector<LexiconEntry>& lexicon,
                       const LinkPriorOptions& options, const Aligner* stems);

// The corpus with each word cut to its first characters.
SentencePairs stemmed(const SentencePairs& pairs, int letters);
std::string_view stem(std::string_view word, int letters);

}  // namespace treeglot
