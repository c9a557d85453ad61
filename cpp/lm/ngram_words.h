// The words of n-grams in few bytes, in the order in which they were given. The tables of a compiled model hold hashes;
// this list says of what.
//
// A word is written as its difference to the word at the same place of the n-gram before. Neighbours in a sorted list
// share most words. Differences alternate in sign (0, −1, 1, −2, …) and have 7 bits in a byte, low bits first.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "lm/ngram_table.h"

namespace treeglot {

class NgramWords {
 public:
  void append(std::span<const WordId> words) {
    if (bytes_.size() - size_ < 5 * words.size()) bytes_.resize(2 * bytes_.size() + 4096);
    std::uint8_t* at = bytes_.data() + size_;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const auto step = static_cast<std::int64_t>(words[i]) - static_cast<std::int64_t>(before_[i]);
      auto left = static_cast<std::uint64_t>(step * 2) ^ static_cast<std::uint64_t>(step >> 63);
      before_[i] = words[i];
      for (; left >= 0x80; left >>= 7) *at++ = static_cast<std::uint8_t>(left | 0x80);
      *at++ = static_cast<std::uint8_t>(left);
    }
    size_ = static_cast<std::size_t>(at - bytes_.data());
  }
  std::span<const std::uint8_t> bytes() const { return {bytes_.data(), size_}; }
  void drop(std::size_t first) {  // bytes that are kept elsewhere
    std::copy(bytes_.begin() + static_cast<std::ptrdiff_t>(first), bytes_.begin() + static_cast<std::ptrdiff_t>(size_),
              bytes_.begin());
    size_ -= first;
  }

  // The words of all n-grams, one after the other. Bytes that no n-grams make, or a word that is not below
  // `vocabulary`, are invalid_argument.
  static std::vector<WordId> read(std::span<const std::uint8_t> bytes, std::size_t order, std::size_t vocabulary) {
    std::vector<WordId> words;
    std::size_t place = 0;
    for (std::size_t at = 0; at < bytes.size(); ++place) {
      std::uint64_t value = 0;
      unsigned shift = 0;
      while (at < bytes.size() && shift < 35 && (bytes[at] & 0x80) != 0) {
        value |= static_cast<std::uint64_t>(bytes[at++] & 0x7f) << shift;
        shift += 7;
      }
      if (at == bytes.size() || shift == 35) throw std::invalid_argument("its list of n-grams is damaged");
      value |= static_cast<std::uint64_t>(bytes[at++]) << shift;
      const std::uint64_t before = place < order ? 0 : words[place - order];
      const std::uint64_t word = before + ((value >> 1) ^ (0 - (value & 1)));
      if (word >= vocabulary) throw std::invalid_argument("its list of n-grams has a word that it does not have");
      words.push_back(static_cast<WordId>(word));
    }
    if (place % order != 0) throw std::invalid_argument("its list of n-grams ends within one");
    return words;
  }

 private:
  static constexpr std::size_t kMaxWords = 9;

  std::array<WordId, kMaxWords> before_{};
  std::vector<std::uint8_t> bytes_;  // with room for more
  std::size_t size_ = 0;
};

}  // namespace treeglot
