#include "decode/preferred_forest.h"

#include <algorithm>

namespace treeglot {

NodeId PreferredForest::add_node(Span span, std::uint32_t label, bool only_twin) {
  Node node{span, label, only_twin, false, false};
  for (const Span preferred : preferred_) {
    if (span.begin >= preferred.end || preferred.begin >= span.end) continue;
    (span.contains(preferred) ? node.has_preferred : node.cuts) = true;
  }
  nodes_.push_back(node);
  return static_cast<NodeId>(nodes_.size() - 1);
}

void PreferredForest::add_edge(NodeId head, std::span<const NodeId> tails, std::span<const Alternative> alternatives,
                               std::uint8_t place, std::uint8_t uses) {
  edges_.push_back({head, static_cast<std::uint32_t>(tails_.size()), static_cast<std::uint32_t>(tails.size()),
                    alternatives, place, uses});
  tails_.insert(tails_.end(), tails.begin(), tails.end());
  if (in_twin(tails, uses)) nodes_[head].twin = true;
}

bool PreferredForest::in_twin(std::span<const NodeId> tails, std::uint8_t uses) const {
  return (uses & kTwin) != 0 && std::ranges::all_of(tails, [&](NodeId tail) {
           return !nodes_[tail].cuts && (!nodes_[tail].has_preferred || nodes_[tail].twin);
         });
}

std::vector<bool> PreferredForest::asked_twins(std::span<const std::vector<const Edge*>> of_node) const {
  std::vector<bool> asked(nodes_.size(), false);
  for (auto node = static_cast<NodeId>(nodes_.size()); node-- > 0;)
    for (const Edge* const edge : of_node[node])
      if ((asked[node] || (edge->uses & kTwinTails)) && in_twin(tails(*edge), edge->uses))
        for (const NodeId tail : tails(*edge))
          if (nodes_[tail].has_preferred) asked[tail] = true;
  return asked;
}

NodeId PreferredForest::build(NodeId goal, TranslationForestBuilder& out) const {
  std::vector<std::vector<const Edge*>> of_node(nodes_.size());
  for (const Edge& edge : edges_) of_node[edge.head].push_back(&edge);
  const std::vector<bool> asked = asked_twins(of_node);
  std::vector<NodeId> made(nodes_.size(), kNoNode), twins(nodes_.size(), kNoNode), moved;
  const auto made_for = [&](NodeId node, bool twin) {
    return twin && nodes_[node].has_preferred ? twins[node] : made[node];
  };
  const auto leads_to_twins = [](const Edge& edge, bool twin) { return twin || (edge.uses & kTwinTails); };
  const auto is_used = [&](const Edge& edge, bool twin) {
    return (edge.uses & kNode) && (!leads_to_twins(edge, twin) || in_twin(tails(edge), edge.uses));
  };
  const auto add = [&](NodeId node, bool twin) {
    const NodeId head = (twin ? twins : made)[node] = out.add_node(nodes_[node].span, nodes_[node].label);
    if (nodes_[node].apart) out.keep_apart(head);
    for (const Edge* const edge : of_node[node]) {
      if (!is_used(*edge, twin)) continue;
      const bool to_twins = leads_to_twins(*edge, twin);
      moved.clear();
      for (const NodeId tail : tails(*edge)) moved.push_back(made_for(tail, to_twins));
      out.add_edge(head, moved, edge->alternatives, edge->place);
    }
  };
  for (NodeId node = 0; node < nodes_.size(); ++node) {
    if (!nodes_[node].only_twin || !nodes_[node].has_preferred) add(node, false);
    if (asked[node]) add(node, true);
  }
  return made[goal];
}

}  // namespace treeglot
