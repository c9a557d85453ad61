// Cube pruning (Chiang 2007; Huang and Chiang 2007) over a translation forest, with any stateful features.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "decode/feature.h"
#include "decode/translation_forest.h"
#include "graph/hypergraph.h"

namespace treeglot {

struct SearchOptions {
  std::uint32_t pop_limit = 200;  // hypotheses popped at a node, by its rank; 0: all of them, the search is exact
  std::uint32_t beam = 0;         // hypotheses kept per node after recombination; 0: all
  float threshold = 0;            // those kept score within this of the node's best (natural log); 0: all
  double time_limit = 0;          // seconds of CPU, after which a node's first hypotheses are all; 0: none
  bool best_only = false;         // of the edges into a hypothesis only the best is kept: there is no k-best list
};

// The stateful features of a search and the weights of all features. A thread has its own.
class Scorer {
 public:
  // The weights of members of families outlive the scorer.
  Scorer(std::vector<std::unique_ptr<StatefulFeature>> features, std::vector<float> weights,
         const DynamicWeights* dynamic = nullptr);

  void begin_sentence(const SearchedSentence& sentence) {
    for (auto& feature : features_) {
      if (auto quick = feature->settled()) feature = std::move(quick);
      feature->begin_sentence(sentence);
    }
  }

  std::size_t state_bytes() const { return state_bytes_; }
  // Whether there are features, and all of them are of text.
  bool is_of_text() const { return of_text_; }
  std::span<const float> weights() const { return weights_; }
  FeatureWeights all_weights() const { return {weights_, dynamic_}; }
  // Applies every feature; `out` has state_bytes() bytes.
  void apply(const Application& application, const std::byte* const* tails, std::byte* out, Sink& sink) const {
    if (preparing_ > 1 && application.target.prepared != nullptr) {
      apply_each(application, tails, out, sink);
    } else {
      for (std::size_t f = 0; f < features_.size(); ++f)
        features_[f]->apply(application, tails, offsets_[f], out, sink);
    }
  }
  float estimate(const Application& application) const;
  // Adds what the features compute of a target side once for all its uses, and returns the estimate. If several
  // features prepare, the offsets of their parts from the beginning come first. Nothing is added if all parts are
  // empty.
  float prepare(const Application& application, Prepared& out) const;
  // Estimates the score of what still waits in a hypothesis's states.
  double ahead(const std::byte* states) const {
    double sum = 0;
    for (const std::size_t f : ahead_) sum += features_[f]->ahead(states, offsets_[f], all_weights());
    return sum;
  }

 private:
  // Gives each feature its own part of what was prepared.
  void apply_each(const Application& application, const std::byte* const* tails, std::byte* out, Sink& sink) const;

  std::vector<std::unique_ptr<StatefulFeature>> features_;
  std::vector<std::size_t> offsets_;
  std::size_t preparing_ = 0;       // features that prepare
  std::vector<std::size_t> ahead_;  // the features that look ahead
  std::vector<float> weights_;
  const DynamicWeights* dynamic_;
  std::size_t state_bytes_ = 0;
  bool of_text_ = false;
};

// The search forest. Its nodes are hypotheses: a node of the translation forest with a state. For each node of the
// translation forest the most promising come first. At the goal nothing waits, so the best come first. Its edges are
// rules applied to hypotheses, best first for each hypothesis. The arrays are those of a hypergraph, so k-best lists
// and output come from the one implementation.
struct SearchForest {
  std::vector<std::uint32_t> first_edge = {0}, first_tail = {0};
  std::vector<NodeId> tails;
  std::vector<EdgeId> forest_edge;         // by edge: the edge of the translation forest
  std::vector<std::uint32_t> alternative;  // by edge: and which of its rules
  std::vector<double> step;                // by edge: what it adds to the sum of its tails' scores
  std::vector<double> score;               // by hypothesis: that of its best derivation
  NodeId goal = kNoNode;
  bool late = false;  // the time limit ended the search of a node, and of those after it

  bool found() const { return goal != kNoNode; }
};

// The hypergraph over a search forest's arrays, without copies.
Hypergraph graph_of(std::shared_ptr<const SearchForest> forest);

// Searches translation forests one after the other, and keeps its memory for the next. A thread has its own.
class CubeSearch {
 public:
  explicit CubeSearch(const Scorer& scorer);  // which outlives the search
  ~CubeSearch();

  SearchForest run(const TranslationForest& forest, const SearchOptions& options);

 private:
  class Sentence;
  const Scorer& scorer_;
  std::unique_ptr<Sentence> sentence_;
};

}  // namespace treeglot
