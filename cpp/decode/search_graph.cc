#include "decode/search_graph.h"

#include <algorithm>
#include <utility>

#include "graph/rewrite.h"

namespace treeglot {

SearchGraph search_graph(const Reading& reading, const std::shared_ptr<const SearchForest>& found, double margin) {
  auto [graph, edge_map, node_map] = prune(graph_of(found), found->step, margin);
  SearchGraph out{std::move(graph), {}, {}, {}, {}, {0}, {}, reading.features()};
  // All edges into a hypothesis give it the same state: that of the last one seen is kept.
  const std::size_t bytes = reading.state_bytes();
  std::vector<std::byte> states(out.graph.nodes() * bytes);
  std::vector<const std::byte*> tails;
  for (NodeId node = 0; node < out.graph.nodes(); ++node) {
    for (EdgeId edge = out.graph.edges_begin(node); edge < out.graph.edges_end(node); ++edge) {
      tails.clear();
      for (const NodeId tail : out.graph.tails(edge)) tails.push_back(states.data() + tail * bytes);
      std::byte* const state = states.data() + node * bytes;
      std::fill_n(state, bytes, std::byte{0});
      std::vector<FeatureValue> values;
      reading.replay(edge_map[edge], tails.data(), state, values);
      for (const FeatureValue& value : summed(std::move(values))) out.features.push_back(value);
      out.first_feature.push_back(static_cast<std::uint32_t>(out.features.size()));
      out.scores.push_back(found->step[edge_map[edge]]);
      out.steps.push_back(reading.step(edge_map[edge]));
    }
    // In a pruned graph every node has an edge.
    out.labels.push_back(out.steps.back().label);
    out.spans.push_back(out.steps.back().span);
  }
  return out;
}

}  // namespace treeglot
