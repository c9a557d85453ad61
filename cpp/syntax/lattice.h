// A word lattice: several ways to read one sentence, such as segmentations, spellings or guesses of a recogniser.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/strings.h"

namespace treeglot {

struct LatticeArc {
  std::uint32_t from = 0, to = 0;  // nodes
  double score = 0;                // natural log

  friend bool operator==(const LatticeArc&, const LatticeArc&) = default;
};

// Nodes count from 0, where paths begin, to the last one, where they end. Arcs lead to later nodes, and every arc is on
// a path. An arc with an empty word has no word: it leads on for its score alone. A sentence without words has one node
// and no arcs.
class Lattice {
 public:
  // Arcs with their words, sorted here by the node that they leave; those of one node keep their order. Refuses what is
  // no lattice with std::invalid_argument.
  Lattice(std::vector<LatticeArc> arcs, const Strings& words);

  std::uint32_t nodes() const { return static_cast<std::uint32_t>(first_arc_.size()); }
  std::span<const LatticeArc> arcs() const { return arcs_; }
  const Strings& words() const { return words_; }  // by arc
  bool has_word(std::size_t arc) const { return !words_[arc].empty(); }
  // The arcs that leave a node are those from first_arc(node) on, before first_arc(node + 1).
  std::uint32_t first_arc(std::uint32_t node) const {
    return node < first_arc_.size() ? first_arc_[node] : static_cast<std::uint32_t>(arcs_.size());
  }

  friend bool operator==(const Lattice&, const Lattice&) = default;

 private:
  std::vector<LatticeArc> arcs_;
  Strings words_;
  std::vector<std::uint32_t> first_arc_;  // by node
};

}  // namespace treeglot
