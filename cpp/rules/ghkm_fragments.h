// The tree fragments of a forest between nodes of its frontier set: minimal ones, and those glued of several.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/span.h"
#include "rules/frontier.h"
#include "syntax/forest.h"
#include "syntax/structure.h"

namespace treeglot {

// Where a forest and its translation can be cut into rules (Galley et al. 2004; "Extraction" of the c2d page). The
// frontier set. A node is in it when its words have links. No word of their closure on the target side may be linked to
// a word outside the node. If structures are asked for, the dependency structure over the closure must be well-formed.
// The goal stands for the whole target sentence, unaligned words at its ends among it.
class ForestFrontier {
 public:
  // `structures` may be null. Words are never in the set: they are leaves anyway.
  void assign(const ParseForest& forest, const Frontier& links, const Structures* structures);

  bool contains(NodeId node) const { return !targets_[node].empty(); }
  Span target(NodeId node) const { return targets_[node]; }  // empty outside the set

 private:
  std::vector<Span> targets_;
};

struct FragmentLimits {
  std::uint32_t height = kNoLimit;  // edges upon each other
  std::uint32_t edges = kNoLimit;
  std::uint32_t leaves = kNoLimit;     // words and variables
  std::uint32_t fragments = kNoLimit;  // of one root
};

// How often limits were felt.
struct FragmentCuts {
  std::uint64_t too_large = 0;  // beginnings of fragments given up
  std::uint64_t capped = 0;     // roots with more fragments than are allowed
};

struct FragmentItem {
  enum class Kind : std::uint8_t { open, close, word, variable };
  Kind kind;
  NodeId node;
};

struct Fragment {
  std::span<const FragmentItem> items;  // from left to right, as a code has them
  double log_weight = 0;                // of its edges and what is inside its leaves: ∏ P(h) · ∏ β(v)
};

class Fragments {
 public:
  // All must outlive the object: edge scores, inside values of nodes.
  Fragments(const ParseForest& forest, const ForestFrontier& frontier, std::span<const double> scores,
            std::span<const double> inside)
      : forest_(forest), frontier_(frontier), scores_(scores), inside_(inside) {}

  // Visits the fragments below `root`, a node of the frontier set. The root and the inner nodes of the frontier set
  // number from `least_rules` to `most_rules`: the number of minimal rules composed. Every leaf is a word or in the
  // frontier set.
  void visit(NodeId root, std::uint32_t least_rules, std::uint32_t most_rules, const FragmentLimits& limits,
             FragmentCuts& cuts, const std::function<void(const Fragment&)>& visitor);

 private:
  static constexpr std::uint32_t kNone = 0xffffffffu;

  // What is still to come, from left to right: a list whose ends are shared between fragments that begin alike.
  struct Cell {
    NodeId node;           // or kNoNode: the closing of a node
    std::uint32_t height;  // edges above it
    std::uint32_t next;
  };
  struct State {
    std::uint32_t pending = kNone;
    std::uint32_t waiting = 0;  // nodes among the pending
    std::uint32_t edges = 0, leaves = 0, rules = 0;
    double log_weight = 0;
  };
  // A node that can be expanded in several ways, or be a leaf.
  struct Decision {
    NodeId node;
    std::uint32_t height;
    bool leaf;  // whether being a leaf is still to be tried
    EdgeId next, end;
    State state;
    std::size_t items, cells;  // what there was before
  };

  void decide(NodeId node, std::uint32_t height, bool leaf, const State& state);
  void add_leaf(FragmentItem item, State& state);
  bool expand(const Decision& decision, EdgeId edge, const FragmentLimits& limits, State& state);
  bool settle(State& state, std::uint32_t most_rules);

  const ParseForest& forest_;
  const ForestFrontier& frontier_;
  std::span<const double> scores_, inside_;
  std::vector<Cell> cells_;
  std::vector<FragmentItem> items_;
  std::vector<Decision> decisions_;
};

}  // namespace treeglot
