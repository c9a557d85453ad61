// What a derivation of the search forest says: its words, its features, and the rules that gave them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/span.h"
#include "decode/cube.h"
#include "decode/feature_set.h"
#include "decode/glue.h"
#include "decode/matcher.h"
#include "decode/rule_cache.h"
#include "decode/translation_forest.h"
#include "graph/derivation.h"
#include "graph/hypergraph.h"
#include "rules/table.h"
#include "syntax/alignment.h"
#include "syntax/dependency.h"

namespace treeglot {

// A source word, and the word of the rule that is linked to it, by its place among the rule's own target words.
using WordLink = std::pair<std::uint32_t, std::uint32_t>;

// One use of a rule, as text: self-contained, so that it outlives the sentence's forests.
struct Step {
  std::string label;   // the left-hand side
  std::string source;  // the source side, nonterminals as [X,1]; a fragment as IP( [NP,1] VP( … ) )
  std::string target;
  Span span;  // the source words covered
  std::uint32_t children = 0;
  bool local = false;                   // not a rule of the table: glue, an unknown word, a translation that was given
  std::vector<std::int32_t> structure;  // of the target side's symbols: 0 a root, k + 1 hangs on symbol k
  std::vector<EdgeId> parse_edges;      // of the input's forest, that the rule's fragment took
  std::vector<WordLink> links;          // the rule's word alignment, by target word; all pairs if it has none
  std::optional<RuleId> rule = {};      // its number in the table; none if it is local or was found on demand
  std::string grammar = {};             // whose rule it is, in a model of several
  std::vector<float> values = {};       // of the table's features, if the rule was found on demand

  friend bool operator==(const Step&, const Step&) = default;
};

// The rules that gave a translation.
struct RuleDerivation {
  std::vector<Step> steps;  // in preorder

  std::vector<std::uint32_t> depths() const;  // how deep each step stands

  friend bool operator==(const RuleDerivation&, const RuleDerivation&) = default;
};

// One translation of a sentence. It names its features only when it is asked: most are never looked at.
struct Hypothesis {
  double score = 0;
  std::string text;
  std::vector<FeatureValue> features;  // those that fired, summed, by number
  std::shared_ptr<const FeatureNames> names;
  RuleDerivation derivation;
  std::vector<std::uint32_t> given_by;           // by word of the text: the step whose rule it comes from
  std::optional<Dependency> dependency;          // the tree of the text, if the model makes one
  std::vector<std::uint32_t> affiliations = {};  // by word of the text: its source word, if a feature asks for it
  std::vector<WordLink> links = {};              // source words and words of the text; likewise
  std::vector<EdgeId> path = {};                 // the arcs of the input's lattice that it took
};

// One entry for each feature that is not 0, by number.
std::vector<FeatureValue> summed(std::vector<FeatureValue> values);

// Reads derivations of one sentence. Features are replayed: what the search summed is computed again, kept apart.
class Reading {
 public:
  Reading(std::shared_ptr<const FeatureSet> features, const Scorer& scorer, const Glue& glue,
          const TranslationForest& forest, const SearchForest& found, const Input& input);

  Hypothesis read(const Derivation& derivation) const;
  // Of an edge of the search forest. On a lattice, its span is two nodes, and links have arcs. A whole derivation has
  // one path, so there spans and links count the words of the path.
  Step step(EdgeId edge) const;
  Step step(EdgeId forest_edge, const Alternative& rule) const;
  std::string label(NodeId node) const;              // of the translation forest
  std::string edge_label(EdgeId forest_edge) const;  // the left-hand side
  // Applies an edge to its tails' states: writes its own into `state`, which is zeroed, and appends its features.
  void replay(EdgeId edge, const std::byte* const* tails, std::byte* state, std::vector<FeatureValue>& values) const;
  std::size_t state_bytes() const { return scorer_.state_bytes(); }
  const std::shared_ptr<const FeatureSet>& features() const { return features_; }
  const Glue& glue() const { return glue_; }
  const TranslationForest& forest() const { return forest_; }
  const SearchForest& found() const { return found_; }

 private:
  // An edge as the grammar made it that it is from.
  struct Seen {
    const FeatureSet& features;
    const TranslationForest& forest;
    EdgeId edge;

    const RuleTable& table() const { return forest.rules != nullptr ? *forest.rules : features.table(); }
    std::string label(NodeId node) const;
    std::string fragment(RuleId rule) const;
  };
  Seen seen(EdgeId forest_edge) const;
  std::vector<std::uint32_t> variants_of(const Derivation& derivation) const;
  // The source words that the words of a rule belong to. Empty if no feature needs them.
  struct Places {
    std::vector<std::uint32_t> affiliations;  // by word
    std::vector<Link> links;                  // of the rule's words
  };
  Places places(EdgeId forest_edge, const TargetSide& target) const;
  // The links of a rule whose source side takes these words of the sentence, variables aside.
  std::vector<WordLink> links(const Alternative& rule, const RuleTable& table,
                              std::span<const std::uint32_t> own) const;

  std::shared_ptr<const FeatureSet> features_;
  const Scorer& scorer_;
  const Glue& glue_;
  const TranslationForest& forest_;
  const SearchForest& found_;
  std::span<const std::string_view> words_;
  const Lattice* lattice_;         // whose arcs have the words, or nullptr
  const LatticeForest* variants_;  // of the words, or nullptr
  EdgeId first_variant_word_;      // among what edges take of the input
  bool trees_;
};

// The search forest of a sentence as a value of its own: its derivations, each edge with its rule and features.
struct SearchGraph {
  Hypergraph graph;
  std::vector<std::string> labels;           // by node
  std::vector<Span> spans;                   // by node: the source words covered
  std::vector<double> scores;                // by edge: what it adds
  std::vector<Step> steps;                   // by edge: its rule
  std::vector<std::uint32_t> first_feature;  // by edge, one more than edges
  std::vector<FeatureValue> features;
  std::shared_ptr<const FeatureNames> names;
};

// The part of the search forest that is in derivations within `margin` of the best. ∞ means all derivations.
SearchGraph search_graph(const Reading& reading, const std::shared_ptr<const SearchForest>& found, double margin);

}  // namespace treeglot
