#include "decode/unite_trees.h"

#include <stdexcept>
#include <vector>

namespace treeglot {
namespace {

void add_edges(const TranslationForest& from, NodeId node, NodeId head, const std::vector<NodeId>& made, float value,
               TranslationForestBuilder& out) {
  std::vector<NodeId> tails;
  for (EdgeId edge = from.graph.edges_begin(node); edge < from.graph.edges_end(node); ++edge) {
    tails.clear();
    for (const NodeId tail : from.graph.tails(edge)) tails.push_back(made[tail]);
    out.add_edge(head, tails, from.alternatives[edge], from.place[edge], value);
  }
}

}  // namespace

TranslationForest unite_trees(std::span<const TranslationForest> forests, std::span<const float> values,
                              FeatureId feature) {
  if (forests.empty() || forests.size() != values.size())
    throw std::invalid_argument("the parses to unite are not as many as their values");
  TranslationForestBuilder out;
  std::vector<std::vector<NodeId>> made;  // by forest and node
  for (const TranslationForest& from : forests) {
    std::vector<NodeId>& nodes = made.emplace_back(from.spans.size(), kNoNode);
    for (NodeId node = 0; node < from.spans.size(); ++node) {
      if (node == from.graph.goal()) continue;
      nodes[node] = out.copy_node(from, node);
      if (node < from.apart.size() && from.apart[node]) out.keep_apart(nodes[node]);
      add_edges(from, node, nodes[node], nodes, 0, out);
    }
  }
  const TranslationForest& first = forests.front();
  const NodeId goal = out.copy_node(first, first.graph.goal());
  for (std::size_t i = 0; i < forests.size(); ++i)
    add_edges(forests[i], forests[i].graph.goal(), goal, made[i], values[i], out);
  TranslationForest united = out.freeze(goal, feature);
  united.tree = first.tree;
  united.notes = first.notes;
  return united;
}

}  // namespace treeglot
