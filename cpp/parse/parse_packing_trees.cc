// The tree and the forest of parse_packing.h.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "parse/parse_packing.h"

namespace treeglot {

Tree ParsePacking::tree(std::span<const std::string_view> words, bool drop_root) const {
  TreeBuilder builder;
  const auto best_edge = [&](const Node& node) -> const Edge& {
    return *std::max_element(node.edges.begin(), node.edges.end(),
                             [&](const Edge& a, const Edge& b) { return edge_best(a) < edge_best(b); });
  };
  // A treebank may have ROOT over a phrase and a full stop, or over a word.
  const bool has_one_child = best_edge(nodes_[top_]).tails.size() == 1;
  std::vector<std::pair<std::uint32_t, bool>> stack = {{top_, false}};  // node, whether to close it
  while (!stack.empty()) {
    const auto [node, is_done] = stack.back();
    stack.pop_back();
    if (is_done) {
      builder.close();
      continue;
    }
    const Edge& edge = best_edge(nodes_[node]);
    const ChartNode& place = graph_.at(nodes_[node].place);
    if (!(drop_root && node == top_ && has_one_child)) {
      builder.open(grammar_.shown(place.label));
      stack.push_back({node, true});
    }
    if (edge.tails.empty()) builder.word(words[place.begin]);
    for (std::size_t t = edge.tails.size(); t-- > 0;) stack.push_back({edge.tails[t], false});
  }
  return builder.finish();
}

ParseForest ParsePacking::forest(std::span<const std::string_view> words, ScoreKind kind, std::size_t& cut) const {
  ForestBuilder builder;
  for (const std::string_view word : words) builder.add_word(word);
  cut = 0;
  std::vector<NodeId> number(nodes_.size(), kNoNode);
  std::vector<NodeId> tails;
  std::vector<double> sums(nodes_.size(), 0.0);
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    const Node& node = nodes_[n];
    if (node.edges.empty()) continue;
    cut += node.is_cut;
    const ChartNode& place = graph_.at(node.place);
    number[n] = builder.add_node(grammar_.shown(place.label), {place.begin, place.end});
    // Σ over the node's trees of the products of their rules' probabilities: not 1 where some are not in the forest.
    const auto sum_of = [&](const Edge& edge) {
      double sum = edge.conditional;
      for (const std::uint32_t tail : edge.tails) sum += sums[tail];
      return sum;
    };
    double greatest = -std::numeric_limits<double>::infinity(), sum = 0.0;
    for (const Edge& edge : node.edges) greatest = std::max(greatest, sum_of(edge));
    for (const Edge& edge : node.edges) sum += std::exp(sum_of(edge) - greatest);
    sums[n] = greatest + std::log(sum);
    for (const Edge& edge : node.edges) {
      tails.clear();
      for (const std::uint32_t tail : edge.tails) tails.push_back(number[tail]);
      if (tails.empty()) tails.push_back(place.begin);
      builder.add_edge(number[n], tails, kind == ScoreKind::conditional ? sum_of(edge) - sums[n] : edge.score);
    }
  }
  return builder.finish(number[top_], kind);
}

}  // namespace treeglot
