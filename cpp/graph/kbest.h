// The derivations of the goal from the best down, one at a time: lazy Algorithm 3 of Huang and Chiang (2005).
//
// The order is exact and total. A derivation is its first edge and the ranks of its tails' derivations among all of
// theirs; it comes before another when its score is higher; of equal scores, when its edge has the smaller number; of equal
// edges, when the first rank that differs is the smaller. Derivations with score −∞ are left out.
//
// With yields, of the derivations of a node that have the same yield only the first is kept, at every node (Huang, Knight
// and Joshi 2006), which leaves at the goal the first derivation of every distinct yield. Yields are compared by two
// polynomial hashes modulo 2^61 − 1: two that differ are taken for equal with a probability of about length² · 2^-122.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include "graph/derivation.h"
#include "graph/hypergraph.h"

namespace treeglot {

// A hash that can be put together: that of xy from those of x and y.
class YieldHash {
 public:
  void append(std::int32_t terminal);
  void append(const YieldHash& other);
  friend bool operator==(const YieldHash& a, const YieldHash& b) {
    return a.value_[0] == b.value_[0] && a.value_[1] == b.value_[1];
  }
  std::size_t hash() const { return static_cast<std::size_t>(value_[0] ^ (value_[1] << 3)); }

 private:
  std::uint64_t value_[2] = {0, 0};
  std::uint64_t power_[2] = {1, 1};  // base^length
};

class KBest {
 public:
  // `scores` and `yields` must outlive the enumeration.
  KBest(Hypergraph graph, std::span<const double> scores, std::optional<Yields> yields = std::nullopt);

  // The next derivation of the goal; nothing when there are no more. Work done for one is kept for the next.
  std::optional<Derivation> next();

 private:
  // A derivation of a node. Ranks are in ranks_, one per tail, from `ranks` on.
  struct Item {
    double score;
    double size;  // edges, exact up to 2^53
    std::size_t ranks;
    EdgeId edge;
  };
  // What is known of a node beyond its best derivation, which is in best_.
  struct State {
    std::vector<Item> items;         // found, in order; items[0] is the best
    std::vector<YieldHash> hashes;   // of the items, when yields are asked for
    std::vector<Item> heap;          // found, not yet in order
    std::optional<Item> unexpanded;  // the last that left the heap: its successors are still to come,
    std::uint32_t position = 0;      // those that differ at this tail or a later one
    bool exhausted = false;
  };
  struct Seen {
    NodeId node;
    YieldHash hash;
    friend bool operator==(const Seen&, const Seen&) = default;
  };
  struct SeenHash {
    std::size_t operator()(const Seen& seen) const;
  };

  void advance(NodeId node);
  State& open(NodeId node);
  std::optional<NodeId> expand(State& state);
  bool accept(NodeId node, State& state, const Item& item);
  void push(State& state, EdgeId edge, std::size_t ranks);
  void set_unexpanded(State& state, const Item& item);
  bool later(const Item& a, const Item& b) const;

  std::span<const std::uint32_t> ranks_of(const Item& item) const;
  Item item(NodeId node, std::uint32_t rank) const;
  std::size_t known(NodeId node) const;
  bool exhausted(NodeId node) const;
  YieldHash hash_of(const Item& item) const;
  Derivation listed(std::uint32_t rank) const;

  Hypergraph graph_;
  std::span<const double> scores_;
  std::optional<Yields> yields_;
  BestDerivations best_;
  std::vector<YieldHash> best_hash_;      // by node, when yields are asked for
  std::vector<std::uint32_t> state_of_;   // by node; kNoNode where none was needed yet
  std::vector<State> states_;
  std::vector<std::uint32_t> ranks_;      // begins with as many zeros as an edge has tails, for all that is best throughout
  std::unordered_set<Seen, SeenHash> seen_;
  std::vector<NodeId> waiting_;           // advance(): each waits for one more derivation of the one above it
  std::uint32_t next_ = 0;
};

}  // namespace treeglot
