#include "syntax/to_dependency.h"

#include <utility>

#include "syntax/head_style.h"

namespace treeglot {
namespace {

// Kept over the trees of a batch, so that its arrays are allocated once.
class Converter {
 public:
  Converter(const HeadTable& table, const HeadStyle& style) : table_(table), style_(style) {}

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
    constituent_.label = label_[node];
    constituent_.base = table_.base(tree.label(node));
    constituent_.children.clear();
    constituent_.bases.clear();
    constituent_.tags.clear();
    for (std::uint32_t child = tree.first_child(node); child != tree.end(node); child = tree.end(child)) {
      children_.push_back(child);
      constituent_.children.push_back(label_[child]);
      constituent_.bases.push_back(tree.is_word(child) ? std::string_view() : table_.base(tree.label(child)));
      constituent_.tags.push_back(tree.subtree_size(child) == 2 ? 1 : 0);
    }
    if (style_.coordination != HeadStyle::Coordination::table) {
      const std::vector<std::size_t> hangs = coordinate(constituent_, table_, style_);
      if (!hangs.empty()) return attach(hangs, heads);
    }
    const std::uint32_t head = children_[head_of(constituent_, table_, style_)];
    for (const std::uint32_t child : children_) {
      if (child != head) heads[static_cast<std::size_t>(head_word_[child])] = head_word_[head];
    }
    return head_word_[head];
  }

  std::int32_t attach(const std::vector<std::size_t>& hangs, std::vector<std::int32_t>& heads) {
    std::int32_t top = 0;
    for (std::size_t child = 0; child < hangs.size(); ++child) {
      const std::int32_t word = head_word_[children_[child]];
      if (hangs[child] == child) {
        top = word;
      } else {
        heads[static_cast<std::size_t>(word)] = head_word_[children_[hangs[child]]];
      }
    }
    return top;
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
  const HeadStyle& style_;
  std::vector<std::int32_t> head_word_;  // by node
  std::vector<HeadTable::Label> label_;  // by node
  std::vector<std::uint32_t> children_;  // of the node at hand
  Constituent constituent_;              // likewise
};

}  // namespace

Dependency to_dependency(const Tree& tree, const HeadTable& heads, const HeadStyle& style) {
  return Converter(heads, style).convert(tree);
}

std::vector<Dependency> to_dependency(std::span<const Tree* const> trees, const HeadTable& heads,
                                      const HeadStyle& style) {
  std::vector<Dependency> out;
  out.reserve(trees.size());
  Converter converter(heads, style);
  for (const Tree* tree : trees) out.push_back(converter.convert(*tree));
  return out;
}

}  // namespace treeglot
