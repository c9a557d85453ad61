// Aligned sentence pairs as numbers: what extractors of string pairs read, and what the words of a rule's code mean.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/exclusive.h"
#include "base/strings.h"
#include "base/symbols.h"
#include "syntax/alignment.h"

namespace treeglot {

// What a pair counts under one of several alignments. Counts of the pair are split among its alignments by cumulative
// weights, and each boundary is rounded once. So equal alignments whose weights sum to 1 count exactly as one does.
struct PairShare {
  // Parts of an occurrence. 240 has many divisors, so the usual weights are whole numbers of parts.
  static constexpr std::uint32_t kParts = 240;

  double begin = 0, end = 1;  // the weights of the alignments before this one, without and with its own
  std::uint32_t parts = 1;    // of an occurrence: 1 of 1 unless some pair of the bitext has several alignments

  static PairShare of(double begin, double end) {
    PairShare out{begin, end, 0};
    out.parts = out.split(kParts);
    return out;
  }
  std::uint32_t split(std::uint32_t count) const {
    return static_cast<std::uint32_t>(std::lround(count * end) - std::lround(count * begin));
  }
};

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
  // Whether pairs are there once for each of several alignments. Occurrences are then counted in parts.
  bool united() const { return !shares_.empty(); }
  PairShare share(std::size_t pair) const { return united() ? shares_[pair] : PairShare(); }
  std::uint32_t occurrence_parts() const { return united() ? PairShare::kParts : 1; }
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
  std::vector<PairShare> shares_;
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

  // Refuses a link outside the pair. `weights` has one for each link, or none. `share` is that of this alignment if the
  // pair has several.
  void append(std::span<const std::string_view> source, std::span<const std::string_view> target,
              const Alignment& alignment, std::span<const float> weights = {},
              const std::optional<PairShare>& share = {});
  std::size_t size() const { return bitext_.size(); }
  Bitext finish();  // numbers the words; the builder is empty afterwards

 private:
  Bitext bitext_;
  Symbols source_symbols_, target_symbols_;
  bool numbered_ = false;  // the words were given
};

}  // namespace treeglot
