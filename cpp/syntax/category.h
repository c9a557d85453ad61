// The simplest syntactic category of any span of a tree ("Fuzzy tree-to-tree extraction" of the t2t page). It is a
// constituent, a product of constituents side by side, or a constituent that lacks others on its left and right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/span.h"
#include "base/symbols.h"
#include "syntax/tree_batch.h"

namespace treeglot {

// Labels in the order of the sentence: `left` arguments, then one constituent or a product, then `right` arguments.
struct Category {
  std::uint32_t left = 0, right = 0;
  std::vector<Symbol> labels;

  bool simple() const { return labels.size() == 1; }  // a constituent
  void clear() {
    left = right = 0;
    labels.clear();
  }
};

class CategoryFinder {
 public:
  // Takes the brackets of a tree over `words` words, in preorder. Of brackets with equal spans (a unary chain) only the
  // first counts. One object serves many trees.
  void assign(std::span<const Bracket> brackets, std::size_t words);

  bool empty() const { return nodes_.empty(); }
  bool is_constituent(Span span) const { return nodes_[smallest(span)].span == span; }
  // Fewest labels; of equals a product before a slash; time is about the labels found and the height climbed.
  void find(Span span, Category& out) const;
  // Constituents that overlap the span without either holding the other; a unary chain is one.
  std::uint32_t crossed(Span span) const;

 private:
  struct Node {
    Span span;
    Symbol label;
    std::uint32_t parent;
  };
  // The smallest constituent that holds the span.
  std::uint32_t smallest(Span span) const;
  // The largest constituent that begins where the span does and is inside it.
  std::uint32_t largest_first(Span span) const;
  void append_parts(Span span, std::vector<Symbol>& out) const;
  std::size_t parts(Span span, std::size_t most) const;  // their number; stops counting above `most`

  std::vector<Node> nodes_;           // one for each span that has brackets
  std::vector<std::uint32_t> words_;  // the node of each word
};

// A label as part of a category's text. Characters that a reader would take for another part are written as %XX. The
// part may be one of the category, of a rule, of a feature's name or of a k-best list.
std::string escaped_label(std::string_view label);

// NP, PP·NP, IP/VP, NP\IP, DT\JJ\NP/PP: arguments in the order of the sentence. `text(label)` gives escaped labels.
template <class Text>
std::string category_text(const Category& category, const Text& text) {
  std::string out;
  const std::size_t last_left = category.left, first_right = category.labels.size() - category.right;
  for (std::size_t i = 0; i < category.labels.size(); ++i) {
    if (i >= first_right) {
      out += '/';
    } else if (i > last_left) {
      out += "·";
    }
    out += text(category.labels[i]);
    if (i < last_left) out += '\\';
  }
  return out;
}

// Of one tree, with text: for looking at. Both refuse a span outside the tree.
std::string span_category(const Tree& tree, Span span);
std::uint32_t crossed_constituents(const Tree& tree, Span span);

struct SpanCategory {
  Span span;
  std::string text;
};
std::vector<SpanCategory> span_categories(const Tree& tree, std::uint32_t max_length);  // by begin, then end

}  // namespace treeglot
