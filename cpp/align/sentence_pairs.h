// Sentence pairs as numbers, to learn an aligner from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/exclusive.h"
#include "base/symbols.h"

namespace treeglot {

class SentencePairs : public Exclusive {
 public:
  // Pairs with an empty side, or one of more than `longest` words, keep their number but have no words.
  explicit SentencePairs(std::size_t longest) : longest_(longest) {}

  void append(std::span<const std::string_view> source, std::span<const std::string_view> target);

  void add_source_word(std::string_view word) { source_words_.intern(word); }
  void add_target_word(std::string_view word) { target_words_.intern(word); }

  std::size_t size() const { return source_begin_.size() - 1; }
  std::span<const Symbol> source(std::size_t pair) const { return slice(source_, source_begin_, pair); }
  std::span<const Symbol> target(std::size_t pair) const { return slice(target_, target_begin_, pair); }
  const Symbols& source_words() const { return source_words_; }
  const Symbols& target_words() const { return target_words_; }
  std::size_t source_tokens() const { return source_.size(); }
  std::size_t target_tokens() const { return target_.size(); }
  std::size_t empty() const { return empty_; }  // pairs with an empty side
  std::size_t long_pairs() const { return long_pairs_; }
  std::size_t used() const { return size() - empty_ - long_pairs_; }
  std::uint64_t checksum() const;  // of all that is learnt from

 private:
  static std::span<const Symbol> slice(const std::vector<Symbol>& words, const std::vector<std::uint64_t>& begin,
                                       std::size_t pair) {
    return std::span(words).subspan(begin[pair], begin[pair + 1] - begin[pair]);
  }

  std::size_t longest_, empty_ = 0, long_pairs_ = 0;
  Symbols source_words_, target_words_;
  std::vector<Symbol> source_, target_;
  std::vector<std::uint64_t> source_begin_ = {0}, target_begin_ = {0};
};

// A hash of values, byte by byte.
template <class T>
std::uint64_t hash_values(std::span<const T> values, std::uint64_t seed) {
  return hash_bytes({reinterpret_cast<const char*>(values.data()), values.size_bytes()}, seed);
}

// The words of a corpus seen in one direction: each of `words` is linked to one of `given`, or to none.
struct DirectedPair {
  std::span<const Symbol> given, words;
  const std::uint32_t* cells;  // the number of word pair (i, j) is at i * given_step + j * word_step
  std::size_t given_step, word_step;

  const std::uint32_t* column(std::size_t word) const { return cells + word * word_step; }
};

}  // namespace treeglot
