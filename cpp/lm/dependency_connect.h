// Which arcs a rule makes between the words and pieces of its target side. The score and the tree of a derivation are
// both made from this one function, so they agree even where the parts do not fit.
//
// An item of a rule is a word or a piece, with a head among the items or kRuleRoot. A piece in head position passes
// what hangs on it to its root. Where that cannot be:
// - a piece of several roots in head position is *settled*: its other roots become right children of its first one.
//   That is an ill-formed structure of the c2d page, counted in `ill_heads`;
// - what hangs on an empty piece hangs on that piece's own head;
// - a rule that leaves more roots than a state holds is settled as a whole, counted in `overflows`.
// These turn on the numbers of roots alone: models over words and over tags make the same tree.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lm/dependency_state.h"

namespace treeglot {

constexpr std::int32_t kRuleRoot = -1;

struct DependencyTally {
  std::uint32_t ill_heads = 0;
  std::uint32_t overflows = 0;

  friend bool operator==(const DependencyTally&, const DependencyTally&) = default;
};

// `arcs` has size(), head(item), roots(item), and takes:
//   settle(item)              the item's other roots on its first
//   attach_right(head, item)  the item's roots, from left to right, on the head
//   attach_left(head, item)   the item's roots, from right to left, on the head
//   keep(item)                the item's roots are roots of the whole
// in an order in which every head gets its children from the nearest outwards, and is kept when it has all. Heads are
// as check_rule_heads() wants them; with others the result has no meaning, but there is one.
template <class Arcs>
DependencyTally connect(Arcs& arcs) {
  DependencyTally tally;
  const auto count = static_cast<std::int32_t>(arcs.size());
  const auto head_of = [&](std::int32_t item) {
    std::int32_t head = arcs.head(item);
    for (std::int32_t steps = 0; head != kRuleRoot && arcs.roots(head) == 0; ++steps) {
      head = steps < count ? arcs.head(head) : kRuleRoot;
    }
    return head;
  };
  for (std::int32_t item = 0; item < count; ++item) {
    if (arcs.roots(item) == 0) continue;
    const std::int32_t head = head_of(item);
    if (head == kRuleRoot || arcs.roots(head) < 2) continue;
    arcs.settle(head);
    ++tally.ill_heads;
  }
  std::size_t roots = 0;
  for (std::int32_t item = 0; item < count; ++item) {
    const std::int32_t head = head_of(item);
    if (head == kRuleRoot) {
      roots += arcs.roots(item);
    } else if (head < item) {
      arcs.attach_right(head, item);
    }
  }
  for (std::int32_t item = count; item-- > 0;) {
    const std::int32_t head = head_of(item);
    if (head > item) arcs.attach_left(head, item);
  }
  const bool overflows = roots > DependencyState::kMaxRoots;
  std::int32_t first = kRuleRoot;
  for (std::int32_t item = 0; item < count; ++item) {
    if (arcs.roots(item) == 0 || head_of(item) != kRuleRoot) continue;
    if (!overflows) {
      arcs.keep(item);
    } else if (first == kRuleRoot) {
      first = item;
      if (arcs.roots(item) > 1) arcs.settle(item);
    } else {
      arcs.attach_right(first, item);
    }
  }
  if (overflows) {
    arcs.keep(first);
    ++tally.overflows;
  }
  return tally;
}

}  // namespace treeglot
