// What every matcher makes and the one search reads. Nothing after it knows the formalism.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/span.h"
#include "decode/feature.h"
#include "graph/hypergraph.h"

namespace treeglot {

// One rule that an edge may use: its target side, its stateless score, and what stateful features expect of it.
struct Alternative {
  TargetSide target;
  std::uint32_t rule;
  float score;     // Σ weight · value over the stateless features
  float estimate;  // orders the search only

  float priority() const { return score + estimate; }
};

// An edge is one match of a source side; its tails are the variables in source order and its alternatives the target
// sides that the source side has, best priority first. They live in the matcher's cache, beyond the forest's life.
struct TranslationForest {
  Hypergraph graph;
  std::vector<std::span<const Alternative>> alternatives;  // by edge
  std::vector<std::uint8_t> place;                         // by edge, EdgePlace
  std::vector<float> edge_value;                           // by edge: of the feature below; empty: it is 0 everywhere
  FeatureId edge_feature = 0;                              // what the input gives its edges: a parse's log probability
  std::vector<Span> spans;                                 // by node: the source words covered
  std::vector<std::uint32_t> labels;                       // by node: a nonterminal of the rule table
  std::vector<std::string> notes;                          // what is to be counted and reported: a limit that was hit
};

// Nodes after their tails, edges in any order; what the forest says of them is put in its order at the end.
class TranslationForestBuilder {
 public:
  NodeId add_node(Span span, std::uint32_t label) {
    spans_.push_back(span);
    labels_.push_back(label);
    return builder_.add_node();
  }
  // `value` is that of the edge feature, if the forest has one.
  void add_edge(NodeId head, std::span<const NodeId> tails, std::span<const Alternative> alternatives,
                std::uint8_t place, float value = 0) {
    builder_.add_edge(head, tails);
    alternatives_.push_back(alternatives);
    place_.push_back(place);
    values_.push_back(value);
  }
  void note(std::string text) { notes_.push_back(std::move(text)); }

  TranslationForest freeze(NodeId goal, std::optional<FeatureId> edge_feature = std::nullopt) {
    auto [graph, edge_map, node_map] = builder_.freeze(goal);
    TranslationForest forest{std::move(graph), {}, {}, {}, 0, std::move(spans_), std::move(labels_), std::move(notes_)};
    for (const EdgeId edge : edge_map) {
      forest.alternatives.push_back(alternatives_[edge]);
      forest.place.push_back(place_[edge]);
      if (edge_feature) forest.edge_value.push_back(values_[edge]);
    }
    forest.edge_feature = edge_feature.value_or(0);
    return forest;
  }

 private:
  Builder builder_;
  std::vector<std::span<const Alternative>> alternatives_;
  std::vector<std::uint8_t> place_;
  std::vector<float> values_;
  std::vector<Span> spans_;
  std::vector<std::uint32_t> labels_;
  std::vector<std::string> notes_;
};

}  // namespace treeglot
