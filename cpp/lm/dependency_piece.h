// The dependency trees of pieces, put together by rules as dependency_connect.h says: what a derivation's output is.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lm/dependency_connect.h"

namespace treeglot {

struct DependencyPiece {
  std::vector<std::int32_t> heads;   // of its words: a position in the piece; Dependency::kRoot for its roots
  std::vector<std::uint32_t> roots;  // in order

  static DependencyPiece word() { return {{-1}, {0}}; }
  friend bool operator==(const DependencyPiece&, const DependencyPiece&) = default;
};

// Refuses, with std::invalid_argument, what cannot be the heads of a rule's items: one outside the rule, cycles, arcs
// that cross. To be called when rules are loaded.
void check_rule_heads(std::span<const std::int32_t> heads);

// The piece that a rule makes of its items in order, by pointer; null is a word. `heads` is that of the items.
DependencyPiece join_pieces(std::span<const std::int32_t> heads, std::span<const DependencyPiece* const> items,
                            DependencyTally& tally);

}  // namespace treeglot
