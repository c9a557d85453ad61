#include <memory>
#include <optional>
#include <utility>

#include "bind/arrays.h"
#include "bind/core.h"
#include "syntax/brackets.h"
#include "syntax/tree.h"

namespace treeglot {
namespace {

constexpr std::size_t kLongestRepr = 120;  // characters of a value shown in full

using TreePtr = std::shared_ptr<const Tree>;

// A handle: the tree and the number of a node in it.
struct TreeNode {
  TreePtr tree;
  std::uint32_t index;
};

std::uint32_t checked(const Tree& tree, std::int64_t node) {
  const auto size = static_cast<std::int64_t>(tree.size());
  if (node < -size || node >= size) {
    throw nb::index_error(
        ("node " + std::to_string(node) + " of a tree with " + std::to_string(size) + " nodes").c_str());
  }
  return static_cast<std::uint32_t>(node < 0 ? node + size : node);
}

std::vector<std::uint32_t> children(const Tree& tree, std::uint32_t node) {
  std::vector<std::uint32_t> out;
  for (std::uint32_t child = tree.first_child(node); child != tree.end(node); child = tree.end(child))
    out.push_back(child);
  return out;
}

std::vector<std::string_view> words_in(const Tree& tree, Span span) {
  std::vector<std::string_view> out;
  for (std::uint32_t i = span.begin; i < span.end; ++i) out.push_back(tree.word(i));
  return out;
}

std::vector<std::string_view> tags_in(const Tree& tree, Span span) {
  std::vector<std::string_view> out;
  for (std::uint32_t i = span.begin; i < span.end; ++i) out.push_back(tree.tag(i));
  return out;
}

Span whole(const Tree& tree) { return {0, static_cast<std::uint32_t>(tree.words())}; }

Tree subtree(const Tree& tree, std::uint32_t node) {
  if (tree.is_word(node)) throw nb::value_error("a word has no subtree: a tree has a label above each word");
  Strings labels;
  for (std::uint32_t i = node; i < tree.end(node); ++i) labels.append(tree.label(i));
  const auto sizes = tree.sizes().subspan(node, tree.subtree_size(node));
  return Tree(std::move(labels), {sizes.begin(), sizes.end()});
}

// (label, child, …) where a child is a str (a word) or nested likewise. An explicit stack: depth is data.
Tree from_nested(nb::handle nested) {
  const auto is_sequence = [](nb::handle h) { return nb::isinstance<nb::tuple>(h) || nb::isinstance<nb::list>(h); };
  constexpr std::size_t kDeepest = 1 << 20;  // a list that holds itself is deeper
  struct Frame {
    nb::object sequence;
    std::size_t next;
  };
  TreeBuilder builder;
  std::vector<Frame> stack;
  const auto enter = [&](nb::object h) {
    if (stack.size() == kDeepest) throw nb::value_error("a tree is nested deeper than 1048576 levels");
    if (nb::len(h) < 2 || !nb::isinstance<nb::str>(h[0]))
      throw nb::value_error("a node must be a sequence of a label (str) and at least one child");
    builder.open(nb::cast<std::string_view>(h[0]));
    stack.push_back({std::move(h), 1});
  };
  if (!is_sequence(nested)) throw nb::value_error("a tree must be a tuple or a list of a label and children");
  if (nb::len(nested) == 0) return {};
  enter(nb::borrow(nested));
  while (!stack.empty()) {
    Frame& frame = stack.back();
    if (frame.next >= nb::len(frame.sequence)) {
      builder.close();
      stack.pop_back();
      continue;
    }
    const nb::object child = frame.sequence[frame.next++];
    if (nb::isinstance<nb::str>(child)) {
      builder.word(nb::cast<std::string_view>(child));
    } else if (is_sequence(child)) {
      enter(child);
    } else {
      throw nb::value_error("a child must be a str (a word) or a nested tuple or list");
    }
  }
  return builder.finish();
}

nb::object to_nested(const Tree& tree) {
  if (tree.empty()) return nb::tuple();
  std::vector<std::pair<std::uint32_t, nb::list>> open;  // the end of a node and its items so far
  for (std::uint32_t node = 0;; ++node) {
    nb::object done;
    if (tree.is_word(node)) {
      done = nb::cast(tree.label(node));
    } else {
      nb::list items;
      items.append(tree.label(node));
      open.emplace_back(tree.end(node), std::move(items));
      continue;
    }
    open.back().second.append(std::move(done));
    while (open.back().first == node + 1) {
      nb::object closed = nb::tuple(open.back().second);
      open.pop_back();
      if (open.empty()) return closed;
      open.back().second.append(std::move(closed));
    }
  }
}

std::string repr(const Tree& tree) {
  const std::string text = tree.words() <= kLongestRepr ? show_brackets(tree) : std::string(kLongestRepr + 1, ' ');
  if (text.size() <= kLongestRepr) return "Tree.parse(" + nb::cast<std::string>(nb::repr(nb::cast(text))) + ")";
  return "<Tree " + std::string(tree.label(0)) + " of " + std::to_string(tree.size()) + " nodes, " +
         std::to_string(tree.words()) + " words>";
}

}  // namespace

void bind_syntax_tree(nb::module_& m) {
  nb::class_<Tree> tree(m, "Tree",
                        "A constituency tree: a sequence of nodes in preorder; without nodes, a failed parse.");
  nb::class_<TreeNode> node(m, "TreeNode", "A node of a tree: a light handle on the tree and the node's number.");

  tree.def(nb::init<>(), "The empty tree: no parse.")
      .def(
          "__init__",
          [](Tree* self, const std::vector<std::string_view>& labels, Sizes sizes) {
            new (self) Tree(to_strings(labels), std::move(sizes));
          },
          "labels"_a, "sizes"_a, "From the labels (a word's is the word) and subtree sizes of its nodes in preorder.")
      .def_static("parse", &parse_brackets, "text"_a, "The tree in Penn Treebank brackets: (S (NP I) (VP run)).")
      .def_static("from_nested", &from_nested, "nested"_a,
                  nb::sig("def from_nested(nested: tuple[typing.Any, ...] | list[typing.Any]) -> Tree"),
                  "The tree of nested tuples or lists (label, child, ...); a child is a word or nested likewise.")
      .def("to_nested", &to_nested, "The tree as nested tuples (label, child, ...).")
      .def("__str__", &show_brackets)
      .def("__repr__", &repr)
      .def("__len__", &Tree::size)
      .def("__eq__", &equal<Tree>, "other"_a.none())
      .def("__hash__", [](const Tree& t) { return hash_of(t.labels(), hash_of(t.sizes(), 0)); })
      .def("__getstate__", [](const Tree& t) { return std::tuple(to_pickle(t.labels()), to_bytes(t.sizes())); })
      .def("__setstate__",
           [](Tree& self, const std::tuple<PickledStrings, nb::bytes>& state) {
             new (&self) Tree(from_pickle(std::get<0>(state)), from_bytes<std::uint32_t>(std::get<1>(state)));
           })
      .def(
          "__getitem__", [](const TreePtr& t, std::int64_t i) { return TreeNode{t, checked(*t, i)}; }, "node"_a,
          "A handle on a node.")
      .def_prop_ro(
          "root", [](const TreePtr& t) { return TreeNode{t, checked(*t, 0)}; }, "A handle on the root.")
      .def_prop_ro("size", &Tree::size, "The number of nodes, words included.")
      .def(
          "label", [](const Tree& t, std::int64_t i) { return t.label(checked(t, i)); }, "node"_a,
          "The label of a node; the word of a leaf.")
      .def(
          "parent",
          [](const Tree& t, std::int64_t i) -> std::optional<std::uint32_t> {
            const std::uint32_t parent = t.parent(checked(t, i));
            return parent == Tree::kNone ? std::nullopt : std::optional(parent);
          },
          "node"_a, "The number of a node's parent; None for the root.")
      .def(
          "children", [](const Tree& t, std::int64_t i) { return children(t, checked(t, i)); }, "node"_a,
          "The numbers of a node's children.")
      .def(
          "span", [](const Tree& t, std::int64_t i) { return to_pair(t.span(checked(t, i))); }, "node"_a,
          "The words below a node, as (begin, end).")
      .def(
          "is_word", [](const Tree& t, std::int64_t i) { return t.is_word(checked(t, i)); }, "node"_a,
          "Whether a node is a leaf.")
      .def_prop_ro(
          "labels", [](const Tree& t) { return to_list(t.labels()); }, nb::sig("def labels(self) -> list[str]"),
          "The labels of all nodes in preorder.")
      .def_prop_ro(
          "sizes", [](const Tree& t) { return view(t.sizes()); }, nb::rv_policy::reference_internal,
          "The number of nodes in each node's subtree, itself included: a view.")
      .def_prop_ro(
          "words", [](const Tree& t) { return words_in(t, whole(t)); }, "The words.")
      .def_prop_ro("tags", [](const Tree& t) { return tags_in(t, whole(t)); }, "The label of each word's parent.");

  node.def_prop_ro(
          "tree", [](const TreeNode& n) { return n.tree; }, "The tree that the node belongs to.")
      .def_prop_ro(
          "index", [](const TreeNode& n) { return n.index; }, "The node's number in preorder.")
      .def_prop_ro(
          "label", [](const TreeNode& n) { return n.tree->label(n.index); }, "The label; the word of a leaf.")
      .def_prop_ro(
          "is_word", [](const TreeNode& n) { return n.tree->is_word(n.index); }, "Whether it is a leaf.")
      .def_prop_ro(
          "span", [](const TreeNode& n) { return to_pair(n.tree->span(n.index)); }, "The words below, as (begin, end).")
      .def_prop_ro(
          "words", [](const TreeNode& n) { return words_in(*n.tree, n.tree->span(n.index)); }, "The words below.")
      .def_prop_ro(
          "tags", [](const TreeNode& n) { return tags_in(*n.tree, n.tree->span(n.index)); },
          "The label of each word's parent.")
      .def_prop_ro(
          "parent",
          [](const TreeNode& n) -> std::optional<TreeNode> {
            const std::uint32_t parent = n.tree->parent(n.index);
            return parent == Tree::kNone ? std::nullopt : std::optional(TreeNode{n.tree, parent});
          },
          "The parent; None for the root.")
      .def_prop_ro(
          "children",
          [](const TreeNode& n) {
            std::vector<TreeNode> out;
            for (const std::uint32_t child : children(*n.tree, n.index)) out.push_back({n.tree, child});
            return out;
          },
          "The children, from left to right.")
      .def(
          "subtree", [](const TreeNode& n) { return subtree(*n.tree, n.index); },
          "The tree below the node, itself the root; a word has none.")
      .def(
          "__eq__",
          [](const TreeNode& a, nb::handle b) {
            if (!nb::isinstance<TreeNode>(b)) return false;
            const auto& other = nb::cast<const TreeNode&>(b);
            return a.index == other.index && (a.tree == other.tree || *a.tree == *other.tree);
          },
          "other"_a.none(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__", [](const TreeNode& n) { return hash_bytes(n.tree->label(n.index), n.index); })
      .def("__repr__", [](const TreeNode& n) {
        const auto [begin, end] = n.tree->span(n.index);
        return "<TreeNode " + std::to_string(n.index) + " " + std::string(n.tree->label(n.index)) + " [" +
               std::to_string(begin) + ", " + std::to_string(end) + ")>";
      });
}

}  // namespace treeglot
