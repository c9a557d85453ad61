// The neural joint model as a feature of the search: the log probabilities of all words and of the sentence's end.
//
// A word is scored when the words before it are known. The first words of a hypothesis wait in its state, with their
// affiliations; the last words wait as the history of others. So scores are exact, and equal states are equal bytes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "decode/affiliation.h"
#include "decode/feature.h"
#include "decode/feature_set.h"
#include "neural/joint_cache.h"
#include "neural/joint_model.h"
#include "neural/joint_numbers.h"

namespace treeglot {

// Prepares what a joint model sees of a sentence. Throws std::invalid_argument if the model needs a parse and the
// sentence has none of this kind.
JointModel::Rows prepared(const JointModel& model, const SearchedSentence& sentence);

// What a hypothesis shows of its words, by the model's numbers. Numbers beyond the sizes are 0.
template <std::size_t N>
struct JointState {
  std::array<std::uint32_t, N> first, rows;  // its first words while they wait, and their rows
  std::array<std::uint32_t, N> last;         // its last words, the newest first
  std::uint32_t waiting;                     // how many wait; fewer than N: all words there are, or none is to wait
  std::uint32_t known;                       // of the last words
};

template <std::size_t N>
class JointFeature final : public Feature<JointFeature<N>, JointState<N>> {
 public:
  using State = JointState<N>;

  JointFeature(std::shared_ptr<const JointModel> model, std::shared_ptr<const std::vector<std::uint32_t>> ids,
               FeatureId score)
      : model_(std::move(model)), ids_(std::move(ids)), score_(score), cache_(*model_) {}

  void begin_sentence(const SearchedSentence& sentence) override {
    ids_.begin_sentence(model_->target(), sentence);
    cache_.begin_sentence(prepared(*model_, sentence));
    sources_ = EdgeSources(sentence.forest);
  }

  void score(const Application& application, TailStates<State> tails, State& out, Sink& sink) const {
    affiliated_.resize(application.target.size);
    affiliate(application.target, sources_[application.edge], affiliated_);
    words_.clear();
    rows_.clear();
    const bool begins = (application.place & kBegins) != 0, ends = (application.place & kEnds) != 0;
    if (begins) append_history(JointVocabulary::kBegin);
    bool first = !begins;  // whether what words_ has are the first words, which wait
    double sum = 0;
    auto row = affiliated_.begin();
    for (const std::int32_t symbol : application.target) {
      if (symbol >= 0) {
        append(ids_[symbol], *row++);
        continue;
      }
      const State& tail = tails[static_cast<std::size_t>(-1 - symbol)];
      for (std::uint32_t i = 0; i < tail.waiting; ++i) append(tail.first[i], tail.rows[i]);
      if (tail.known < N) continue;
      add_scores(first, out, sum);  // what follows sees the last words of the tail
      first = false;
      words_.assign(tail.last.rbegin(), tail.last.rend());
      rows_.assign(N, 0);
    }
    if (ends) append(JointVocabulary::kEnd, cache_.end_row());
    add_scores(first, out, sum);
    if (ends) {
      out = State{};  // nothing follows: all whole sentences are alike
    } else {
      out.known = static_cast<std::uint32_t>(std::min(N, words_.size()));
      std::copy_n(words_.rbegin(), out.known, out.last.begin());
    }
    sink.add(score_, static_cast<float>(sum));
  }

  // The source words around a rule are not known yet, so nothing is expected of it.
  void expect(const Application&, Sink&) const {}

  // Estimates the words that wait for their history, as if it were unknown.
  bool looks_ahead() const override { return true; }
  double ahead(const std::byte* states, std::size_t offset, const FeatureWeights& weights) const override {
    const State& state = *reinterpret_cast<const State*>(states + offset);
    return weights[score_] * cache_.waiting(state.first, state.rows, state.waiting);
  }

 private:
  void append(std::uint32_t word, std::uint32_t row) const {
    words_.push_back(word);
    rows_.push_back(row);
  }
  void append_history(std::uint32_t word) const {
    words_.insert(words_.end(), N, word);
    rows_.insert(rows_.end(), N, 0);
  }

  // Scores all words after N words of history. If these are the first words of the hypothesis, they wait.
  void add_scores(bool first, State& out, double& sum) const {
    if (first) {
      out.waiting = static_cast<std::uint32_t>(std::min(N, words_.size()));
      std::copy_n(words_.begin(), out.waiting, out.first.begin());
      std::copy_n(rows_.begin(), out.waiting, out.rows.begin());
    }
    cache_.add_scores(words_, rows_.data(), sum);
  }

  std::shared_ptr<const JointModel> model_;
  JointNumbers ids_;
  FeatureId score_;
  EdgeSources sources_;
  // A thread has its own feature.
  mutable JointCache<N> cache_;
  mutable std::vector<std::uint32_t> affiliated_;
  mutable std::vector<std::uint32_t> words_, rows_;  // since the last variable with N words, its last N words first
};

// Adds the feature NAME. The network decides which: a feature over the words before, over heads, or a lexical one.
void add_joint(FeatureSet& features, std::shared_ptr<const JointModel> model, const std::string& name = "neural");

}  // namespace treeglot
