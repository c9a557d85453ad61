// The derivations of the goal from the best down, one at a time: lazy Algorithm 3 of Huang and Chiang (2005).
//
// The order is exact and total. A derivation is its first edge and the ranks of its tails' derivations among all of
// theirs. It comes before another when its score is higher. Of equal scores, the smaller edge number comes first. Of
// equal edges, the smaller rank at the first difference comes first. Derivations with score −∞ are left out.
//
// With yields, every node keeps only the first of its derivations with the same yield (Huang, Knight and Joshi 2006).
// This leaves at the goal the first derivation of every distinct yield. Yields are compared by two polynomial hashes
// modulo 2^61 − 1: two that differ are taken for equal with a probability of about length² · 2^-122.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/hash_index.h"
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
  std::uint64_t bits() const { return value_[0]; }

 private:
  std::uint64_t value_[2] = {0, 0};
  std::uint64_t power_[2] = {1, 1};  // base^length
};

// Hashes in the order of their addition, each once. Most nodes have few: only a longer list gets an index.
class DistinctHashes {
 public:
  bool add(const YieldHash& hash);  // false if it is there already
  const YieldHash& operator[](std::size_t i) const { return hashes_[i]; }

 private:
  std::vector<YieldHash> hashes_;
  HashIndex index_;
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
    DistinctHashes hashes;           // of the items, when yields are asked for
    std::vector<Item> heap;          // found, not yet in order
    std::optional<Item> unexpanded;  // the last that left the heap: its successors are still to come,
    std::uint32_t position = 0;      // those that differ at this tail or a later one
    bool exhausted = false;
  };
  void advance(NodeId node);
  State& open(NodeId node);
  std::optional<NodeId> expand(State& state);
  bool accept(State& state, const Item& item);
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
  std::vector<YieldHash> best_hash_;     // by node, when yields are asked for
  std::vector<std::uint32_t> state_of_;  // by node; kNoNode where none was needed yet
  std::vector<State> states_;
  std::vector<std::uint32_t> ranks_;  // begins with as many zeros as an edge has tails, for all that is best throughout
  std::vector<NodeId> waiting_;       // advance(): each waits for one more derivation of the one above it
  std::uint32_t next_ = 0;
};

}  // namespace treeglot
