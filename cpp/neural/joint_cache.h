// The scores of a joint model for one sentence, kept as long as there is room.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/hash_index.h"
#include "neural/joint_model.h"

namespace treeglot {

// A context has one slot, and so has a word in it. The newest entry replaces the one before. Results do not depend on
// what is kept.
template <std::size_t N>
class JointCache {
 public:
  explicit JointCache(const JointModel& model)
      : model_(model), units_(model.facts().last()), scores_(kScores), contexts_(kContexts), waiting_(kWaiting) {
    hidden_.resize(kContexts * units_);
  }

  void begin_sentence(JointModel::Rows rows) {
    rows_ = std::move(rows);
    ++sentence_;
  }
  std::uint32_t end_row() const { return static_cast<std::uint32_t>(rows_.end_row()); }

  // Adds the log probabilities of words with rows of the source, one after the other. N words of history stand before
  // them. `rows` has a row for each word, also for those of the history.
  void add_scores(std::span<const std::uint32_t> words, const std::uint32_t* rows, double& sum) {
    places_.clear();
    for (std::size_t i = N; i < words.size(); ++i) {
      places_.push_back(place(words.data() + i, rows[i]));
      __builtin_prefetch(&scores_[places_.back().score]);
    }
    for (std::size_t i = N; i < words.size(); ++i) sum += score(words.data() + i, rows[i], places_[i - N]);
  }

  // The sum of the log probabilities of the first words of a hypothesis, as if what stands before them were unknown.
  double waiting(const std::array<std::uint32_t, N>& first, const std::array<std::uint32_t, N>& rows,
                 std::uint32_t count) {
    std::uint64_t hash = count;
    for (std::size_t i = 0; i < N; ++i) hash = (hash * kFactor + first[i]) * kFactor + rows[i];
    Waiting& slot = waiting_[hash_number(hash) % kWaiting];
    if (slot.sentence == sentence_ && slot.count == count && slot.first == first && slot.rows == rows) return slot.sum;
    slot = {sentence_, first, rows, count, 0};
    std::array<std::uint32_t, 2 * N> words, all_rows = {};
    words.fill(JointVocabulary::kNone);
    std::ranges::copy(first, words.begin() + N);
    std::ranges::copy(rows, all_rows.begin() + N);
    add_scores(std::span(words).first(N + count), all_rows.data(), slot.sum);
    return slot.sum;
  }

 private:
  using History = std::array<std::uint32_t, N>;  // the newest word first
  // Sizes of the tables. With three history words, a score takes 32 bytes, waiting words 48, a context 24 and a layer.
  static constexpr std::size_t kScores = std::size_t{1} << 15, kContexts = std::size_t{1} << 12,
                               kWaiting = std::size_t{1} << 12;
  static constexpr std::uint64_t kFactor = 0x9fb21c651e98df25u;  // odd, without a pattern

  struct Context {
    std::uint64_t sentence = 0;
    std::uint32_t row = 0;
    History history = {};
    friend bool operator==(const Context&, const Context&) = default;
  };
  struct alignas(32) Score {  // a line of the processor's cache has two of them
    Context context;
    std::uint32_t word = 0;
    float score = 0;
  };
  struct Waiting {
    std::uint64_t sentence = 0;
    std::array<std::uint32_t, N> first = {}, rows = {};
    std::uint32_t count = 0;
    double sum = 0;
  };
  struct Place {  // slots of a word
    std::size_t score, context;
  };

  static Place place(const std::uint32_t* word, std::uint32_t row) {
    std::uint64_t hash = row;
    for (std::size_t k = 1; k <= N; ++k) hash = hash * kFactor + word[-static_cast<std::ptrdiff_t>(k)];
    return {hash_number(hash * kFactor + *word) % kScores, hash_number(hash) % kContexts};
  }

  // The log probability of a word, after the words that stand before it.
  float score(const std::uint32_t* word, std::uint32_t row, const Place& place) {
    Context context = {sentence_, row, {}};
    for (std::size_t k = 0; k < N; ++k) context.history[k] = word[-static_cast<std::ptrdiff_t>(k) - 1];
    Score& slot = scores_[place.score];
    if (slot.word == *word && slot.context == context) return slot.score;
    model_.prefetch(*word);
    slot.context = context;
    slot.word = *word;
    slot.score = model_.score(hidden(context, place.context), *word);
    return slot.score;
  }

  const float* hidden(const Context& context, std::size_t slot) {
    float* const out = hidden_.data() + slot * units_;
    if (contexts_[slot] != context) {
      contexts_[slot] = context;
      model_.hidden(rows_[context.row], context.history.data(), out);
    }
    return out;
  }

  const JointModel& model_;
  std::size_t units_;
  std::uint64_t sentence_ = 0;  // of the sentences so far; 0: none
  JointModel::Rows rows_;
  std::vector<Score> scores_;
  std::vector<Context> contexts_;
  std::vector<float> hidden_;
  std::vector<Waiting> waiting_;
  std::vector<Place> places_;  // of the words at hand
};

}  // namespace treeglot
