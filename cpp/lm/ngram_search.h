// Queries to an n-gram model, for one layout of its tables: word by word from left to right, and the step of the chart
// state. Header-only and without virtual calls: this is the decoder's innermost loop.
#pragma once

#include <array>
#include <bit>
#include <cassert>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include "base/sections.h"
#include "lm/ngram_table.h"

namespace treeglot {

// States: what a piece of text must keep to score what comes after it, or around it. They are plain bytes, and equal
// states are equal bytes. Unused places are zero, and numbers are kept as their bits, so that the compiler can tell.
// They are as short as the model allows: words that cannot change any later score are left out.

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

// A piece of text that may get neighbours on both sides (Li and Khudanpur 2008; Heafield 2011). `left` has its first
// words, oldest first, whose scores depend on what will stand before them. Each of them ends an n-gram of the model
// that begins with the text, and prob[i] is that n-gram's. `full`: no word after those depends on what stands before
// the text. An empty text has no words and is not full.
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

// The score of a word in its context.
struct WordScore {
  float log10 = 0;
  std::uint32_t length = 0;       // of the n-gram found, the word included
  bool independent_left = false;  // words before the context would not change it
};

// With kOnUse, each query verifies what it reads: for a file that was not verified yet.
template <class Middle, class Last, unsigned kMaxOrder, bool kOnUse = false>
class NgramSearch {
 public:
  static constexpr unsigned kContext = kMaxOrder - 1;
  static constexpr bool kVerifies = kOnUse;
  using State = NgramState<kContext>;
  using Chart = ChartState<kContext>;

  NgramSearch(unsigned order, std::span<const NgramValue> unigrams, std::span<const float> rests, WordId begin_sentence,
              const Middle* middle, const Last& last, const Sections& sections)
      : order_(order),
        unigrams_(unigrams.data()),
        rests_(rests.data()),
        vocabulary_(unigrams.size()),
        middle_(middle),
        last_(last),
        sections_(&sections) {
    score(State{}, begin_sentence, begin_);
  }

  unsigned order() const { return order_; }
  std::size_t vocabulary() const { return vocabulary_; }
  const State& begin_sentence() const { return begin_; }

  // The score of `word` after `in`, and the state after it; `in` and `out` may be the same state.
  WordScore score(const State& in, WordId word, State& out) const {
    assert(word < vocabulary_);
    const NgramValue unigram = this->unigram(word);
    WordScore result{unigram.log10(), 1, !unigram.extends_left()};
    if (in.length == 0) {
      const bool kept = order_ > 1 && NgramValue::extends_right(unigram.backoff);
      out = State{};
      if (kept) {
        out.words[0] = word;
        out.backoff[0] = unigram.backoff;
        out.length = 1;
      }
      return result;
    }
    FloatBits backoff[kContext];
    backoff[0] = unigram.backoff;
    unsigned use = order_ > 1 && NgramValue::extends_right(unigram.backoff) ? 1 : 0;
    follow(key_of(word), in.words.data(), in.length, 0, backoff + 1, use, result);
    // Loops of a fixed length, without jumps: how many words matter is hard to foretell.
    for (unsigned i = 0; i < kContext; ++i) result.log10 += i + 1 >= result.length ? float(in.backoff[i]) : 0.0f;
    // From the last word on, since `in` may be `out`.
    for (unsigned i = kContext; i-- > 1;) out.words[i] = i < use ? in.words[i - 1] : 0;
    out.words[0] = use > 0 ? word : 0;
    for (unsigned i = 0; i < kContext; ++i) out.backoff[i].bits = i < use ? backoff[i].bits : 0;
    out.length = use;
    return result;
  }

  // Extends an n-gram to the left by context[0..use), newest first. The n-gram is the `length` words left[0..length),
  // oldest first, and `known` is its log10 probability. Gives the score of its newest word with the backoffs `charge`
  // of the context, and the backoffs of the longer n-grams found. In `use` it gives how many words of the context still
  // matter after it.
  WordScore extend_left(const WordId* left, unsigned length, float known, const WordId* context,
                        const FloatBits* charge, FloatBits* backoff, unsigned& use) const {
    assert(length + use <= order_);
    NgramKey key = key_of(left[length - 1]);
    for (unsigned i = length - 1; i > 0; --i) key = extend_key(key, left[i - 1]);
    const unsigned given = use;
    WordScore result{known, length, false};
    unsigned longest = length;
    follow(key, context, given, length - 1, backoff, longest, result);
    use = longest - length;
    for (unsigned i = result.length - length; i < given; ++i) result.log10 += charge[i];
    return result;
  }

  bool has_rests() const { return rests_ != nullptr; }
  // Estimates how much a text gains when words come to stand before it, in log10. 0 if the model has no rest costs.
  float rest(const Chart& text) const {
    if (rests_ == nullptr || text.left_length == 0) return 0;
    const WordId word = text.left[0];
    if constexpr (kOnUse) {
      sections_->touch(std::span(rests_ + word, 1));
      if (too_large(rests_[word]) != 0) fail("section 'rests'");
    }
    return rests_[word] - float(text.prob[0]);
  }

  // The parts, for queries in bulk.
  NgramValue unigram(WordId word) const {
    if constexpr (kOnUse) {
      sections_->touch(std::span(unigrams_ + word, 1));
      if (unsound_value(unigrams_[word])) fail("section 'unigrams'");
    }
    return unigrams_[word];
  }
  const Middle& middle(unsigned n) const { return middle_[n - 2]; }
  const Last& last() const { return last_; }

 private:
  // Looks the keys up in turn, the first being that of order `skipped` + 2, until one is not there or no longer n-gram
  // can be. `use` becomes the length of the longest n-gram found that may be a context.
  void follow(NgramKey key, const WordId* context, unsigned count, unsigned skipped, FloatBits* backoff, unsigned& use,
              WordScore& result) const {
    for (unsigned i = 0; i < count && !result.independent_left; ++i) {
      NgramValue value;
      key = extend_key(key, context[i]);
      if (skipped + i + 2 == order_) {
        result.independent_left = true;
        if (look_up(last_, order_, key, value)) {
          result.log10 = value.log10();
          result.length = order_;
        }
        return;
      }
      if (!look_up(middle_[skipped + i], skipped + i + 2, key, value)) {
        result.independent_left = true;
        return;
      }
      result.log10 = value.log10();
      result.length = skipped + i + 2;
      result.independent_left = !value.extends_left();
      backoff[i] = value.backoff;
      if (NgramValue::extends_right(value.backoff)) use = result.length;
    }
  }

  template <class Table>
  bool look_up(const Table& table, unsigned order, NgramKey key, NgramValue& value) const {
    if constexpr (kOnUse) {
      if (!table.sound_for(key, [&](const auto& bucket) { sections_->touch(std::span(&bucket, 1)); }))
        fail("table of order " + std::to_string(order));
    }
    return find(table, key, value);
  }
  [[noreturn]] void fail(const std::string& what) const {
    sections_->fail("is damaged: its " + what + " has values that cannot be");
  }

  unsigned order_;
  const NgramValue* unigrams_;
  const float* rests_;  // or null
  std::size_t vocabulary_;
  const Middle* middle_;  // by order − 2
  Last last_;
  const Sections* sections_;  // that the tables are in
  State begin_;
};

}  // namespace treeglot
