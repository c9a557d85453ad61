// The scores of a joint model for one sentence, kept as long as there is room.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/hash_index.h"
#include "neural/joint_model.h"

namespace treeglot {

// A context has one slot, and a word in it has one. What is there is the newest that fell on it: what is given does not
// depend on what was kept.
template <std::size_t N>
class JointCache {
 public:
  using History = std::array<std::uint32_t, N>;  // the newest word first

  explicit JointCache(const JointModel& model)
      : model_(model), units_(model.facts().last()), scores_(kScores), contexts_(kContexts) {
    hidden_.resize(kContexts * units_);
  }

  void begin_sentence(std::span<const std::uint32_t> source) {
    rows_ = model_.prepare(source);
    ++sentence_;
  }
  std::uint32_t end_row() const { return static_cast<std::uint32_t>(rows_.end_row()); }

  // The log probability of a word with a row of the source after a history.
  float score(std::uint32_t row, const History& history, std::uint32_t word) {
    const Context context = {sentence_, row, history};
    const std::uint64_t hash = hash_of(context);
    Score& slot = scores_[hash_number(hash + word) % kScores];
    if (slot.word == word && slot.context == context) return slot.score;
    slot.context = context;
    slot.word = word;
    slot.score = model_.score(hidden(context, hash), word);
    return slot.score;
  }

 private:
  // With three words of history, a score has 32 bytes; a context has 24, and a hidden layer.
  static constexpr std::size_t kScores = std::size_t{1} << 15, kContexts = std::size_t{1} << 11;

  struct Context {
    std::uint64_t sentence = 0;
    std::uint32_t row = 0;
    History history = {};
    friend bool operator==(const Context&, const Context&) = default;
  };
  struct Score {
    Context context;
    std::uint32_t word = 0;
    float score = 0;
  };

  static std::uint64_t hash_of(const Context& context) {
    std::uint64_t hash = context.row;
    for (const std::uint32_t word : context.history) hash = hash_number(hash + word);
    return hash;
  }

  const float* hidden(const Context& context, std::uint64_t hash) {
    const std::size_t slot = hash % kContexts;
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
};

}  // namespace treeglot
