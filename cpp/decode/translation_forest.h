// What every matcher makes and the one search reads. Nothing after it knows the formalism.
#pragma once

#include <cstdint>
#include <span>
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
  std::vector<float> edge_score;                           // by edge: what the input gives it (a parse's probability)
  std::vector<Span> spans;                                 // by node: the source words covered
  std::vector<std::uint32_t> labels;                       // by node: a nonterminal of the rule table
};

}  // namespace treeglot
