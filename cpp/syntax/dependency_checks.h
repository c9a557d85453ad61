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
// between them descends from h. (Following heads from it leads to h.) Words without a head, roots among them, have no
// arc; so there may be several roots, but no arc may pass over one.
std::vector<std::uint32_t> nonprojective_arcs(Heads heads);

// A depth-first numbering. The descendants of a word have consecutive numbers, so descent is a comparison. A cycle is
// entered at its first position; each of its words has the others, and all that hangs from them, as descendants.
class DependencyOrder {
 public:
  explicit DependencyOrder(Heads heads);

  // Every word after its head, but for the first position of a cycle.
  std::span<const std::uint32_t> words() const { return words_; }

  // Whether following heads from `word` (in no step, too) leads to `ancestor`.
  bool descends(std::uint32_t word, std::uint32_t ancestor) const {
    return begin_[ancestor] <= number_[word] && number_[word] < end_[ancestor];
  }

 private:
  std::vector<std::uint32_t> words_;
  std::vector<std::uint32_t> number_, begin_, end_;  // by word
};

struct Projectivised {
  std::vector<std::int32_t> heads;
  std::uint32_t lifts = 0;  // steps; each gives a word its head's head
};

// The lifting of Nivre and Nilsson (2005). While an arc is not projective, the dependent of the shortest such arc gets
// its head's head. Of equally short arcs, the leftmost is taken. Refuses a cycle.
Projectivised projectivise(Heads heads);

}  // namespace treeglot
