// The one hypergraph: parse forests, translation forests and search graphs are all this type.
//
// Structure only. Scores, labels and rules are arrays beside it, indexed by node or by edge. Nodes are numbered in
// topological order: every tail of an edge is smaller than its head. Edges are grouped by head. So a sweep over edges 0
// … E-1 is bottom-up and the reverse is top-down. A leaf is derived by an edge without tails; a node without incoming
// edges has no derivation. A node may occur several times among an edge's tails. A graph may lack a goal (kNoNode): a
// chart in which no parse was found.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace treeglot {

using NodeId = std::uint32_t;
using EdgeId = std::uint32_t;
inline constexpr std::uint32_t kNoEdge = 0xffffffffu;  // in an edge map: an edge that the stage made itself
inline constexpr std::uint32_t kNoNode = 0xffffffffu;  // in a node map: likewise; as a goal: there is none

class Hypergraph {
 public:
  // Takes arrays as they are, without copying; `owner` keeps them alive. Refuses what is not a hypergraph:
  //
  //   first_edge  nodes + 1 offsets: the edges into v are first_edge[v] … first_edge[v + 1]
  //   first_tail  edges + 1 offsets: the tails of e are tails[first_tail[e]] … tails[first_tail[e + 1]]
  Hypergraph(std::span<const std::uint32_t> first_edge, std::span<const std::uint32_t> first_tail,
             std::span<const NodeId> tails, NodeId goal, std::shared_ptr<const void> owner);
  // The same of arrays that the graph owns.
  static Hypergraph own(std::vector<std::uint32_t> first_edge, std::vector<std::uint32_t> first_tail,
                        std::vector<NodeId> tails, NodeId goal);

  std::size_t nodes() const { return first_edge_.size() - 1; }
  std::size_t edges() const { return first_tail_.size() - 1; }
  NodeId goal() const { return goal_; }

  EdgeId edges_begin(NodeId node) const { return first_edge_[node]; }
  EdgeId edges_end(NodeId node) const { return first_edge_[node + 1]; }
  NodeId head(EdgeId edge) const { return (*heads_)[edge]; }
  std::span<const NodeId> tails(EdgeId edge) const {
    return tails_.subspan(first_tail_[edge], first_tail_[edge + 1] - first_tail_[edge]);
  }

  std::span<const std::uint32_t> first_edge() const { return first_edge_; }
  std::span<const std::uint32_t> first_tail() const { return first_tail_; }
  std::span<const NodeId> all_tails() const { return tails_; }
  std::span<const NodeId> heads() const { return *heads_; }

  friend bool operator==(const Hypergraph& a, const Hypergraph& b);

 private:
  std::span<const std::uint32_t> first_edge_;
  std::span<const std::uint32_t> first_tail_;
  std::span<const NodeId> tails_;
  NodeId goal_;
  std::shared_ptr<const std::vector<NodeId>> heads_;  // derived: the head of every edge
  std::shared_ptr<const void> owner_;
};

// Refuses offsets that do not begin with 0, decrease, or end with another number than `total`; `name` is for the
// message.
void check_offsets(const char* name, std::span<const std::uint32_t> offsets, std::size_t total);

// A graph that a stage made from another, and where its edges came from.
struct Mapped {
  Hypergraph graph;
  std::vector<EdgeId> edge_map;  // edge of the new graph → edge of the old one, or kNoEdge
  std::vector<NodeId> node_map;  // node of the new graph → node of the old one, or kNoNode
};

// Nodes and edges in, a frozen hypergraph out. Nodes must come after all their tails; edges may come in any order.
class Builder {
 public:
  NodeId add_node() { return add_nodes(1); }
  NodeId add_nodes(std::size_t number);  // the first of them; they are consecutive
  EdgeId add_edge(NodeId head, std::span<const NodeId> tails);

  std::size_t nodes() const { return nodes_; }
  std::size_t edges() const { return heads_.size(); }

  // The frozen graph, its edges grouped by head (in the order of their addition for one head);
  // edge_map[e] is what add_edge returned for edge e. The builder is empty afterwards.
  Mapped freeze(NodeId goal);

 private:
  NodeId nodes_ = 0;
  std::vector<NodeId> heads_;
  std::vector<std::uint32_t> first_tail_ = {0};
  std::vector<NodeId> tails_;
};

}  // namespace treeglot
