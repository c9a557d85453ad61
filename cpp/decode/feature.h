// Features that need the state of a hypothesis: n-gram and dependency language models, label substitution.
//
// Stateless features are folded into a rule's score when weights are set; only what depends on how rules are put
// together is here. One function scores, into a sink: in the search the sink sums, when a derivation is replayed it
// also keeps the values apart.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/symbols.h"
#include "decode/dynamic_features.h"
#include "graph/hypergraph.h"

namespace treeglot {

// The weights of all features: of those that have numbers, and of members of families.
struct FeatureWeights {
  std::span<const float> numbered;
  const DynamicWeights* dynamic = nullptr;

  float operator[](FeatureId id) const { return numbered[id]; }
};

// A score in 32 bits: finite, whatever the weights are, so that sums of scores never become NaN.
inline float finite(double score) { return static_cast<float>(std::clamp(score, -1e38, 1e38)); }

class Sink {
 public:
  explicit Sink(FeatureWeights weights, std::vector<FeatureValue>* kept = nullptr) : weights_(weights), kept_(kept) {}

  // Inlined even in the bindings, which are compiled for size: the linker could keep their copy for the search.
  [[gnu::always_inline]] void add(FeatureId id, float value) {
    sum_ += static_cast<double>(weights_[id]) * value;
    if (kept_ != nullptr) kept_->push_back({id, value});
  }
  // Of a member of a family.
  void add_dynamic(FeatureId id, float value) {
    sum_ += static_cast<double>(dynamic_weight(id)) * value;
    if (kept_ != nullptr) kept_->push_back({id, value});
  }
  // Adds the score of features whose values need not be kept separate: it already includes their weights.
  void add_score(double score) { sum_ += score; }
  bool keeps_values() const { return kept_ != nullptr; }
  float dynamic_weight(FeatureId id) const { return weights_.dynamic == nullptr ? 0 : (*weights_.dynamic)[id]; }
  double sum() const { return sum_; }

 private:
  FeatureWeights weights_;
  std::vector<FeatureValue>* kept_;
  double sum_ = 0;
};

// A rule as the search sees it. Symbols of the target side: ≥ 0 a target word, −1 − k the k-th tail of the edge.
struct TargetSide {
  const std::int32_t* symbols = nullptr;
  std::uint32_t size = 0;
  std::uint32_t structure_size = 0;
  const std::int32_t* structure = nullptr;  // by symbol: 0 a root, k + 1 hangs on symbol k (docs/rules.md); or nothing
  const Symbol* labels = nullptr;           // what the model notes of the rule, numbers of the table's labels
  std::uint32_t label_count = 0;
  const std::uint8_t* affiliations = nullptr;  // of its words (decode/affiliation.h); or nothing
  const std::uint64_t* prepared = nullptr;     // what features computed of it in advance (Scorer::prepare); or nothing

  const std::int32_t* begin() const { return symbols; }
  const std::int32_t* end() const { return symbols + size; }
};

// What features compute of target sides once for all their uses, in words of 8 bytes.
class Prepared {
 public:
  std::size_t size() const { return size_; }
  void clear() { size_ = 0; }
  void cut(std::size_t size) { size_ = size; }
  // Room for a value of a plain type, until the next one is added. The caller sets it.
  template <class T>
  T* add() {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= alignof(std::uint64_t) && sizeof(T) % 8 == 0);
    return reinterpret_cast<T*>(add_words(sizeof(T) / 8));
  }
  std::uint64_t* add_words(std::size_t count) {
    size_ += count;
    if (words_.size() < size_) words_.resize(2 * size_);
    return words_.data() + (size_ - count);
  }
  std::uint64_t& operator[](std::size_t word) { return words_[word]; }
  std::span<const std::uint64_t> from(std::size_t word) const { return {words_.data() + word, size_ - word}; }

 private:
  std::vector<std::uint64_t> words_;  // with room for more
  std::size_t size_ = 0;
};

// Where an edge stands in the sentence: the output of one that begins (ends) it has nothing on its left (right).
enum EdgePlace : std::uint8_t { kInside = 0, kBegins = 1, kEnds = 2 };

struct Application {
  TargetSide target;
  std::uint32_t rule;
  std::uint8_t place;     // EdgePlace, combined
  EdgeId edge = kNoEdge;  // of the translation forest; none where only a rule is looked at
};

struct TranslationForest;
class ParseForest;
class Dependency;

// What features may know of a sentence. It outlives no search.
struct SearchedSentence {
  std::int32_t first;                        // word number `first` + i is added[i]
  std::span<const std::string> added;        // words beyond the table's
  std::span<const std::string_view> source;  // its words
  const TranslationForest& forest;
  const ParseForest* parse = nullptr;      // of its words, where the input is one
  const Dependency* dependency = nullptr;  // likewise
};

// The states of an edge's tails, as one feature sees them.
template <class State>
class TailStates {
 public:
  TailStates(const std::byte* const* tails, std::size_t offset) : tails_(tails), offset_(offset) {}
  const State& operator[](std::size_t tail) const { return *reinterpret_cast<const State*>(tails_[tail] + offset_); }

 private:
  const std::byte* const* tails_;
  std::size_t offset_;
};

class StatefulFeature {
 public:
  virtual ~StatefulFeature() = default;
  virtual std::size_t state_bytes() const = 0;
  virtual void begin_sentence(const SearchedSentence& sentence) = 0;
  // Scores one application into the sink and writes the new state: all its bytes, and zeros up to a multiple of 8.
  // States lie at `offset`.
  virtual void apply(const Application& application, const std::byte* const* tails, std::size_t offset, std::byte* out,
                     Sink& sink) const = 0;
  // Estimates the score of a rule before its tails are known. It only orders the search.
  virtual float estimate(const Application& application, const FeatureWeights& weights) const = 0;
  // Whether the feature computes something of a target side once for all its uses. If so, prepare() adds it to `out`,
  // and apply() then finds it at `prepared`. It may depend on the target side alone, and not on the sentence, the
  // place, or the weights. Glue rules have nothing prepared, so apply() must also work without it. Prepare() returns
  // the estimate.
  virtual bool prepares() const { return false; }
  virtual float prepare(const Application& application, const FeatureWeights& weights, Prepared& /*out*/) const {
    return estimate(application, weights);
  }
  // Estimates the score of what waits in a hypothesis's state, likewise. Called only for features that look ahead.
  virtual bool looks_ahead() const { return false; }
  virtual double ahead(const std::byte*, std::size_t /*offset*/, const FeatureWeights& /*weights*/) const { return 0; }
  // Whether the scores of a derivation add up to a value that depends on the words of its output alone, and the state
  // does, too. If so for all features, the search scores equal outputs of a node only once.
  virtual bool is_of_text() const { return false; }
  // The feature that replaces this one, once its files are verified. May be null. It has the same states, prepares the
  // same, and is of text if this one is.
  virtual std::unique_ptr<StatefulFeature> settled() const { return nullptr; }
};

// A feature is a class with `score(application, tails, out, sink)` and `expect(application, sink)`. Its state is plain
// bytes, and the compiler checks that equal states are equal bytes: recombination compares them as such.
template <class Self, class State>
class Feature : public StatefulFeature {
  static_assert(std::is_trivially_copyable_v<State>);
  static_assert(std::has_unique_object_representations_v<State>, "padding or floats would make equal states differ");

 public:
  std::size_t state_bytes() const final { return sizeof(State); }
  void apply(const Application& application, const std::byte* const* tails, std::size_t offset, std::byte* out,
             Sink& sink) const final {
    constexpr std::size_t kPadding = -sizeof(State) % alignof(std::uint64_t);
    State* const state = std::construct_at(reinterpret_cast<State*>(out + offset), State{});
    if constexpr (kPadding > 0) std::memset(out + offset + sizeof(State), 0, kPadding);
    static_cast<const Self*>(this)->score(application, TailStates<State>(tails, offset), *state, sink);
  }
  float estimate(const Application& application, const FeatureWeights& weights) const final {
    Sink sink(weights);
    static_cast<const Self*>(this)->expect(application, sink);
    return finite(sink.sum());
  }
};

}  // namespace treeglot
