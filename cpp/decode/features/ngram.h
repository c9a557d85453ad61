// The n-gram language model as a feature: its log probability (natural), and the words that it does not know.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "decode/feature.h"
#include "decode/feature_set.h"
#include "lm/ngram.h"
#include "lm/rule_score.h"

namespace treeglot {

inline constexpr double kLn10 = 2.302585092994045684;

// The model's number of a word of the output. <s> and </s> are words like others, which the model does not know.
inline WordId output_word(const NgramModel& model, std::string_view text) {
  const WordId found = model.find(text);
  const bool marker = found == model.facts().begin_sentence || found == model.facts().end_sentence;
  return marker ? Vocabulary::kUnknown : found;
}

// The model's numbers of a rule table's target words, each found when it is first asked for. So a large vocabulary does
// not delay the first sentence. A view of the words; threads may share it.
class WordIds {
 public:
  WordIds(std::shared_ptr<const NgramModel> model, const TargetWords& words)
      : model_(std::move(model)), words_(&words), ids_(words.size()) {}

  std::size_t size() const { return ids_.size(); }
  WordId operator[](std::size_t word) const {
    const WordId next = ids_[word].load(std::memory_order_relaxed);
    return next != 0 ? next - 1 : find(word);
  }

 private:
  WordId find(std::size_t word) const {
    const WordId found = output_word(*model_, words_->text(static_cast<Symbol>(word)));
    ids_[word].store(found + 1, std::memory_order_relaxed);
    return found;
  }

  std::shared_ptr<const NgramModel> model_;
  const TargetWords* words_;
  mutable std::vector<std::atomic<WordId>> ids_;  // one more than each; 0 for those not asked for yet
};

// The feature for a model, as quick as the model allows.
std::unique_ptr<StatefulFeature> make_ngram_feature(const std::shared_ptr<const NgramModel>& model,
                                                    const std::shared_ptr<const WordIds>& ids, FeatureId score,
                                                    FeatureId unknown);

template <class Search>
class NgramFeature final : public Feature<NgramFeature<Search>, typename Search::Chart> {
 public:
  using Chart = typename Search::Chart;

  NgramFeature(std::shared_ptr<const NgramModel> model, const Search& search, std::shared_ptr<const WordIds> ids,
               FeatureId score, FeatureId unknown)
      : model_(std::move(model)), search_(search), ids_(std::move(ids)), score_(score), unknown_(unknown) {
    first_ = static_cast<std::int32_t>(ids_->size());
  }

  std::unique_ptr<StatefulFeature> settled() const override {
    if constexpr (!Search::kVerifies) return nullptr;
    return model_->is_sound() ? make_ngram_feature(model_, ids_, score_, unknown_) : nullptr;
  }

  void begin_sentence(const SearchedSentence& sentence) override {
    if constexpr (Search::kVerifies) model_->used();
    first_ = sentence.first;
    local_.clear();
    for (const std::string& word : sentence.added) local_.push_back(output_word(*model_, word));
  }

  void score(const Application& application, TailStates<Chart> tails, Chart& out, Sink& sink) const {
    RuleScore<Search> rule(search_, out);
    float unknown = 0;
    if ((application.place & kBegins) != 0) rule.begin_sentence();
    const Run* run = reinterpret_cast<const Run*>(application.target.prepared);
    for (const std::int32_t *at = application.target.begin(), *end = application.target.end(); at != end;) {
      const Chart* piece = nullptr;
      double score = 0;
      if (*at < 0) {
        piece = &tails[static_cast<std::size_t>(-1 - *at++)];
      } else if (run != nullptr && is_run(at, end)) {
        piece = &run->state;
        score = run->log10;
        unknown += static_cast<float>(run->unknown);
        at += run++->words;
      } else {
        const WordId word = id(*at++);
        if (word == Vocabulary::kUnknown) unknown += 1;
        rule.terminal(word);
        continue;
      }
      rule.nonterminal(*piece, score);
    }
    if ((application.place & kEnds) != 0) rule.terminal(model_->facts().end_sentence);
    sink.add(score_, static_cast<float>(rule.finish() * kLn10));
    if (unknown > 0 && unknown_ != score_) sink.add(unknown_, unknown);
    if ((application.place & kEnds) != 0) out = Chart{};  // nothing follows: all whole sentences are alike
  }

  bool is_of_text() const override { return true; }
  bool looks_ahead() const override { return search_.has_rests(); }
  double ahead(const std::byte* states, std::size_t offset, const FeatureWeights& weights) const override {
    const Chart& text = *reinterpret_cast<const Chart*>(states + offset);
    return double{weights[score_]} * search_.rest(text) * kLn10;
  }

  void expect(const Application& application, Sink& sink) const {
    Run run;
    expect_runs(application, [&] { return &run; }, sink);
  }
  bool prepares() const override { return true; }
  float prepare(const Application& application, const FeatureWeights& weights, Prepared& out) const override {
    Sink sink(weights);
    expect_runs(application, [&] { return out.add<Run>(); }, sink);
    return finite(sink.sum());
  }

 private:
  // Several neighbouring words of a target side, as a piece of text that may get neighbours. Its inner n-grams are
  // scored only once, and not for each candidate. A single word has none.
  struct alignas(std::uint64_t) Run {
    Chart state;
    double log10;
    std::uint32_t words;
    std::uint32_t unknown;
  };
  static_assert(std::is_trivially_copyable_v<Run> && sizeof(Run) % sizeof(std::uint64_t) == 0);

  // Whether the word at `at` begins a run. score() finds the same runs as expect_runs(), in the same order.
  static bool is_run(const std::int32_t* at, const std::int32_t* end) { return at + 1 != end && at[1] >= 0; }

  // Scores the words between variables as if anything could stand before them. Each run is written to new_run().
  template <class NewRun>
  void expect_runs(const Application& application, const NewRun& new_run, Sink& sink) const {
    double sum = 0;
    float unknown = 0;
    Run single;
    for (const std::int32_t *at = application.target.begin(), *end = application.target.end(); at != end;) {
      if (*at < 0) {
        ++at;
        continue;
      }
      Run& run = is_run(at, end) ? *new_run() : single;
      run.words = run.unknown = 0;
      RuleScore<Search> score(search_, run.state);
      for (; at != end && *at >= 0; ++at) {
        const WordId word = id(*at);
        if (word == Vocabulary::kUnknown) ++run.unknown;
        score.terminal(word);
        ++run.words;
      }
      run.log10 = score.finish();
      sum += run.log10;
      sum += search_.rest(run.state);
      unknown += static_cast<float>(run.unknown);
    }
    sink.add(score_, static_cast<float>(sum * kLn10));
    if (unknown > 0 && unknown_ != score_) sink.add(unknown_, unknown);
  }

  WordId id(std::int32_t symbol) const {
    return symbol < first_ ? (*ids_)[static_cast<std::size_t>(symbol)]
                           : local_[static_cast<std::size_t>(symbol - first_)];
  }

  std::shared_ptr<const NgramModel> model_;
  Search search_;
  std::shared_ptr<const WordIds> ids_;
  FeatureId score_, unknown_;  // the same: unknown words do not count
  std::int32_t first_;
  std::vector<WordId> local_;
};

// Adds the names of the features NAME and NAME_unknown; what makes the feature that scores them. A model of classes has
// the first alone: it knows the words that another model of the same text knows.
FeatureSet::Factory ngram_feature(FeatureSet& features, std::shared_ptr<const NgramModel> model,
                                  const std::string& name = "lm");
inline void add_ngram(FeatureSet& features, std::shared_ptr<const NgramModel> model, const std::string& name = "lm") {
  features.add(ngram_feature(features, std::move(model), name));
}

}  // namespace treeglot
