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

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "lm/ngram_table.h"
#include "lm/special_words.h"

namespace treeglot {

// The outermost child on one side of a head, and the next one inside; kNoSibling where there is none. A child that no
// later score can depend on counts as <unk>, 0. Models that look at one sibling have 0 for the other.
struct DependencySiblings {
  WordId last = 0, before = 0;

  DependencySiblings then(WordId child) const { return {child, last}; }
  friend bool operator==(const DependencySiblings&, const DependencySiblings&) = default;
};

constexpr WordId kNoSibling = kSentenceBegin;
constexpr DependencySiblings kNoSiblings{kNoSibling, kNoSibling};

// What a part of a dependency tree must keep to score what it is put into (the c2d page, "Decoding"). The roots of a
// piece are words whose head is not in it. One root is a *fixed* structure, on which more may hang. Several roots
// *float*: they wait for one head, on either side, and their scores with them. A piece without roots is empty. Numbers
// are those of the model's vocabulary. Equal states are equal bytes: what is unused is zero.
struct DependencyState {
  static constexpr unsigned kMaxRoots = 8;  // what comes to more is settled, see dependency_connect.h

  std::uint32_t count = 0;  // of the roots
  // Those of the first root. Floating roots need them when they are settled.
  DependencySiblings left, right;
  std::array<WordId, kMaxRoots> roots{};

  bool fixed() const { return count == 1; }
  bool floating() const { return count > 1; }
  friend bool operator==(const DependencyState&, const DependencyState&) = default;
};

static_assert(std::has_unique_object_representations_v<DependencyState>);

constexpr std::int32_t kRuleRoot = -1;

struct DependencyTally {
  std::uint32_t ill_heads = 0;
  std::uint32_t overflows = 0;

  friend bool operator==(const DependencyTally&, const DependencyTally&) = default;
};

// The roots of all items that hang on no other become those of the whole; more than it can have hang on the first.
template <class Arcs, class HeadOf>
void keep_roots(Arcs& arcs, const HeadOf& head_of, bool overflows) {
  std::int32_t first = kRuleRoot;
  for (std::int32_t item = 0; item < static_cast<std::int32_t>(arcs.size()); ++item) {
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
  if (overflows) arcs.keep(first);
}

// `arcs` has size(), head(item), roots(item), and takes:
//
//   settle(item)              the item's other roots on its first
//   attach_right(head, item)  the item's roots, from left to right, on the head
//   attach_left(head, item)   the item's roots, from right to left, on the head
//   keep(item)                the item's roots are roots of the whole
//
// Every head gets its children from the nearest outwards, and is kept when it has all. Heads are as check_rule_heads()
// wants them; with others the result has no meaning, but there is one.
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
  keep_roots(arcs, head_of, overflows);
  tally.overflows += overflows;
  return tally;
}

}  // namespace treeglot
