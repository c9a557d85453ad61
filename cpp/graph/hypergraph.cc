#include "graph/hypergraph.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>

#include "base/limits.h"

namespace treeglot {
namespace {

std::string text(std::size_t number) { return std::to_string(number); }

void check_goal(std::size_t nodes, NodeId goal) {
  if (goal >= nodes && goal != kNoNode) {
    throw std::invalid_argument("the goal is node " + text(goal) + " of a graph with " + text(nodes) + " nodes");
  }
}

void check_tail(NodeId head, NodeId tail) {
  if (tail >= head) {
    throw std::invalid_argument("edge into node " + text(head) + " has tail " + text(tail) +
                                ": tails must be built before heads");
  }
}

}  // namespace

void check_offsets(const char* name, std::span<const std::uint32_t> offsets, std::size_t total) {
  if (offsets.empty() || offsets.front() != 0) throw std::invalid_argument(std::string(name) + " must begin with 0");
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    if (offsets[i] < offsets[i - 1]) {
      throw std::invalid_argument(std::string(name) + "[" + text(i) + "] is " + text(offsets[i]) + " after " +
                                  text(offsets[i - 1]) + ": offsets never decrease");
    }
  }
  if (offsets.back() != total) {
    throw std::invalid_argument(std::string(name) + " ends with " + text(offsets.back()) + "; expected " + text(total));
  }
}

Hypergraph::Hypergraph(std::span<const std::uint32_t> first_edge, std::span<const std::uint32_t> first_tail,
                       std::span<const NodeId> tails, NodeId goal, std::shared_ptr<const void> owner)
    : first_edge_(first_edge), first_tail_(first_tail), tails_(tails), goal_(goal), owner_(std::move(owner)) {
  if (first_tail.empty()) throw std::invalid_argument("first_tail must begin with 0");
  check_offsets("first_edge", first_edge, first_tail.size() - 1);
  check_offsets("first_tail", first_tail, tails.size());
  check_goal(nodes(), goal);
  auto heads = std::make_shared<std::vector<NodeId>>(edges());
  for (NodeId node = 0; node < nodes(); ++node) {
    for (EdgeId edge = edges_begin(node); edge < edges_end(node); ++edge) {
      (*heads)[edge] = node;
      for (const NodeId tail : this->tails(edge)) check_tail(node, tail);
    }
  }
  heads_ = std::move(heads);
}

Hypergraph Hypergraph::own(std::vector<std::uint32_t> first_edge, std::vector<std::uint32_t> first_tail,
                           std::vector<NodeId> tails, NodeId goal) {
  struct Arrays {
    std::vector<std::uint32_t> first_edge, first_tail;
    std::vector<NodeId> tails;
  };
  auto arrays = std::make_shared<Arrays>(Arrays{std::move(first_edge), std::move(first_tail), std::move(tails)});
  const Arrays& a = *arrays;
  return Hypergraph(a.first_edge, a.first_tail, a.tails, goal, std::move(arrays));
}

bool operator==(const Hypergraph& a, const Hypergraph& b) {
  return a.goal_ == b.goal_ && std::ranges::equal(a.first_edge_, b.first_edge_) &&
         std::ranges::equal(a.first_tail_, b.first_tail_) && std::ranges::equal(a.tails_, b.tails_);
}

NodeId Builder::add_nodes(std::size_t number) {
  check_at_most("the number of nodes", number, kMostNodes - nodes_);
  const NodeId first = nodes_;
  nodes_ += static_cast<NodeId>(number);
  return first;
}

EdgeId Builder::add_edge(NodeId head, std::span<const NodeId> tails) {
  if (head >= nodes_) {
    throw std::invalid_argument("edge into node " + text(head) + ": only " + text(nodes_) + " nodes have been added");
  }
  for (const NodeId tail : tails) check_tail(head, tail);
  if (tails.size() > std::numeric_limits<std::uint32_t>::max() - tails_.size() ||
      heads_.size() == std::numeric_limits<std::uint32_t>::max() - 1) {
    throw std::length_error("a hypergraph holds fewer than 2^32 edges and tails");
  }
  heads_.push_back(head);
  tails_.insert(tails_.end(), tails.begin(), tails.end());
  first_tail_.push_back(static_cast<std::uint32_t>(tails_.size()));
  return static_cast<EdgeId>(heads_.size() - 1);
}

Mapped Builder::freeze(NodeId goal) {
  check_goal(nodes_, goal);
  std::vector<EdgeId> edge_map(heads_.size());
  std::vector<std::uint32_t> first_edge(nodes_ + std::size_t{1}, 0), first_tail = { 0 };
  std::vector<NodeId> tails;
  for (const NodeId head : heads_) ++first_edge[head + 1];
  std::inclusive_scan(first_edge.begin(), first_edge.end(), first_edge.begin());
  if (std::ranges::is_sorted(heads_)) {
    std::iota(edge_map.begin(), edge_map.end(), EdgeId{0});
    first_tail = std::move(first_tail_);
    tails = std::move(tails_);
  } else {
    std::vector<EdgeId> next(first_edge.begin(), first_edge.end() - 1);
    for (EdgeId edge = 0; edge < heads_.size(); ++edge) edge_map[next[heads_[edge]]++] = edge;
    first_tail.reserve(heads_.size() + 1);
    tails.reserve(tails_.size());
    for (const EdgeId edge : edge_map) {
      tails.insert(tails.end(), tails_.begin() + first_tail_[edge], tails_.begin() + first_tail_[edge + 1]);
      first_tail.push_back(static_cast<std::uint32_t>(tails.size()));
    }
  }
  std::vector<NodeId> node_map(nodes_);
  std::iota(node_map.begin(), node_map.end(), NodeId{0});
  *this = Builder();
  return {Hypergraph::own(std::move(first_edge), std::move(first_tail), std::move(tails), goal), std::move(edge_map),
          std::move(node_map)};
}

}  // namespace treeglot
