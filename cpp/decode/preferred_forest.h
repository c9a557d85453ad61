// A translation forest in the making, where some spans have preferred translations.
//
// A node that contains such spans has the derivations that use them, those that do not, and mixtures. Its twin has
// derivations that use all of them, but no hierarchical phrases. A rule is sometimes there for these alone: then its
// tails are twins.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/span.h"
#include "decode/translation_forest.h"

namespace treeglot {

// The derivations that a match is part of.
enum Uses : std::uint8_t {
  kNode = 1,       // of a node
  kTwin = 2,       // of its twin
  kTwinTails = 4,  // of the node, though its tails are twins
};

// The same nodes and edges as a builder takes; twins are made where rules ask for them.
class PreferredForest {
 public:
  void prefer(Span span) { preferred_.push_back(span); }  // for the nodes that are added from now on
  void forget_preferred() { preferred_.clear(); }

  // A node with `only_twin` is needed only for its twin.
  NodeId add_node(Span span, std::uint32_t label, bool only_twin = false);
  void keep_apart(NodeId node) { nodes_[node].apart = true; }  // as in a builder
  void add_edge(NodeId head, std::span<const NodeId> tails, std::span<const Alternative> alternatives,
                std::uint8_t place, std::uint8_t uses = kNode | kTwin);
  // Whether derivations that use all preferred spans have such an edge.
  bool in_twin(std::span<const NodeId> tails, std::uint8_t uses) const;

  NodeId build(NodeId goal, TranslationForestBuilder& out) const;  // the goal's node there

 private:
  struct Node {
    Span span;
    std::uint32_t label;
    bool only_twin;
    bool has_preferred;  // it contains preferred spans
    bool cuts;           // it has some words of a preferred span: no derivation that uses that has it
    bool twin = false;   // its twin has derivations
    bool apart = false;
  };
  struct Edge {
    NodeId head;
    std::uint32_t first_tail, arity;
    std::span<const Alternative> alternatives;
    std::uint8_t place, uses;
  };

  // The nodes whose twins are needed, from the goal down.
  std::vector<bool> asked_twins(std::span<const std::vector<const Edge*>> of_node) const;
  std::span<const NodeId> tails(const Edge& edge) const {
    return std::span(tails_).subspan(edge.first_tail, edge.arity);
  }

  std::vector<Span> preferred_;
  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  std::vector<NodeId> tails_;
};

}  // namespace treeglot
