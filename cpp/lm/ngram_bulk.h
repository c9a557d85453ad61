// Many queries at once: the texts are known, so what a query will touch is fetched while earlier ones are answered.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lm/ngram.h"

namespace treeglot {

struct TextOptions {
  bool begin = true;  // <s> stands before a text
  bool end = true;    // </s> is scored after it
};

struct WordScores {
  std::vector<float> log10;
  std::vector<std::uint8_t> length;  // of the n-grams found
};

// Texts as numbers: text t is ids[offsets[t]..offsets[t + 1]). All refuse numbers that are no words of the model.

// The score of each text. Summed in single precision from left to right, as KenLM does, so that the sums are equal.
std::vector<float> score_texts(const NgramModel& model, std::span<const WordId> ids,
                               std::span<const std::uint64_t> offsets, TextOptions options);

// The score of each word, in the order of the texts, each text's </s> last when it is scored.
WordScores score_words(const NgramModel& model, std::span<const WordId> ids, std::span<const std::uint64_t> offsets,
                       TextOptions options);

// For each row of `width` words, the score of its last word after the others.
std::vector<float> score_ngrams(const NgramModel& model, std::span<const WordId> rows, std::size_t width);

}  // namespace treeglot
