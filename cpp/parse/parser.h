// Sentences to trees and forests with a split grammar, from its coarsest level to its finest.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "parse/coarse_chart.h"
#include "parse/coarse_grammar.h"
#include "parse/fine_chart.h"
#include "parse/rule_product.h"
#include "parse/split_grammar.h"
#include "syntax/forest.h"
#include "syntax/tree.h"

namespace treeglot {

struct ParseOptions {
  // Logarithmic margins of the passes from coarse to fine. The first pass drops a state if its best parse is that much
  // below the best. The others do the same by its posterior. The last margin holds for all further levels.
  std::vector<double> margins = {8.0, 12.0};
  std::size_t most_states = 25'000;  // that the first pass keeps over all spans: the best stay; 0: any number
  double forest_margin = 10.0;       // of forests' edges
  std::size_t most_edges = 500;      // of one node of a forest: the best stay
  // For a sentence, 0 is no limit: words, seconds, and GiB of its chart.
  std::size_t longest = 0;
  double seconds = 0.0;
  double memory = 0.0;
  ScoreKind scores = ScoreKind::posterior;  // of forests: posterior or conditional
  double missing = 10.0;                    // of several grammars: see rule_product.h

  std::size_t bytes() const { return static_cast<std::size_t>(std::min(memory, 1e9) * (1 << 30)); }
};

enum class ParseStatus : std::uint8_t {
  parsed,
  narrowed,          // likewise, though the first pass kept only most_states
  coarser,           // with a coarser level of the grammar: the finest has no parse
  narrowed_coarser,  // both
  fewer,             // with some of several grammars: the others have no parse
  flat,              // without a parse: a flat tree over tags
  narrowed_flat,     // the same, and the first pass kept only most_states
  late,              // the same, because time was up
  too_long,          // the same, because it has too many words
  too_large,         // the same, because its chart would take too much memory
  no_words,          // an empty sentence: no tree
};

struct ParsedTree {
  Tree tree;
  ParseStatus status = ParseStatus::no_words;
  double log_probability = 0.0;   // of the sentence under the level that parsed it; −∞ when none did
  std::vector<ParseStatus> each;  // of several grammars
};

struct ParsedForest {
  ParseForest forest;
  ParseStatus status = ParseStatus::no_words;
  double log_probability = 0.0;
  std::size_t cut = 0;  // nodes that have reached a limit: most_edges, or those of parse_packing.cc
  std::vector<ParseStatus> each;
};

// What a grammar believes of a sentence; nothing if it has no parse.
struct ParsedBelief {
  std::optional<Belief> belief;
  ParseStatus status = ParseStatus::no_words;
  double log_probability = 0.0;
  std::size_t cut = 0;
};

struct ParseCharts {
  CoarseChart coarse;
  FineChart fine;
};

// Charts that are not in use, with their memory. Parsers of several threads and grammars may share it.
class ChartPool {
 public:
  std::unique_ptr<ParseCharts> take();
  void give_back(std::unique_ptr<ParseCharts> charts);

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<ParseCharts>> free_;
};

inline bool is_narrowed(ParseStatus status) {
  return status == ParseStatus::narrowed || status == ParseStatus::narrowed_coarser ||
         status == ParseStatus::narrowed_flat;
}

inline bool is_coarser(ParseStatus status) {
  return status == ParseStatus::coarser || status == ParseStatus::narrowed_coarser;
}

inline bool has_parse(ParseStatus status) {
  return status == ParseStatus::parsed || status == ParseStatus::narrowed || is_coarser(status) ||
         status == ParseStatus::fewer;
}

class SplitParser {
 public:
  // Uses the levels up to `finest`. Refuses a root with several states.
  SplitParser(std::shared_ptr<const SplitGrammar> grammar, std::size_t finest,
              std::shared_ptr<ChartPool> pool = std::make_shared<ChartPool>());

  ParsedTree tree(std::span<const std::string_view> words, const ParseOptions& options) const;
  ParsedForest forest(std::span<const std::string_view> words, const ParseOptions& options) const;
  // The forest of one of several grammars. Time and memory are limited by `limits` alone.
  ParsedBelief belief(std::span<const std::string_view> words, const ParseOptions& options, const Limits& limits) const;
  // The trees and forests of sentences without a parse: every word below its likeliest tag, all of them below one node.
  Tree flat_tree(std::span<const std::string_view> words) const;
  ParseForest flat_forest(std::span<const std::string_view> words, ScoreKind scores) const;
  // What the first pass finds: the log probability of the best derivation at level 0 (−∞ without one). Also the states
  // that it keeps over each span.
  struct FirstPass {
    double best;
    std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> kept;  // begin, end, state
  };
  // All widths of registers give the same.
  FirstPass first_pass(std::span<const std::string_view> words, double margin, std::size_t most, unsigned width) const;
  const SplitGrammar& grammar() const { return *grammar_; }
  bool drops_root() const { return drop_root_; }

 private:
  struct Passes {
    ParseStatus status;
    double log_probability;
    std::unique_ptr<ParseCharts> charts;  // the fine chart is the last pass
  };
  Passes run(std::span<const std::string_view> words, const ParseOptions& options, const Limits& limits) const;
  Tree flat(std::span<const std::string_view> words, bool with_root) const;

  std::shared_ptr<const SplitGrammar> grammar_;
  CoarseGrammar coarse_;
  std::vector<FineGrammar> fine_;
  std::vector<std::uint8_t> parts_;  // by label
  bool drop_root_;                   // the root is called ROOT: trees that have one node below it do not show it
  Symbol flat_label_;                // of flat trees: the root's likeliest child
  std::shared_ptr<ChartPool> pool_;
};

}  // namespace treeglot
