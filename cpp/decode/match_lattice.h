// Chart matching on a lattice: every rule on every part of every path, each part found once.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "decode/match_chart.h"
#include "syntax/lattice.h"

namespace treeglot {

// A lattice as its words are read: each move has one word. Arcs without a word belong to the next word of the path, and
// those at its end to the last one. So every path that has words is one path of moves. Only moves on such paths are
// there.
class LatticeMoves {
 public:
  struct Move {
    std::uint32_t to;
    EdgeId word;                    // the arc that has it
    float value;                    // the sum of the arcs' scores
    std::uint32_t first_arc, arcs;  // in arcs()
  };
  static constexpr std::size_t kMostInRow = 1000, kMostSteps = 10'000'000;  // of arcs without words

  explicit LatticeMoves(const Lattice& lattice);  // refuses more with std::invalid_argument

  std::span<const Move> from(std::uint32_t node) const {
    return std::span(moves_).subspan(first_[node], first_[node + 1] - first_[node]);
  }
  std::span<const EdgeId> arcs(const Move& move) const { return std::span(arcs_).subspan(move.first_arc, move.arcs); }

 private:
  void follow(const Lattice& lattice, std::uint32_t node);
  void end(const Lattice& lattice, EdgeId word, std::uint32_t node);
  void step(EdgeId arc);
  void add(const Lattice& lattice, EdgeId word, std::uint32_t to);
  void keep_useful(std::uint32_t nodes);

  std::vector<Move> moves_;
  std::vector<std::uint32_t> first_;  // by node, and one more
  std::vector<EdgeId> arcs_;
  std::vector<EdgeId> path_;  // of the move that is being made
  std::size_t steps_ = 0;
};

// Fills a chart. A cell has the nodes over all paths of so many words between two nodes of the lattice. So limits of
// rules count words. Derivations are those of all paths, each as if it was the sentence.
class LatticeWalk {
 public:
  LatticeWalk(Chart& chart, const Lattice& lattice);

  TranslationForest run();

 private:
  struct Cell {
    std::uint32_t end, width;  // a node of the lattice, and words
    std::vector<Chart::Item> items;
  };
  struct Uses;

  void add_cells(std::uint32_t begin);
  void begin_at(std::uint32_t begin);
  void finish(std::size_t cell);
  void extend(RuleTable::Node node, std::uint32_t at, std::uint32_t width, double value);
  void extend_by_word(RuleTable::Node node, std::uint32_t at, std::uint32_t width, double value);
  void extend_by_items(RuleTable::Node node, const RuleTable::VariableChildren& variables,
                       std::span<const Chart::Item> items, std::uint32_t end, std::uint32_t width, double value);
  bool has_rules(Symbol word) const;
  void add_sentence();

  Chart& chart_;
  const std::uint32_t last_;  // node
  LatticeMoves moves_;
  std::vector<std::vector<Cell>> cells_;  // by begin, sorted by end, then by words
  std::vector<EdgeId> arcs_;              // of the partial match at hand

  // Of what begins at the node at hand, by cell: matches, what the lattice gives them, and its arcs.
  struct Found {
    std::vector<Chart::Match> matches;
    std::vector<std::pair<float, Span>> uses;
  };
  std::vector<Found> found_;
  std::vector<EdgeId> found_arcs_;
};

}  // namespace treeglot
