#include "syntax/tree.h"

#include <stdexcept>
#include <string>

#include "base/error.h"

namespace treeglot {

Tree::Tree(Strings labels, std::vector<std::uint32_t> sizes) {
  if (labels.size() != sizes.size()) {
    throw std::invalid_argument("a tree with " + std::to_string(labels.size()) + " labels and " +
                                std::to_string(sizes.size()) + " sizes: expected one size for each label");
  }
  TreeBuilder builder;
  std::vector<std::size_t> ends;  // of the open nodes
  for (std::size_t node = 0; node < sizes.size(); ++node) {
    const std::size_t room = (ends.empty() ? sizes.size() : ends.back()) - node;
    if (sizes[node] == 0 || sizes[node] > room) {
      throw std::invalid_argument("node " + std::to_string(node) + " has subtree size " + std::to_string(sizes[node]) +
                                  "; expected 1 to " + std::to_string(room));
    }
    if (sizes[node] == 1) {
      builder.word(labels[node]);
    } else {
      builder.open(labels[node]);
      ends.push_back(node + sizes[node]);
    }
    while (!ends.empty() && ends.back() == node + 1) {
      builder.close();
      ends.pop_back();
    }
  }
  *this = builder.finish();
}

std::uint32_t TreeBuilder::add(std::string_view label) {
  if (open_.empty() && !tree_.empty()) throw std::invalid_argument("a second root " + quoted(label) + " in one tree");
  const auto node = static_cast<std::uint32_t>(tree_.size());
  const auto begin = static_cast<std::uint32_t>(tree_.word_nodes_.size());
  tree_.labels_.append(label);
  tree_.parents_.push_back(open_.empty() ? Tree::kNone : open_.back());
  tree_.sizes_.push_back(1);
  tree_.spans_.push_back({begin, begin});
  return node;
}

void TreeBuilder::open(std::string_view label) {
  if (label.empty()) throw std::invalid_argument("a node without a label");
  open_.push_back(add(label));
}

void TreeBuilder::word(std::string_view text) {
  if (text.empty()) throw std::invalid_argument("an empty word");
  if (open_.empty()) throw std::invalid_argument("the word " + quoted(text) + " outside brackets");
  const std::uint32_t node = add(text);
  tree_.word_nodes_.push_back(node);
  ++tree_.spans_[node].end;
}

void TreeBuilder::close() {
  if (open_.empty()) throw std::invalid_argument("a closing bracket too many");
  const std::uint32_t node = open_.back();
  const auto size = static_cast<std::uint32_t>(tree_.size() - node);
  if (size == 1) throw std::invalid_argument("the node " + quoted(tree_.label(node)) + " has no children");
  open_.pop_back();
  tree_.sizes_[node] = size;
  tree_.spans_[node].end = static_cast<std::uint32_t>(tree_.word_nodes_.size());
}

Tree TreeBuilder::finish() {
  if (!open_.empty()) {
    throw std::invalid_argument("the node " + quoted(tree_.label(open_.back())) + " is not closed");
  }
  Tree done = tree_;  // a copy takes no more memory than it needs
  clear();
  return done;
}

void TreeBuilder::clear() {
  tree_.labels_.clear();
  tree_.parents_.clear();
  tree_.sizes_.clear();
  tree_.word_nodes_.clear();
  tree_.spans_.clear();
  open_.clear();
}

}  // namespace treeglot
