// What every matcher makes and the one search reads. Nothing after it knows the formalism.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/span.h"
#include "decode/feature.h"
#include "graph/hypergraph.h"
#include "rules/table.h"
#include "syntax/dependency.h"

namespace treeglot {

// One rule that an edge may use: its target side, its stateless score, and what stateful features expect of it.
struct Alternative {
  TargetSide target;
  std::uint32_t rule;
  float score;     // Σ weight · value over the stateless features
  float estimate;  // orders the search only

  float priority() const { return score + estimate; }
};

// An edge is one match of a source side. Its tails are the variables in source order. Its alternatives are the target
// sides of the source side, best priority first. They live in the matcher's cache, beyond the forest's life.
struct TranslationForest {
  Hypergraph graph;
  std::vector<std::span<const Alternative>> alternatives;  // by edge
  std::vector<std::uint8_t> place;                         // by edge, EdgePlace
  std::vector<float> edge_value;                           // by edge: of the feature below; empty: it is 0 everywhere
  FeatureId edge_feature = 0;                              // what the input gives its edges: a parse's log probability
  std::vector<Span> spans;                                 // by node: the source words covered
  std::vector<std::uint32_t> labels;                       // by node: a nonterminal of the rule table
  std::vector<std::uint32_t> rank;  // by node, among those of its span; short: the rest are first
  std::vector<std::string> notes;   // a limit that was hit, for counts and reports

  // Of a parse forest's matches: the input's labels, and the hyperedges that each fragment took, in preorder. Numbers
  // above those of hyperedges are words of variants. Of a lattice: the arcs. Empty for other inputs; an edge may have
  // none.
  std::vector<std::string_view> names;          // by node; what they point into outlives the forest
  std::vector<std::uint32_t> first_parse_edge;  // by edge, and one more
  std::vector<EdgeId> parse_edges;

  std::optional<Dependency> tree;  // of a dependency tree's matches: the one that was met, made of the input

  std::vector<bool> apart;  // by node: nothing but its own grammar may use it; short: the rest are common

  // Of several grammars: the forest that each of them made, and for each edge the one that it is from.
  struct Origin {
    std::uint32_t part;
    EdgeId edge;
  };
  std::shared_ptr<const std::vector<TranslationForest>> parts;
  std::vector<Origin> origin;

  std::shared_ptr<const RuleTable> rules;  // that were found for this sentence alone; nullptr: the model's

  FeatureId edge_feature_of(EdgeId edge) const {
    return parts == nullptr ? edge_feature : (*parts)[origin[edge].part].edge_feature;
  }
  std::span<const EdgeId> parse_edges_of(EdgeId edge) const {
    if (first_parse_edge.empty()) return {};
    return std::span(parse_edges).subspan(first_parse_edge[edge], first_parse_edge[edge + 1] - first_parse_edge[edge]);
  }
};

// Nodes after their tails, edges in any order; what the forest says of them is put in its order at the end.
class TranslationForestBuilder {
 public:
  NodeId add_node(Span span, std::uint32_t label) {
    spans_.push_back(span);
    labels_.push_back(label);
    return builder_.add_node();
  }
  NodeId add_node(Span span, std::uint32_t label, std::string_view name) {
    names_.push_back(name);
    return add_node(span, label);
  }
  // Says how many nodes of the same span are more promising, so that the search spends less on this one.
  void rank_node(NodeId node, std::uint32_t rank) {
    ranks_.resize(std::max<std::size_t>(ranks_.size(), node + 1));
    ranks_[node] = rank;
  }
  // Marks a node that is not a whole translation of its words yet.
  void keep_apart(NodeId node) {
    apart_.resize(std::max<std::size_t>(apart_.size(), node + 1));
    apart_[node] = true;
  }
  // Names the grammar of the edge that is added next, if there are several grammars.
  void add_origin(TranslationForest::Origin origin) { origins_.push_back(origin); }
  // `value` is that of the edge feature, if the forest has one; `parse` the input's hyperedges.
  void add_edge(NodeId head, std::span<const NodeId> tails, std::span<const Alternative> alternatives,
                std::uint8_t place, float value = 0, std::span<const EdgeId> parse = {}) {
    builder_.add_edge(head, tails);
    alternatives_.push_back(alternatives);
    place_.push_back(place);
    values_.push_back(value);
    parse_.insert(parse_.end(), parse.begin(), parse.end());
    parse_ends_.push_back(static_cast<std::uint32_t>(parse_.size()));
  }
  void note(std::string text) { notes_.push_back(std::move(text)); }

  // For a forest with fewer derivations than another: nodes, edges and all else as they are there.
  NodeId copy_node(const TranslationForest& from, NodeId node) {
    const NodeId made = from.names.empty() ? add_node(from.spans[node], from.labels[node])
                                           : add_node(from.spans[node], from.labels[node], from.names[node]);
    if (node < from.rank.size()) rank_node(made, from.rank[node]);
    return made;
  }
  void copy_edge(const TranslationForest& from, EdgeId edge, NodeId head, std::span<const NodeId> tails,
                 std::span<const Alternative> alternatives) {
    if (from.parts != nullptr) add_origin(from.origin[edge]);
    add_edge(head, tails, alternatives, from.place[edge], from.edge_value.empty() ? 0 : from.edge_value[edge],
             from.parse_edges_of(edge));
  }
  TranslationForest freeze_like(const TranslationForest& from, NodeId goal) {
    notes_.insert(notes_.end(), from.notes.begin(), from.notes.end());
    TranslationForest out =
        freeze(goal, from.edge_value.empty() ? std::nullopt : std::optional<FeatureId>(from.edge_feature));
    out.rules = from.rules;
    out.tree = from.tree;
    out.parts = from.parts;
    return out;
  }

  TranslationForest freeze(NodeId goal, std::optional<FeatureId> edge_feature = std::nullopt) {
    auto [graph, edge_map, node_map] = builder_.freeze(goal);
    TranslationForest forest{std::move(graph),
                             {},
                             {},
                             {},
                             0,
                             std::move(spans_),
                             std::move(labels_),
                             std::move(ranks_),
                             std::move(notes_),
                             std::move(names_),
                             {},
                             {},
                             {},
                             std::move(apart_),
                             nullptr,
                             {},
                             nullptr};
    if (!parse_.empty()) forest.first_parse_edge.push_back(0);
    for (const EdgeId edge : edge_map) {
      forest.alternatives.push_back(alternatives_[edge]);
      forest.place.push_back(place_[edge]);
      if (edge_feature) forest.edge_value.push_back(values_[edge]);
      if (!origins_.empty()) forest.origin.push_back(origins_[edge]);
      if (parse_.empty()) continue;
      const std::uint32_t begin = edge == 0 ? 0 : parse_ends_[edge - 1];
      forest.parse_edges.insert(forest.parse_edges.end(), parse_.begin() + begin, parse_.begin() + parse_ends_[edge]);
      forest.first_parse_edge.push_back(static_cast<std::uint32_t>(forest.parse_edges.size()));
    }
    forest.edge_feature = edge_feature.value_or(0);
    return forest;
  }

 private:
  Builder builder_;
  std::vector<std::span<const Alternative>> alternatives_;
  std::vector<std::uint8_t> place_;
  std::vector<float> values_;
  std::vector<EdgeId> parse_;
  std::vector<std::uint32_t> parse_ends_;
  std::vector<std::string_view> names_;
  std::vector<Span> spans_;
  std::vector<std::uint32_t> labels_, ranks_;
  std::vector<std::string> notes_;
  std::vector<bool> apart_;
  std::vector<TranslationForest::Origin> origins_;
};

}  // namespace treeglot
