// A back-off n-gram model, compiled: its file, its vocabulary, and the two layouts behind one query interface.
//
// All scores are log10, as in ARPA files. Word 0 is <unk>; the others are numbered in the order of the 1-grams.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/sections.h"
#include "lm/ngram_search.h"
#include "lm/ngram_table.h"
#include "lm/vocabulary.h"

namespace treeglot {

constexpr unsigned kMaxNgramOrder = 9;

enum class NgramLayout : std::uint32_t { fast = 0, small = 1 };

// The section "model" of the file.
struct NgramFacts {
  std::uint32_t order = 0;
  NgramLayout layout = NgramLayout::fast;
  WordId begin_sentence = 0, end_sentence = 0;
  std::uint32_t unknown_added = 0;  // the ARPA file had no <unk>
  std::uint32_t zero = 0;
  std::array<std::uint64_t, kMaxNgramOrder> counts{};  // n-grams given, by order
  std::array<std::uint64_t, kMaxNgramOrder> blanks{};  // n-grams put in because a longer one ends in them
  // small: no stored value differs from the given one by more than this, by order. Then the n-grams that share bucket
  // and fingerprint with another, and answer with its values.
  std::array<float, kMaxNgramOrder> prob_error{}, backoff_error{};
  std::array<std::uint64_t, kMaxNgramOrder> shadowed{};
};

class NgramModel {
 public:
  static constexpr std::string_view kKind = "ngram-lm";
  static constexpr std::uint32_t kVersion = 1;

  // Refuses, with FormatError, sections that do not fit together.
  explicit NgramModel(Sections sections);
  static NgramModel open(const std::string& path, Opening how = Opening::verified);
  void verify() const {  // all of its file now, if it is not
    if (verification_ != nullptr) verification_->complete();
  }
  void used() const {  // by one more sentence
    if (verification_ != nullptr) verification_->used();
  }
  void write(const std::string& path) const { sections_->write(path); }

  const NgramFacts& facts() const { return *facts_; }
  unsigned order() const { return facts_->order; }
  const Vocabulary& vocabulary() const { return vocabulary_; }
  std::size_t classed() const {
    return classes_.empty() ? 0 : classes_.size() - 1;
  }  // of a model of classes: words that have one
  // The number that stands for a word of a text: its own, or that of its class.
  WordId find(std::string_view word) const {
    return classed() > 0 ? classes_[classed_.find(word)] : vocabulary_.find(word);
  }
  std::uint64_t bytes() const { return sections_->size(); }
  // The words of its n-grams of an order above 1, as NgramWords has them. The small layout has none.
  bool lists_words() const { return order() > 1 && sections_->has(list_name(2)); }
  std::span<const std::uint8_t> listed(std::size_t n) const { return sections_->array<std::uint8_t>(list_name(n)); }
  static std::string list_name(std::size_t n) { return "ngrams." + std::to_string(n); }

  bool has_rests() const { return !rests_.empty(); }
  // The rest cost of each word (lm/rest_costs.h), or nothing.
  std::span<const float> rests() const {
    verify();
    return rests_;
  }

  // Texts as numbers: blanks (space, tab, the line ends of ASCII) separate words; text t is
  // ids[offsets[t]..offsets[t+1]).
  struct Encoded {
    std::vector<WordId> ids;
    std::vector<std::uint64_t> offsets;
  };
  Encoded encode(std::span<const std::string_view> texts) const;

  // Asks one query at a time, with states for any order. Code that asks much, such as the decoder, uses a search.
  using State = NgramState<kMaxNgramOrder - 1>;
  using Chart = ChartState<kMaxNgramOrder - 1>;
  State begin_state() const;
  WordScore score(const State& in, WordId word, State& out) const;
  // The score of words and pieces from left to right, as RuleScore gives it, and the state of the whole.
  double score_rule(std::span<const std::variant<WordId, Chart>> parts, bool begins_sentence, Chart& out) const;

  // use(search), where search is an NgramSearch for the model's layout with states no larger than its order needs.
  // It is a view on the model, which must stay where it is. The model is verified before.
  template <class Use>
  auto with_search(Use&& use) const {
    verify();
    return with_layout<false>(use);
  }
  // The same with states that are of one type for all orders.
  template <class Use>
  auto with_wide_search(Use&& use) const {
    verify();
    return with_wide_layout<false>(use);
  }
  // The same as with_search(), without waiting: until all is verified, the search verifies what it reads.
  template <class Use>
  auto with_search_now(Use&& use) const {
    return is_sound() ? with_layout<false>(use) : with_layout<true>(use);
  }
  bool is_sound() const { return verification_ == nullptr || verification_->sound(); }

 private:
  void check(WordId word) const;
  void check_tables() const;
  [[noreturn]] void fail_values(const std::string& what) const;
  template <bool kOnUse, class Use>
  auto with_layout(Use&& use) const {
    if (order() > 5) return with_wide_layout<kOnUse>(use);
    return facts_->layout == NgramLayout::fast ? use(fast<5, kOnUse>()) : use(small<5, kOnUse>());
  }
  template <bool kOnUse, class Use>
  auto with_wide_layout(Use&& use) const {
    return facts_->layout == NgramLayout::fast ? use(fast<kMaxNgramOrder, kOnUse>())
                                               : use(small<kMaxNgramOrder, kOnUse>());
  }
  template <unsigned kMaxOrder, bool kOnUse>
  NgramSearch<FastTable<FastBucket>, FastTable<FastLastBucket>, kMaxOrder, kOnUse> fast() const {
    return {order(), unigrams_, rests_, facts_->begin_sentence, fast_middle_.data(), fast_last_, *sections_};
  }
  template <unsigned kMaxOrder, bool kOnUse>
  NgramSearch<SmallTable<SmallBucket>, SmallTable<SmallLastBucket>, kMaxOrder, kOnUse> small() const {
    return {order(), unigrams_, rests_, facts_->begin_sentence, small_middle_.data(), small_last_, *sections_};
  }

  std::shared_ptr<const Sections> sections_;
  const NgramFacts* facts_ = nullptr;
  Vocabulary vocabulary_;
  Vocabulary classed_;               // words of texts, if those of the model are classes; <unk> is the first
  std::span<const WordId> classes_;  // of each
  std::span<const NgramValue> unigrams_;
  std::span<const float> rests_;  // by word; none for a model of order 1, and for files of earlier versions
  // Views on the sections; those of the other layout stay empty.
  std::array<FastTable<FastBucket>, kMaxNgramOrder - 2> fast_middle_;
  FastTable<FastLastBucket> fast_last_;
  std::array<SmallTable<SmallBucket>, kMaxNgramOrder - 2> small_middle_;
  SmallTable<SmallLastBucket> small_last_;
  std::shared_ptr<const Verification> verification_;  // of a file that was not verified when it opened
};

}  // namespace treeglot
