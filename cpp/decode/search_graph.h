// The search forest of a sentence as a value of its own: its derivations, each edge with its rule and features.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/span.h"
#include "decode/derivation.h"
#include "graph/hypergraph.h"

namespace treeglot {

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

// What is in derivations of the goal that score within `margin` of the best one; ∞: in any.
SearchGraph search_graph(const Reading& reading, const std::shared_ptr<const SearchForest>& found, double margin);

}  // namespace treeglot
