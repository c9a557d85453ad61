// Trees out of forests, and forests out of trees.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "syntax/forest.h"
#include "syntax/tree.h"

namespace treeglot {

using ScoredTree = std::pair<double, Tree>;

// The tree of a derivation of the goal, given as its edges in preorder.
Tree derived_tree(const ParseForest& forest, std::span<const EdgeId> edges);

// The edges, in preorder, of the best tree by the scores as given, among those that agree with the given edges. Where a
// tree uses the head of a given edge, it must use this edge. Refuses two edges into one node; no edges without a parse.
std::vector<EdgeId> chosen_edges(const ParseForest& forest, std::span<const EdgeId> edges);

Tree viterbi_tree(const ParseForest& forest);  // of the scores as given; the empty tree without a parse
// The k best derivations and their scores, or all if there are fewer. Two derivations may give the same tree where two
// nodes have the same label and span, or two edges the same tails.
std::vector<ScoredTree> kbest_trees(const ParseForest& forest, std::size_t k);
// Drawn independently, each in proportion to e^score. The same seed gives the same trees; without a parse, empty ones.
std::vector<Tree> sample_trees(const ParseForest& forest, std::size_t number, std::uint64_t seed);

double count_trees(const ParseForest& forest);  // derivations: exact up to 2^53; 0 without a parse

// The forest that has this tree alone, with conditional probabilities of 1. Refuses the empty tree, which has no words.
ParseForest forest_of(const Tree& tree);

// The forest of a k-best list of trees and their log probabilities (up to a constant), over the same words. A node is a
// labelled span. The posterior of an edge is the summed probability of the trees that have it, over that of all trees.
//
// The unary chains of the list may lead over one span from a label back to itself. For example, X is above Y in one
// tree and Y above X in another, or X above X in one. The nodes over that span are then also told apart by the number
// of unary steps below them. This makes the cycle a ladder. Where the trees' roots are not one node, a node `top` is
// put above them.
ParseForest forest_of_kbest(std::span<const ScoredTree> trees, std::string_view top);

}  // namespace treeglot
