// A constituency tree. Nodes are numbered in preorder, the root is 0; leaves are words, every other node has a
// label and at least one child. A failed parse is the tree without nodes.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/span.h"
#include "base/strings.h"

namespace treeglot {

class Tree {
 public:
  static constexpr std::uint32_t kNone = 0xffffffffu;

  Tree() = default;  // the empty tree: no parse
  // From the labels (a leaf's is its word) and subtree sizes of its nodes in preorder; refuses what is not one tree.
  Tree(Strings labels, std::vector<std::uint32_t> sizes);

  std::size_t size() const { return parents_.size(); }
  bool empty() const { return parents_.empty(); }
  std::string_view label(std::uint32_t node) const { return labels_[node]; }  // of a leaf: its word
  std::uint32_t parent(std::uint32_t node) const { return parents_[node]; }   // kNone for the root
  std::uint32_t subtree_size(std::uint32_t node) const { return sizes_[node]; }
  bool is_word(std::uint32_t node) const { return sizes_[node] == 1; }
  Span span(std::uint32_t node) const { return spans_[node]; }

  // Children of `node`: for (c = first_child(node); c != end(node); c = end(c)).
  std::uint32_t first_child(std::uint32_t node) const { return node + 1; }
  std::uint32_t end(std::uint32_t node) const { return node + sizes_[node]; }

  std::size_t words() const { return word_nodes_.size(); }
  std::uint32_t word_node(std::size_t position) const { return word_nodes_[position]; }
  std::string_view word(std::size_t position) const { return labels_[word_nodes_[position]]; }
  std::string_view tag(std::size_t position) const { return labels_[parents_[word_nodes_[position]]]; }

  const Strings& labels() const { return labels_; }
  std::span<const std::uint32_t> sizes() const { return sizes_; }

  friend bool operator==(const Tree& a, const Tree& b) { return a.labels_ == b.labels_ && a.sizes_ == b.sizes_; }

 private:
  friend class TreeBuilder;
  Strings labels_;
  std::vector<std::uint32_t> parents_, sizes_, word_nodes_;
  std::vector<Span> spans_;
};

// Brackets and words in reading order in, a tree out. Refuses, by std::invalid_argument, what is not a tree:
// empty labels and words, a word outside brackets, a bracket without children, a second root.
class TreeBuilder {
 public:
  void open(std::string_view label);
  void word(std::string_view text);
  void close();
  std::size_t depth() const { return open_.size(); }
  std::size_t size() const { return tree_.size(); }
  Tree finish();  // the tree, and an empty builder; refuses open brackets
  void clear();   // keeps its memory for the next tree

 private:
  std::uint32_t add(std::string_view label);

  Tree tree_;
  std::vector<std::uint32_t> open_;
};

}  // namespace treeglot
