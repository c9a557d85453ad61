// Phrases on the spans of a parse forest, beside the fragments at its nodes: hierarchical ones, and phrases on
// neighbouring children of a node.
//
// A variable stands for any node over its span, whatever its label, or for a sequence of children that has phrases. A
// phrase costs what the best parse of its node costs. What the best parses over the spans of its variables cost is
// taken off again, since variables have parses of their own. Sequences cost nothing.
//
// If wanted, phrases without variables also translate other spans, which cross constituents. They fill variables, and
// cost nothing. Two or three parts that variables could stand for make up a node side by side, if one of them crosses.
//
// Words may have variants, from a lattice. A phrase may have the words of a variant in place of those that it stands
// for. If the words of a variant are no phrase, phrases for its parts are glued in source order. What uses variants is
// a node of its own, its *reading* of the span. An edge with their score leads from that to each node of the span.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "decode/gappy_walk.h"
#include "decode/glue.h"
#include "decode/rule_cache.h"
#include "decode/translation_forest.h"
#include "graph/hypergraph.h"
#include "syntax/lattice_forest.h"

namespace treeglot {

class ForestPhrases {
 public:
  using Place = std::uint32_t;  // of a span among those of the forest
  static constexpr Place kNowhere = 0xffffffffu;

  // What a node is where translations of spans are given.
  enum class Sort : std::uint8_t { parsed, rest, given };  // of the parse forest, what is left of such, a given span

  // A span: of nodes, of a sequence of children that no node of the parse forest covers, or one that crosses nodes.
  struct Covered {
    Span span;
    bool is_parsed = false, is_sequence = false;             // of the parse forest; no node of that covers it
    bool is_crossing = false;                                // a phrase on it would cross constituents
    std::vector<NodeId> nodes = {}, rests = {}, given = {};  // by sort, children first: given, nodes, rests
    std::uint32_t first_phrase = 0, last_phrase = 0;         // hierarchical phrases
    std::uint32_t first_reading = 0, last_reading = 0;       // phrases with variants of words
    std::uint32_t first_row = 0, last_row = 0;               // parts side by side
    std::span<const Alternative> flat = {};                  // other phrases, where no node covers the span
    bool word_below = false;                                 // the first node is a word, and there are others
    double best = 0;                                         // the value of the best parse
    bool phrases_wanted = false, gap_wanted = false;
    NodeId gap = kNoNode;  // of the translation forest: what a variable stands for

    // The nodes that a variable can stand for: all except a word that has constituents above it.
    std::span<const NodeId> fillers() const { return std::span(nodes).subspan(word_below ? 1 : 0); }
    bool has_phrases() const { return first_phrase < last_phrase || first_reading < last_reading || !flat.empty(); }
  };

  // `spans` and `sorts` are those of the nodes of `graph`, whose first `words` nodes are words. It is `parsed`, the
  // parse forest's, or made of that. Variables stand for spans of the parse forest alone, so that the phrases beside
  // given translations are those without them.
  ForestPhrases(const Hypergraph& parsed, std::span<const Span> parsed_spans, const Hypergraph& graph,
                std::span<const Span> spans, std::span<const Sort> sorts, NodeId words, std::uint32_t span_limit,
                bool crossing);

  // Variants of words, numbered from `first_number` on where edges name what they took of the input.
  void add_variants(const LatticeForest& variants, EdgeId first_number) {
    variants_ = &variants;
    first_number_ = first_number;
  }

  // Finds the phrases. Words that no rule may use, or that the table lacks, are Symbols::kNone. Hierarchical phrases
  // keep away from `given` spans. `best` has the value of the best parse of each node.
  void find(RuleCache& cache, Symbol x, const std::vector<Symbol>& words, std::span<const Span> given,
            std::span<const double> best);

  std::span<Covered> by_size() { return covered_; }  // smaller ones first
  Place find_sequence(Span span) const;              // one that has phrases, or kNowhere

  // Requests the phrases on a span, and so all spans of their variables.
  void want_phrases(Place place);

  // Adds the nodes of what a span is read as, before those that use them.
  void add_readings(const Covered& at, Glue& glue, TranslationForestBuilder& out);
  // Adds readings as edges of `head`; those of a word have no variables.
  void use_readings(const Covered& at, NodeId head, double best, bool is_word, TranslationForestBuilder& out) const;
  // Adds the hierarchical phrases on a span, its readings and its rows as edges of `head`, with the value of its best
  // parse.
  void add_phrases(const Covered& at, NodeId head, double best, Glue& glue, TranslationForestBuilder& out) const;
  // Adds what variables stand for, after the nodes of the span. `made` has the translation forest's nodes, by node.
  void add_gap(Covered& at, std::span<const NodeId> made, Glue& glue, TranslationForestBuilder& out) const;

 private:
  struct Phrase {
    std::span<const Alternative> alternatives;
    std::uint32_t first_gap, last_gap;
  };

  struct Reading {
    Phrase phrase;
    std::vector<std::uint32_t> variants;
    bool is_glued = false;  // of the parts of one variant, in place of a phrase
    NodeId node = kNoNode;  // of the translation forest
    std::span<const Alternative> use = {};
  };

  using Rules = std::function<std::span<const Alternative>(RuleTable::Node)>;
  void find_variants(const RuleTable& table, GappyWalk<Place>& walk);
  void add(std::span<const Alternative> found, const std::vector<Place>& gaps, const std::vector<std::uint32_t>& read);
  void find_glued(const RuleTable& table, Span span, const Rules& rules);
  bool can_glue(const RuleTable& table, std::uint32_t variant, const Rules& rules);
  NodeId add_glued(std::uint32_t variant, Span span, Glue& glue, TranslationForestBuilder& out) const;
  void add_spans(const Hypergraph& graph, std::span<const Span> spans, bool is_parsed);
  void add_covered(std::vector<Span> all, bool is_parsed, bool is_crossing);
  void add_crossing(const RuleTable& table, const std::vector<Symbol>& words, const Rules& rules);
  void find_flat(Covered& at, const RuleTable& table, const std::vector<Symbol>& words, const Rules& rules) const;
  static bool is_part(const Covered& at);
  void add_part(Place place);
  void find_rows(const Covered& at);
  std::vector<Covered>::iterator lower_bound(Span span);

  std::uint32_t span_limit_;
  bool crossing_;
  Symbol x_ = Symbols::kNone;
  std::vector<Covered> covered_;
  std::vector<Phrase> phrases_;
  std::vector<Place> gaps_;  // of phrases
  // Parts side by side, in source order. The third may be kNowhere.
  using Row = std::array<Place, 3>;
  std::vector<Row> rows_;
  std::vector<std::vector<Place>> parts_from_;  // by first word and size: what a variable may stand for, or kNowhere
  const LatticeForest* variants_ = nullptr;
  EdgeId first_number_ = 0;
  std::vector<std::vector<Symbol>> variant_words_;  // by variant; none if the table lacks one of them
  std::vector<Reading> readings_;
  // Of a variant whose parts are glued: the phrases for words [i, j) of it, where a sequence of them has all words.
  struct Part {
    std::uint32_t begin, end;
    std::span<const Alternative> alternatives;
  };
  std::vector<std::vector<Part>> parts_;  // by variant
};

}  // namespace treeglot
