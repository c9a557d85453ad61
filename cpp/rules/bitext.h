// Aligned sentence pairs as numbers: what extractors of string pairs read, and what the words of a rule's code mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/exclusive.h"
#include "base/strings.h"
#include "base/symbols.h"
#include "syntax/alignment.h"

namespace treeglot {

class Bitext {
 public:
  std::size_t size() const { return link_ends_.size() - 1; }  // pairs
  std::span<const Symbol> source(std::size_t pair) const { return slice(source_, source_ends_, pair); }
  std::span<const Symbol> target(std::size_t pair) const { return slice(target_, target_ends_, pair); }
  std::span<const Link> links(std::size_t pair) const { return slice(links_, link_ends_, pair); }
  // Of the links, above 0 and at most 1; empty if no pair has any: all are 1.
  std::span<const float> weights(std::size_t pair) const {
    return weights_.empty() ? std::span<const float>() : slice(weights_, link_ends_, pair);
  }
  // By number: the most frequent first, equally frequent ones in the order of their bytes.
  const Strings& source_words() const { return source_words_; }
  const Strings& target_words() const { return target_words_; }

  // Refuses a number of `what`, such as trees, that is not the number of pairs.
  void check_size(std::size_t found, std::string_view what) const;

 private:
  friend class BitextBuilder;
  template <class T>
  static std::span<const T> slice(const std::vector<T>& values, const std::vector<std::uint64_t>& ends, std::size_t i) {
    return std::span<const T>(values).subspan(ends[i], ends[i + 1] - ends[i]);
  }

  std::vector<Symbol> source_, target_;
  std::vector<Link> links_;
  std::vector<float> weights_;
  std::vector<std::uint64_t> source_ends_ = {0}, target_ends_ = {0}, link_ends_ = {0};
  Strings source_words_, target_words_;
};

// Words by falling frequency, equally frequent ones in the order of their bytes. So frequent words have few bytes, and
// numbers do not depend on the order of the pairs.
struct Ranking {
  Strings texts;
  std::vector<Symbol> number;  // of each symbol
};
Ranking rank_by_frequency(const Symbols& symbols, std::span<const std::uint64_t> counts);

class BitextBuilder : public Exclusive {
 public:
  BitextBuilder() = default;
  // Numbers words as these lists do, and refuses others: a part of a corpus whose words are known.
  BitextBuilder(const Strings& source_words, const Strings& target_words);

  // Refuses a link outside the pair. `weights` has one for each link, or none.
  void append(std::span<const std::string_view> source, std::span<const std::string_view> target,
              const Alignment& alignment, std::span<const float> weights = {});
  std::size_t size() const { return bitext_.size(); }
  Bitext finish();  // numbers the words; the builder is empty afterwards

 private:
  Bitext bitext_;
  Symbols source_symbols_, target_symbols_;
  bool numbered_ = false;  // the words were given
};

}  // namespace treeglot
