// Many constituency trees as labelled brackets: what extractors read of them, 12 bytes a node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/exclusive.h"
#include "base/span.h"
#include "base/symbols.h"
#include "syntax/tree.h"

namespace treeglot {

struct Bracket {
  Symbol label = 0;
  Span span;
  friend bool operator==(const Bracket&, const Bracket&) = default;
};

// The nodes of a tree above its words, in preorder. A word that has brothers has no node of its own: it gets one whose
// label is the word.
void append_brackets(const Tree& tree, Symbols& labels, std::vector<Bracket>& out);

class TreeBatch : public Exclusive {
 public:
  std::size_t size() const { return ends_.size() - 1; }
  std::span<const Bracket> operator[](std::size_t i) const {
    return std::span<const Bracket>(brackets_).subspan(ends_[i], ends_[i + 1] - ends_[i]);
  }
  std::string_view label(Symbol number) const { return labels_.text(number); }
  std::size_t labels() const { return labels_.size(); }

  // Adds the tree of a sentence, which may be empty; refuses one whose words are not the sentence's, saying where.
  // `leaves` are what the tree's words are taken for, such as the same in lower case.
  void append(const Tree& tree, std::span<const std::string_view> words, std::span<const std::string_view> leaves);

 private:
  Symbols labels_;
  std::vector<Bracket> brackets_;
  std::vector<std::uint64_t> ends_ = {0};
};

}  // namespace treeglot
