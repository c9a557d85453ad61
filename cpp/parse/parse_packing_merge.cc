// Nodes of parse_packing.h that nothing above them tells apart.
#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "parse/parse_packing.h"

namespace treeglot {

// Below the root's unary rules the nodes of a place are one, though other rules may tell them apart. So each rule of
// the root has one edge, and their posteriors sum to 1.
void ParsePacking::unite_below_root() {
  Node root = nodes_[top_];
  std::stable_sort(root.edges.begin(), root.edges.end(), [&](const Edge& a, const Edge& b) {
    const auto key = [&](const Edge& e) {
      return std::tuple(e.tails.size() == 1 ? nodes_[e.tails[0]].place : kNone, e.score, e.conditional);
    };
    return key(a) < key(b);
  });
  std::vector<Edge> edges;
  for (Edge& edge : root.edges) {
    const bool is_same = !edges.empty() && edge.tails.size() == 1 && edges.back().tails.size() == 1 &&
                         nodes_[edge.tails[0]].place == nodes_[edges.back().tails[0]].place &&
                         edge.score == edges.back().score && edge.conditional == edges.back().conditional;
    if (!is_same) {
      edges.push_back(std::move(edge));
      continue;
    }
    Node together = nodes_[edges.back().tails[0]];
    const Node& other = nodes_[edge.tails[0]];
    together.edges.insert(together.edges.end(), other.edges.begin(), other.edges.end());
    together.best = std::max(together.best, other.best);
    together.is_cut |= other.is_cut;
    edges.back().tails[0] = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back(std::move(together));
  }
  if (edges.size() == root.edges.size()) return;
  root.edges = std::move(edges);
  top_ = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back(std::move(root));
}

// Of each node, whether it is below the top.
std::vector<std::uint8_t> ParsePacking::reached_nodes() const {
  std::vector<std::uint8_t> reached(nodes_.size(), 0);
  reached[top_] = 1;
  for (std::uint32_t n = top_ + 1; n-- > 0;) {
    if (!reached[n]) continue;
    for (const Edge& edge : nodes_[n].edges)
      for (const std::uint32_t tail : edge.tails) reached[tail] = 1;
  }
  return reached;
}

// From the top down, nodes of one place with the same edges above them become the last of them. Their trees are
// different ones, so each tree stays there once, and edges above them that were there for each are one.
void ParsePacking::merge_alike() {
  struct Use {
    std::uint32_t head, edge, position;
  };
  const std::vector<std::uint8_t> reached = reached_nodes();
  std::vector<std::uint32_t> of_place(graph_.size(), 0);  // how many
  for (std::uint32_t n = 0; n <= top_; ++n) of_place[nodes_[n].place] += reached[n];
  const auto is_alone = [&](std::uint32_t n) { return of_place[nodes_[n].place] == 1; };
  std::vector<std::vector<Use>> uses(nodes_.size());
  for (std::uint32_t n = top_ + 1; n-- > 0;) {
    if (!reached[n]) continue;
    for (std::uint32_t e = 0; e < nodes_[n].edges.size(); ++e) {
      const std::vector<std::uint32_t>& tails = nodes_[n].edges[e].tails;
      for (std::uint32_t t = 0; t < tails.size(); ++t)
        if (!is_alone(tails[t])) uses[tails[t]].push_back({n, e, t});
    }
  }
  // What a node's uses look like: heads and the other tails as they are merged so far.
  using Look = std::vector<std::tuple<std::uint32_t, double, double, std::vector<std::uint32_t>>>;
  std::vector<std::uint32_t> merged(nodes_.size());
  std::iota(merged.begin(), merged.end(), 0u);
  std::map<std::pair<std::uint32_t, Look>, std::uint32_t> looks;
  for (std::uint32_t n = top_; n-- > 0;) {
    if (!reached[n] || is_alone(n)) continue;
    Look look;
    for (const Use& use : uses[n]) {
      const Edge& edge = nodes_[use.head].edges[use.edge];
      std::vector<std::uint32_t> tails;
      for (const std::uint32_t tail : edge.tails) tails.push_back(merged[tail]);
      tails[use.position] = kNone;
      look.emplace_back(merged[use.head], edge.score, edge.conditional, std::move(tails));
    }
    std::sort(look.begin(), look.end());
    look.erase(std::unique(look.begin(), look.end()), look.end());
    merged[n] = looks.try_emplace({nodes_[n].place, std::move(look)}, n).first->second;
  }
  move_edges(merged);
  for (Node& node : nodes_) merge_edges(node, merged);
}

void ParsePacking::move_edges(const std::vector<std::uint32_t>& merged) {
  for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
    if (merged[n] == n) continue;
    Node& into = nodes_[merged[n]];
    std::move(nodes_[n].edges.begin(), nodes_[n].edges.end(), std::back_inserter(into.edges));
    nodes_[n].edges.clear();
    into.best = std::max(into.best, nodes_[n].best);
    into.is_cut |= nodes_[n].is_cut;
  }
}

// Tails become what they are merged into. Edges with the same tails become one; of more than may be, the best stay.
void ParsePacking::merge_edges(Node& node, const std::vector<std::uint32_t>& merged) const {
  for (Edge& edge : node.edges)
    for (std::uint32_t& tail : edge.tails) tail = merged[tail];
  const auto before = [](const Edge& a, const Edge& b) {
    return a.tails != b.tails ? a.tails < b.tails : a.score > b.score;
  };
  if (!std::is_sorted(node.edges.begin(), node.edges.end(), before))
    std::stable_sort(node.edges.begin(), node.edges.end(), before);
  node.edges.erase(std::unique(node.edges.begin(), node.edges.end(),
                               [](const Edge& a, const Edge& b) { return a.tails == b.tails; }),
                   node.edges.end());
  if (node.edges.size() <= most_) return;
  std::stable_sort(node.edges.begin(), node.edges.end(),
                   [&](const Edge& a, const Edge& b) { return edge_best(a) > edge_best(b); });
  node.edges.resize(most_);
  node.is_cut = true;
}

}  // namespace treeglot
