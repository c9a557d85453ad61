#include "syntax/to_dependency.h"

#include <utility>

namespace treeglot {
namespace {

// Kept over the trees of a batch, so that its arrays are allocated once.
class Converter {
 public:
  explicit Converter(const HeadTable& table) : table_(table) {}

  Dependency convert(const Tree& tree) {
    std::vector<std::int32_t> heads(tree.words(), Dependency::kRoot);
    head_word_.resize(tree.size());
    label_.resize(tree.size());
    // Nodes are in preorder: from the last to the first, children come before their parents.
    for (auto node = static_cast<std::uint32_t>(tree.size()); node-- > 0;) {
      if (tree.is_word(node)) {
        head_word_[node] = static_cast<std::int32_t>(tree.span(node).begin);
        label_[node] = table_.unknown();
      } else {
        label_[node] = table_.find(tree.label(node));
        head_word_[node] = attach_children(tree, node, heads);
      }
    }
    return Dependency(words(tree), std::move(heads), tags(tree));
  }

 private:
  std::int32_t attach_children(const Tree& tree, std::uint32_t node, std::vector<std::int32_t>& heads) {
    children_.clear();
    child_labels_.clear();
    for (std::uint32_t child = tree.first_child(node); child != tree.end(node); child = tree.end(child)) {
      children_.push_back(child);
      child_labels_.push_back(label_[child]);
    }
    const std::uint32_t head = children_[table_.head_child(label_[node], child_labels_)];
    for (const std::uint32_t child : children_) {
      if (child != head) heads[static_cast<std::size_t>(head_word_[child])] = head_word_[head];
    }
    return head_word_[head];
  }

  static Strings words(const Tree& tree) {
    Strings words;
    for (std::size_t position = 0; position < tree.words(); ++position) words.append(tree.word(position));
    return words;
  }

  Strings tags(const Tree& tree) const {
    Strings tags;
    for (std::size_t position = 0; position < tree.words(); ++position) tags.append(table_.base(tree.tag(position)));
    return tags;
  }

  const HeadTable& table_;
  std::vector<std::int32_t> head_word_;  // by node
  std::vector<HeadTable::Label> label_;  // by node
  std::vector<std::uint32_t> children_;  // of the node at hand
  std::vector<HeadTable::Label> child_labels_;
};

}  // namespace

Dependency to_dependency(const Tree& tree, const HeadTable& heads) { return Converter(heads).convert(tree); }

std::vector<Dependency> to_dependency(std::span<const Tree* const> trees, const HeadTable& heads) {
  std::vector<Dependency> out;
  out.reserve(trees.size());
  Converter converter(heads);
  for (const Tree* tree : trees) out.push_back(converter.convert(*tree));
  return out;
}

}  // namespace treeglot
