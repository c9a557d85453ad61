// N-grams of one length as rows of words, sorted by their words read backwards.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/symbols.h"

namespace treeglot {

// Some n-grams of one length, words oldest first, in the order of their words read backwards.
struct NgramList {
  unsigned length = 1;
  std::vector<Symbol> words;  // `length` each

  std::size_t size() const { return words.size() / length; }
  std::span<const Symbol> operator[](std::size_t i) const { return {words.data() + i * length, length}; }
};

// The numbers of n-grams in the order of their words from the last one of [0, length) to the first; stable. All words
// are below `vocabulary`.
std::vector<std::uint32_t> sorted_backwards(const NgramList& list, unsigned length, std::size_t vocabulary);

// Whether `a` comes before `b`, read backwards.
bool before_backwards(std::span<const Symbol> a, std::span<const Symbol> b);

void append(NgramList& to, std::span<const Symbol> words);
// Whether an n-gram is not the one added last.
bool is_new(const NgramList& list, std::span<const Symbol> ngram);

}  // namespace treeglot
