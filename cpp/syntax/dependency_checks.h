// What a head array is: its roots, its cycles, whether it is a tree, whether it is projective. All in O(words).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace treeglot {

using Heads = std::span<const std::int32_t>;  // as in Dependency: a position, kRoot or kNoHead

// The positions whose head is kRoot, in order.
std::vector<std::uint32_t> roots(Heads heads);

// Every cycle, each from its first position on, every position followed by its head; in order of first positions.
std::vector<std::vector<std::uint32_t>> cycles(Heads heads);

// One root, a head for every other word, no cycle. The sentence without words is no tree.
bool is_tree(Heads heads);

// The words whose arc is not projective, in order. The arc from a head h to k is projective if every word strictly
// between them is a descendant of h (following heads from it leads to h). Words without a head, roots among them, have
// no arc; so there may be several roots, but no arc may pass over one.
std::vector<std::uint32_t> nonprojective_arcs(Heads heads);

}  // namespace treeglot
