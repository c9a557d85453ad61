// A sentence in, its translations out: matcher, search, k-best and reading put together, for a batch and many threads.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "decode/cube.h"
#include "decode/derivation.h"
#include "decode/match_chart.h"
#include "rules/table.h"

namespace treeglot {

struct DecoderOptions {
  ChartOptions chart;
  SearchOptions search;
  std::uint32_t per_source = 20;  // target sides tried for a source side; 0: all
  bool markup = false;            // <x translation="…">…</x> in the input says how to translate a part of it
};

struct TranslateOptions {
  std::uint32_t kbest = 1;
  bool distinct = false;  // of the derivations with one text only the best
};

struct Translation {
  std::vector<Hypothesis> kbest;  // best first; empty for an empty line or one that was refused
  std::string problem;            // why the line was refused
  double seconds = 0;             // CPU time
};

class Decoder {
 public:
  // `weights` by feature name; those of features that do not exist are listed in unknown_weights().
  Decoder(std::shared_ptr<const RuleTable> table, FeatureSpace space, FeatureFactory features,
          std::span<const std::pair<std::string, float>> weights, const DecoderOptions& options);

  const FeatureSpace& space() const { return space_; }
  const RuleTable& table() const { return *table_; }
  std::span<const std::string> unknown_weights() const { return unknown_weights_; }

  // Results in the order of the lines, the same for any number of threads.
  std::vector<Translation> translate(std::span<const std::string> lines, const TranslateOptions& options,
                                     unsigned threads) const;

 private:
  struct Worker;
  Translation translate(std::string_view line, const TranslateOptions& options, Worker& worker) const;

  std::shared_ptr<const RuleTable> table_;
  FeatureSpace space_;
  FeatureFactory features_;
  std::vector<float> weights_;
  std::vector<std::string> unknown_weights_;
  DecoderOptions options_;
  ChartMatcher matcher_;
};

}  // namespace treeglot
