// Phrases on the spans of a parse forest, beside the fragments at its nodes: hierarchical ones, and phrases on
// neighbouring children of a node.
//
// A variable stands for any node over its span, whatever its label, or for a sequence of children that has phrases. A
// phrase costs what the best parse of its node costs. What the best parses over the spans of its variables cost is
// taken off again, since variables have parses of their own. Sequences cost nothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decode/glue.h"
#include "decode/rule_cache.h"
#include "decode/translation_forest.h"
#include "graph/hypergraph.h"

namespace treeglot {

class ForestPhrases {
 public:
  using Place = std::uint32_t;  // of a span among those of the forest
  static constexpr Place kNowhere = 0xffffffffu;

  // What a node is where translations of spans are given.
  enum class Sort : std::uint8_t { parsed, rest, given };  // of the parse forest, what is left of such, a given span

  // A span: of nodes, or of a sequence of children that no node of the parse forest covers.
  struct Covered {
    Span span;
    bool is_parsed = false, is_sequence = false;             // of the parse forest; no node of that covers it
    std::vector<NodeId> nodes = {}, rests = {}, given = {};  // by sort, children first: given, nodes, rests
    std::uint32_t first_phrase = 0, last_phrase = 0;         // hierarchical phrases
    std::span<const Alternative> flat = {};                  // other phrases, of a sequence
    bool word_below = false;                                 // the first node is a word, and there are others
    double best = 0;                                         // the value of the best parse
    bool phrases_wanted = false, gap_wanted = false;
    NodeId gap = kNoNode;  // of the translation forest: what a variable stands for

    // What a variable stands for: all but a word that has constituents above it.
    std::span<const NodeId> fillers() const { return std::span(nodes).subspan(word_below ? 1 : 0); }
    bool has_phrases() const { return first_phrase < last_phrase || !flat.empty(); }
  };

  // `spans` and `sorts` are those of the nodes of `graph`, whose first `words` nodes are words. It is `parsed`, the
  // parse forest's, or made of that. Variables stand for spans of the parse forest alone, so that the phrases beside
  // given translations are those without them.
  ForestPhrases(const Hypergraph& parsed, std::span<const Span> parsed_spans, const Hypergraph& graph,
                std::span<const Span> spans, std::span<const Sort> sorts, NodeId words, std::uint32_t span_limit);

  // Finds the phrases. Words that no rule may use, or that the table lacks, are Symbols::kNone. Hierarchical phrases
  // keep away from `given` spans. `best` has the value of the best parse of each node.
  void find(RuleCache& cache, Symbol x, const std::vector<Symbol>& words, std::span<const Span> given,
            std::span<const double> best);

  std::span<Covered> by_size() { return covered_; }  // smaller ones first
  Place find_sequence(Span span) const;              // one that has phrases, or kNowhere

  // The phrases on a span are wanted: then so are all spans of their variables.
  void want_phrases(Place place);

  // Adds the hierarchical phrases on a span as edges of `head`, with the value of its best parse.
  void add_phrases(const Covered& at, NodeId head, double best, TranslationForestBuilder& out) const;
  // Adds what variables stand for, after the nodes of the span. `made` has the translation forest's nodes, by node.
  void add_gap(Covered& at, std::span<const NodeId> made, Glue& glue, TranslationForestBuilder& out) const;

 private:
  struct Phrase {
    std::span<const Alternative> alternatives;
    std::uint32_t first_gap, last_gap;
  };

  void add_spans(const Hypergraph& graph, std::span<const Span> spans, bool is_parsed);
  std::vector<Covered>::iterator lower_bound(Span span);

  std::uint32_t span_limit_;
  Symbol x_ = Symbols::kNone;
  std::vector<Covered> covered_;
  std::vector<Phrase> phrases_;
  std::vector<Place> gaps_;  // of phrases
};

}  // namespace treeglot
