#include "syntax/tree_batch.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "base/error.h"

namespace treeglot {

void append_brackets(const Tree& tree, Symbols& labels, std::vector<Bracket>& out) {
  for (std::uint32_t node = 0; node < tree.size(); ++node) {
    if (tree.is_word(node) && tree.span(tree.parent(node)) == tree.span(node)) continue;
    out.push_back({labels.intern(tree.label(node)), tree.span(node)});
  }
}

void TreeBatch::append(const Tree& tree, std::span<const std::string_view> words,
                       std::span<const std::string_view> leaves) {
  if (leaves.size() != tree.words()) throw std::invalid_argument("there must be a leaf for each word of the tree");
  if (!tree.empty()) {
    const std::size_t common = std::min(leaves.size(), words.size());
    for (std::size_t i = 0; i < common; ++i) {
      if (leaves[i] != words[i]) {
        throw std::invalid_argument("word " + std::to_string(i + 1) + " of the tree is " + quoted(leaves[i]) +
                                    "; expected " + quoted(words[i]) + ", as the text has");
      }
    }
    if (leaves.size() != words.size()) {
      throw std::invalid_argument("the tree has " + std::to_string(leaves.size()) + " words; expected " +
                                  std::to_string(words.size()) + ", as the text has");
    }
    append_brackets(tree, labels_, brackets_);
  }
  ends_.push_back(brackets_.size());
}

}  // namespace treeglot
