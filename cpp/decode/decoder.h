// A sentence in, its translations out: matcher, search, k-best and reading put together, for a batch and many threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "decode/cube.h"
#include "decode/derivation.h"
#include "decode/feature_set.h"
#include "decode/matcher.h"
#include "decode/search_graph.h"
#include "rules/table.h"

namespace treeglot {

// One sentence to be translated: a line of tokens, or what a parser made of it. What is pointed to outlives the call.
using Source = std::variant<std::string, const ParseForest*, const Dependency*>;

struct DecoderOptions {
  SearchOptions search;
  std::uint32_t per_source = 20;  // target sides tried for a source side; 0: all
  bool markup = false;            // <x translation="…">…</x> in a line says how to translate a part of it
};

struct TranslateOptions {
  std::uint32_t kbest = 1;
  bool distinct = false;  // of the derivations with one text only the best
};

struct Translation {
  std::vector<Hypothesis> kbest;   // best first; empty for an empty line or one that was refused
  std::string problem;             // why the line was refused
  std::vector<std::string> notes;  // what the matcher wants to be counted
  std::optional<Dependency> tree;  // what was translated, if that is a dependency tree: repaired, or made of a forest
  double seconds = 0;              // CPU time
};

class Decoder {
 public:
  // `weights` by feature name; those of features that do not exist are listed in unknown_weights().
  Decoder(std::shared_ptr<const FeatureSet> features, std::shared_ptr<const Matcher> matcher,
          std::span<const std::pair<std::string, float>> weights, const DecoderOptions& options);

  const FeatureSpace& space() const { return features_->space(); }
  const RuleTable& table() const { return features_->table(); }
  std::span<const std::string> unknown_weights() const { return unknown_weights_; }
  // The names of the features numbered `begin` and on. Members of families are numbered when they first fire, after a
  // batch of sentences, in the order of the sentences.
  std::vector<std::string> feature_names(std::size_t begin = 0) const;

  // Results in the order of the sources, the same for any number of threads.
  std::vector<Translation> translate(std::span<const Source> sources, const TranslateOptions& options,
                                     unsigned threads) const;

  // What the search of one sentence kept, within `margin` of the best derivation; nothing for an empty line. Throws
  // what translate() reports as a problem.
  std::optional<SearchGraph> graph(const Source& source, double margin) const;

 private:
  struct Worker;
  struct Searched;
  std::optional<Searched> search(const Source& source, bool best_only, Worker& worker) const;
  Translation translate(const Source& source, const TranslateOptions& options, Worker& worker) const;

  std::shared_ptr<const FeatureSet> features_;
  std::shared_ptr<const Matcher> matcher_;
  std::vector<float> weights_;
  DynamicWeights dynamic_weights_;
  mutable DynamicNumbers numbers_;
  std::vector<std::string> unknown_weights_;
  DecoderOptions options_;
};

}  // namespace treeglot
