// What has to be remembered of a piece of text to score what comes after it, or around it.
//
// States are plain bytes and equal states are equal bytes: unused places are zero, and numbers are kept as their bits,
// so that the compiler can tell. They are as short as the model allows: words that cannot change any later score are
// left out.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "lm/ngram_table.h"

namespace treeglot {

// A float as its bits.
struct FloatBits {
  std::uint32_t bits = 0;

  FloatBits() = default;
  FloatBits(float value) : bits(std::bit_cast<std::uint32_t>(value)) {}  // NOLINT: it is a float
  operator float() const { return std::bit_cast<float>(bits); }          // NOLINT
  friend bool operator==(FloatBits, FloatBits) = default;
};

// The last words of a text, newest first, and the backoffs of the n-grams that they are: backoff[i] is that of
// words[0..i]. The backoffs follow from the words; they are here so that they need not be looked up.
template <unsigned kContext>
struct NgramState {
  std::array<WordId, kContext> words{};
  std::array<FloatBits, kContext> backoff{};
  std::uint32_t length = 0;

  friend bool operator==(const NgramState&, const NgramState&) = default;
};

// A piece of text that may get neighbours on both sides (Li and Khudanpur 2008; Heafield 2011).
// `left`: its first words, oldest first, whose scores depend on what will stand before them; each begins the text up to
// it, is an n-gram of the model with the words before it, and prob[i] is that n-gram's. `full`: no word after those
// depends on what stands before the text. An empty text has no words and is not full.
template <unsigned kContext>
struct ChartState {
  std::array<WordId, kContext> left{};
  std::array<FloatBits, kContext> prob{};
  NgramState<kContext> right;
  std::uint16_t left_length = 0;
  std::uint16_t full = 0;

  friend bool operator==(const ChartState&, const ChartState&) = default;
};

static_assert(std::has_unique_object_representations_v<ChartState<4>>);
static_assert(std::has_unique_object_representations_v<ChartState<8>>);

}  // namespace treeglot
