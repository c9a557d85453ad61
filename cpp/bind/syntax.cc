#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <utility>

#include "bind/arrays.h"
#include "bind/core.h"
#include "syntax/alignment.h"
#include "syntax/brackets.h"
#include "syntax/dependency.h"
#include "syntax/forest.h"
#include "syntax/forest_stages.h"
#include "syntax/forest_trees.h"
#include "syntax/pharaoh.h"
#include "syntax/tree.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace treeglot {
namespace {

using SpanPair = std::pair<std::uint32_t, std::uint32_t>;
using Sizes = std::vector<std::uint32_t>;

SpanPair pair(Span span) { return {span.begin, span.end}; }

constexpr std::size_t kLongestRepr = 120;  // characters of a value shown in full

// ---------------------------------------------------------------- Tree

using TreePtr = std::shared_ptr<const Tree>;

// A handle: the tree and the number of a node in it.
struct TreeNode {
  TreePtr tree;
  std::uint32_t index;
};

std::uint32_t checked(const Tree& tree, std::int64_t node) {
  const auto size = static_cast<std::int64_t>(tree.size());
  if (node < -size || node >= size) {
    throw nb::index_error(("node " + std::to_string(node) + " of a tree with " + std::to_string(size) + " nodes").c_str());
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
  Strings labels;
  for (std::uint32_t i = node; i < tree.end(node); ++i) labels.append(tree.label(i));
  const auto sizes = tree.sizes().subspan(node, tree.subtree_size(node));
  return Tree(std::move(labels), {sizes.begin(), sizes.end()});
}

// (label, child, …) where a child is a str (a word) or nested likewise. An explicit stack: depth is data.
Tree from_nested(nb::handle nested) {
  const auto is_sequence = [](nb::handle h) { return nb::isinstance<nb::tuple>(h) || nb::isinstance<nb::list>(h); };
  struct Frame {
    nb::handle sequence;
    std::size_t next;
  };
  TreeBuilder builder;
  std::vector<Frame> stack;
  const auto enter = [&](nb::handle h) {
    if (nb::len(h) < 2 || !nb::isinstance<nb::str>(h[0]))
      throw nb::value_error("a node must be a sequence of a label (str) and at least one child");
    builder.open(nb::cast<std::string_view>(h[0]));
    stack.push_back({h, 1});
  };
  if (!is_sequence(nested)) throw nb::value_error("a tree must be a tuple or a list of a label and children");
  if (nb::len(nested) == 0) return {};
  enter(nested);
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
      enter(child);  // the frame below holds a reference to it
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

void bind_tree(nb::module_& m) {
  nb::class_<Tree> tree(m, "Tree", "A constituency tree: a sequence of nodes in preorder; without nodes, a failed parse.");
  nb::class_<TreeNode> node(m, "TreeNode", "A node of a tree: a light handle on the tree and the node's number.");

  tree.def(nb::init<>(), "The empty tree: no parse.")
      .def(
          "__init__",
          [](Tree* self, const std::vector<std::string_view>& labels, Sizes sizes) {
            new (self) Tree(to_strings(labels), std::move(sizes));
          },
          "labels"_a, "sizes"_a, "From the labels (a word's is the word) and subtree sizes of its nodes in preorder.")
      .def_static("parse", &parse_brackets, "text"_a, "The tree in Penn Treebank brackets: (S (NP I) (VP run)).")
      .def_static("from_nested", &from_nested, "nested"_a, nb::sig("def from_nested(nested: tuple[typing.Any, ...] | list[typing.Any]) -> Tree"),
                  "The tree of nested tuples or lists (label, child, ...); a child is a str (a word) or nested likewise.")
      .def("to_nested", &to_nested, "The tree as nested tuples (label, child, ...).")
      .def("__str__", &show_brackets)
      .def("__repr__", &repr)
      .def("__len__", &Tree::size)
      .def("__eq__", [](const Tree& a, nb::handle b) { return nb::isinstance<Tree>(b) && a == nb::cast<const Tree&>(b); },
           "other"_a.none(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__", [](const Tree& t) { return hash_of(t.labels(), hash_of(t.sizes(), 0)); })
      .def("__getstate__", [](const Tree& t) { return std::tuple(to_pickle(t.labels()), to_bytes(t.sizes())); })
      .def("__setstate__",
           [](Tree& self, const std::tuple<PickledStrings, nb::bytes>& state) {
             new (&self) Tree(from_pickle(std::get<0>(state)), from_bytes<std::uint32_t>(std::get<1>(state)));
           })
      .def("__getitem__", [](TreePtr t, std::int64_t i) { return TreeNode{t, checked(*t, i)}; }, "node"_a,
           "A handle on a node.")
      .def_prop_ro(
          "root", [](TreePtr t) { return TreeNode{t, checked(*t, 0)}; }, "A handle on the root.")
      .def_prop_ro("size", &Tree::size, "The number of nodes, words included.")
      .def("label", [](const Tree& t, std::int64_t i) { return t.label(checked(t, i)); }, "node"_a,
           "The label of a node; the word of a leaf.")
      .def(
          "parent",
          [](const Tree& t, std::int64_t i) -> std::optional<std::uint32_t> {
            const std::uint32_t parent = t.parent(checked(t, i));
            return parent == Tree::kNone ? std::nullopt : std::optional(parent);
          },
          "node"_a, "The number of a node's parent; None for the root.")
      .def("children", [](const Tree& t, std::int64_t i) { return children(t, checked(t, i)); }, "node"_a,
           "The numbers of a node's children.")
      .def("span", [](const Tree& t, std::int64_t i) { return pair(t.span(checked(t, i))); }, "node"_a,
           "The words below a node, as (begin, end).")
      .def("is_word", [](const Tree& t, std::int64_t i) { return t.is_word(checked(t, i)); }, "node"_a,
           "Whether a node is a leaf.")
      .def_prop_ro("labels", [](const Tree& t) { return to_list(t.labels()); }, nb::sig("def labels(self) -> list[str]"),
                   "The labels of all nodes in preorder.")
      .def_prop_ro(
          "sizes", [](const Tree& t) { return view(t.sizes()); }, nb::rv_policy::reference_internal,
          "The number of nodes in each node's subtree, itself included: a view.")
      .def_prop_ro("words", [](const Tree& t) { return words_in(t, whole(t)); }, "The words.")
      .def_prop_ro("tags", [](const Tree& t) { return tags_in(t, whole(t)); }, "The label of each word's parent.");

  node.def_prop_ro("tree", [](const TreeNode& n) { return n.tree; }, "The tree that the node belongs to.")
      .def_prop_ro("index", [](const TreeNode& n) { return n.index; }, "The node's number in preorder.")
      .def_prop_ro("label", [](const TreeNode& n) { return n.tree->label(n.index); }, "The label; the word of a leaf.")
      .def_prop_ro("is_word", [](const TreeNode& n) { return n.tree->is_word(n.index); }, "Whether it is a leaf.")
      .def_prop_ro("span", [](const TreeNode& n) { return pair(n.tree->span(n.index)); },
                   "The words below, as (begin, end).")
      .def_prop_ro("words", [](const TreeNode& n) { return words_in(*n.tree, n.tree->span(n.index)); },
                   "The words below.")
      .def_prop_ro("tags", [](const TreeNode& n) { return tags_in(*n.tree, n.tree->span(n.index)); },
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
      .def("subtree", [](const TreeNode& n) { return subtree(*n.tree, n.index); },
           "The tree below the node, itself the root; a word has none.")
      .def("__eq__",
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

// ---------------------------------------------------------------- Dependency

void bind_dependency(nb::module_& m) {
  using Texts = std::vector<std::string_view>;
  const auto optional_list = [](const Strings& strings) -> nb::object {
    return strings.empty() ? nb::none() : nb::object(to_list(strings));
  };
  nb::class_<Dependency>(m, "Dependency", "A head for every word: a position, -1 for a root, -2 for none.")
      .def(
          "__init__",
          [](Dependency* self, const Texts& words, std::vector<std::int32_t> heads, const std::optional<Texts>& tags,
             const std::optional<Texts>& relations) {
            new (self) Dependency(to_strings(words), std::move(heads), to_strings(tags.value_or(Texts())),
                                  to_strings(relations.value_or(Texts())));
          },
          "words"_a, "heads"_a, "tags"_a = nb::none(), "relations"_a = nb::none(),
          "tags and relations are as long as words, or None.")
      .def_ro_static("ROOT", &Dependency::kRoot, "The head of a root.")
      .def_ro_static("NO_HEAD", &Dependency::kNoHead, "The head of a word that the parser gave none.")
      .def_prop_ro("words", [](const Dependency& d) { return to_list(d.words()); },
                   nb::sig("def words(self) -> list[str]"), "The words.")
      .def_prop_ro(
          "heads", [](const Dependency& d) { return view(d.heads()); }, nb::rv_policy::reference_internal,
          "The head of every word: a view.")
      .def_prop_ro("tags", [=](const Dependency& d) { return optional_list(d.tags()); },
                   nb::sig("def tags(self) -> list[str] | None"), "The tag of every word, or None.")
      .def_prop_ro("relations", [=](const Dependency& d) { return optional_list(d.relations()); },
                   nb::sig("def relations(self) -> list[str] | None"),
                   "The relation of every word to its head, or None.")
      .def("__len__", &Dependency::size)
      .def("__eq__",
           [](const Dependency& a, nb::handle b) {
             return nb::isinstance<Dependency>(b) && a == nb::cast<const Dependency&>(b);
           },
           "other"_a.none(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__",
           [](const Dependency& d) {
             return hash_of(d.words(), hash_of(d.heads(), hash_of(d.tags(), hash_of(d.relations(), 0))));
           })
      .def("__getstate__",
           [](const Dependency& d) {
             return std::tuple(to_pickle(d.words()), to_bytes(d.heads()), to_pickle(d.tags()), to_pickle(d.relations()));
           })
      .def("__setstate__",
           [](Dependency& self, const std::tuple<PickledStrings, nb::bytes, PickledStrings, PickledStrings>& state) {
             const auto& [words, heads, tags, relations] = state;
             new (&self) Dependency(from_pickle(words), from_bytes<std::int32_t>(heads), from_pickle(tags),
                                    from_pickle(relations));
           })
      .def("__repr__", [=](const Dependency& d) {
        if (d.size() > kLongestRepr / 6) return "<Dependency of " + std::to_string(d.size()) + " words>";
        std::string out = "Dependency(" + nb::cast<std::string>(nb::repr(to_list(d.words()))) + ", [";
        for (std::size_t i = 0; i < d.size(); ++i) out += (i == 0 ? "" : ", ") + std::to_string(d.head(i));
        out += "]";
        if (!d.tags().empty()) out += ", tags=" + nb::cast<std::string>(nb::repr(to_list(d.tags())));
        if (!d.relations().empty()) out += ", relations=" + nb::cast<std::string>(nb::repr(to_list(d.relations())));
        return out + ")";
      });
}

// ---------------------------------------------------------------- Alignment

static_assert(sizeof(Link) == 2 * sizeof(std::uint32_t));

std::span<const std::uint32_t> flat(const Alignment& alignment) {
  return {reinterpret_cast<const std::uint32_t*>(alignment.links().data()), 2 * alignment.size()};
}

Alignment from_flat(std::span<const std::uint32_t> numbers) {
  std::vector<Link> links;
  for (std::size_t i = 0; i + 1 < numbers.size(); i += 2) links.push_back({numbers[i], numbers[i + 1]});
  return Alignment(std::move(links));
}

void bind_alignment(nb::module_& m) {
  using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  using Links = nb::ndarray<nb::numpy, const std::uint32_t, nb::shape<-1, 2>, nb::c_contig>;
  const auto pairs = [](const Alignment& a) {
    Pairs out;
    for (const Link link : a.links()) out.emplace_back(link.source, link.target);
    return out;
  };
  nb::class_<Alignment>(m, "Alignment", "A set of (source, target) links, sorted.")
      .def(
          "__init__",
          [](Alignment* self, nb::iterable links) {
            std::vector<Link> out;
            for (nb::handle item : links) {
              const auto [source, target] = nb::cast<std::pair<std::uint32_t, std::uint32_t>>(item);
              out.push_back({source, target});
            }
            new (self) Alignment(std::move(out));
          },
          "links"_a = nb::tuple(), nb::sig("def __init__(self, links: collections.abc.Iterable[tuple[int, int]] = ()) -> None"),
          "Positions count from 0; doubles are dropped.")
      .def_static("parse", &parse_pharaoh, "text"_a, "The links of a Pharaoh line: 0-0 1-2.")
      .def("__str__", &write_pharaoh)
      .def("__repr__",
           [](const Alignment& a) {
             if (a.size() > kLongestRepr / 4) return "<Alignment of " + std::to_string(a.size()) + " links>";
             return "Alignment.parse('" + write_pharaoh(a) + "')";
           })
      .def("__len__", &Alignment::size)
      .def("__iter__", [=](const Alignment& a) { return nb::iter(nb::cast(pairs(a))); },
           nb::sig("def __iter__(self) -> collections.abc.Iterator[tuple[int, int]]"))
      .def("__contains__",
           [](const Alignment& a, std::pair<std::int64_t, std::int64_t> link) {
             const auto fits = [](std::int64_t i) { return i >= 0 && i <= std::int64_t{0xffffffff}; };
             return fits(link.first) && fits(link.second) &&
                    a.contains({static_cast<std::uint32_t>(link.first), static_cast<std::uint32_t>(link.second)});
           },
           "link"_a)
      .def("__eq__",
           [](const Alignment& a, nb::handle b) {
             return nb::isinstance<Alignment>(b) && a == nb::cast<const Alignment&>(b);
           },
           "other"_a.none(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__", [](const Alignment& a) { return hash_of(flat(a), 0); })
      .def("__getstate__", [](const Alignment& a) { return to_bytes(flat(a)); })
      .def("__setstate__",
           [](Alignment& self, const nb::bytes& state) {
             new (&self) Alignment(from_flat(from_bytes<std::uint32_t>(state)));
           })
      .def_prop_ro(
          "links", [](const Alignment& a) { return Links(flat(a).data(), {a.size(), 2}); },
          nb::rv_policy::reference_internal, "The links as rows (source, target): a view.")
      .def("transpose", &Alignment::transpose, "The alignment with source and target exchanged.")
      .def("check", &Alignment::check, "source_length"_a, "target_length"_a,
           "Refuse a link outside a sentence pair of these lengths.");
}

// ---------------------------------------------------------------- ParseForest

NodeId checked(const ParseForest& forest, std::int64_t node) {
  const auto size = static_cast<std::int64_t>(forest.graph().nodes());
  if (node < 0 || node >= size) {
    throw nb::index_error(
        ("node " + std::to_string(node) + " of a forest with " + std::to_string(size) + " nodes").c_str());
  }
  return static_cast<NodeId>(node);
}

static_assert(sizeof(Span) == 2 * sizeof(std::uint32_t));

Hypergraph own(Sizes first_edge, Sizes first_tail, std::vector<NodeId> tails, NodeId goal) {
  struct Arrays {
    Sizes first_edge, first_tail;
    std::vector<NodeId> tails;
  };
  auto arrays = std::make_shared<Arrays>(Arrays{std::move(first_edge), std::move(first_tail), std::move(tails)});
  const Arrays& a = *arrays;
  return Hypergraph(a.first_edge, a.first_tail, a.tails, goal, std::move(arrays));
}

void bind_forest(nb::module_& m) {
  using Spans = nb::ndarray<nb::numpy, const std::uint32_t, nb::shape<-1, 2>, nb::c_contig>;
  using State = std::tuple<nb::bytes, nb::bytes, nb::bytes, NodeId, PickledStrings, nb::bytes, nb::bytes, ScoreKind>;
  nb::enum_<ScoreKind>(m, "ScoreKind", "What the edge scores of a forest are: natural logarithms all.")
      .value("conditional", ScoreKind::conditional, "log P(tails | head), as a PCFG's")
      .value("posterior", ScoreKind::posterior, "log of the edge's posterior, as a max-rule parser's")
      .value("arbitrary", ScoreKind::arbitrary, "any log score");

  nb::class_<ParseForest>(m, "ParseForest",
                          "A packed parse forest: a hypergraph of labelled spans and words, with edge scores.")
      .def(
          "__init__",
          [](ParseForest* self, const Hypergraph& graph, const std::vector<std::string_view>& labels,
             const std::vector<SpanPair>& spans, std::vector<double> scores, ScoreKind kind) {
            std::vector<Span> converted;
            for (const auto& [begin, end] : spans) converted.push_back({begin, end});
            new (self) ParseForest(graph, to_strings(labels), std::move(converted), std::move(scores), kind);
          },
          "graph"_a, "labels"_a, "spans"_a, "scores"_a, "kind"_a,
          "Labels and spans for every node, the words first; a score for every edge.")
      .def_prop_ro("graph", &ParseForest::graph, nb::rv_policy::reference_internal, "The hypergraph.")
      .def_prop_ro("kind", &ParseForest::kind, "What the scores are.")
      .def_prop_ro("parsed", &ParseForest::parsed, "Whether there is a parse.")
      .def_prop_ro(
          "words",
          [](const ParseForest& f) {
            std::vector<std::string_view> out;
            for (std::size_t i = 0; i < f.words(); ++i) out.push_back(f.word(i));
            return out;
          },
          "The words.")
      .def_prop_ro(
          "scores", [](const ParseForest& f) { return view(f.scores()); }, nb::rv_policy::reference_internal,
          "The score of every edge: a view.")
      .def_prop_ro(
          "spans",
          [](const ParseForest& f) {
            return Spans(reinterpret_cast<const std::uint32_t*>(f.spans().data()), {f.spans().size(), 2});
          },
          nb::rv_policy::reference_internal, "The span (begin, end) of every node: a view.")
      .def_prop_ro("labels", [](const ParseForest& f) { return to_list(f.labels()); },
                   nb::sig("def labels(self) -> list[str]"), "The label of every node; a word's is the word.")
      .def("label", [](const ParseForest& f, std::int64_t i) { return f.label(checked(f, i)); }, "node"_a,
           "The label of a node; the word of a word node.")
      .def("span", [](const ParseForest& f, std::int64_t i) { return pair(f.span(checked(f, i))); }, "node"_a,
           "The words below a node, as (begin, end).")
      .def("is_word", [](const ParseForest& f, std::int64_t i) { return f.is_word(checked(f, i)); }, "node"_a,
           "Whether a node is a word.")
      .def_static("from_tree", &forest_of, "tree"_a, "The forest that has this tree alone.")
      .def_static(
          "from_kbest",
          [](const std::vector<ScoredTree>& trees, std::string_view top) { return forest_of_kbest(trees, top); },
          "trees"_a, "top"_a = "TOP", nb::call_guard<nb::gil_scoped_release>(),
          "The forest of a k-best list of (log probability, tree); `top` is put above roots that differ.")
      .def("viterbi", &viterbi_tree, nb::call_guard<nb::gil_scoped_release>(),
           "The best tree by the scores as given; without a parse, the empty tree.")
      .def("kbest", &kbest_trees, "k"_a, nb::call_guard<nb::gil_scoped_release>(),
           "The k best derivations as (score, tree), the best first.")
      .def("sample", &sample_trees, "n"_a, "seed"_a, nb::call_guard<nb::gil_scoped_release>(),
           "Random trees, each drawn with a probability in proportion to e^score.")
      .def("count", &count_trees, nb::call_guard<nb::gil_scoped_release>(),
           "How many derivations there are: exact up to 2^53.")
      .def("prune", nb::overload_cast<const ParseForest&, double>(&prune), "margin"_a,
           nb::call_guard<nb::gil_scoped_release>(),
           "Without the edges whose best tree is worse than the best by more than margin, in natural log units.")
      .def("conditional", &conditional, nb::call_guard<nb::gil_scoped_release>(),
           "With conditional log probabilities: scores normalised over the edges into each node.")
      .def_prop_ro_static("TRAINING_MARGIN", [](nb::handle) { return kTrainingMargin; }, "The margin to prune with before training.")
      .def_prop_ro_static("DECODING_MARGIN", [](nb::handle) { return kDecodingMargin; }, "The margin to prune with before decoding.")
      .def("__bool__", &ParseForest::parsed)
      .def("__eq__",
           [](const ParseForest& a, nb::handle b) {
             return nb::isinstance<ParseForest>(b) && a == nb::cast<const ParseForest&>(b);
           },
           "other"_a.none(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__",
           [](const ParseForest& f) { return hash_of(f.labels(), hash_of(f.scores(), hash_of(f.graph().all_tails(), 0))); })
      .def("__getstate__",
           [](const ParseForest& f) {
             const Hypergraph& g = f.graph();
             return State(to_bytes(g.first_edge()), to_bytes(g.first_tail()), to_bytes(g.all_tails()), g.goal(),
                          to_pickle(f.labels()), to_bytes(f.spans()), to_bytes(f.scores()),
                          f.kind());
           })
      .def("__setstate__",
           [](ParseForest& self, const State& state) {
             const auto& [first_edge, first_tail, tails, goal, labels, spans, scores, kind] = state;
             new (&self) ParseForest(own(from_bytes<std::uint32_t>(first_edge), from_bytes<std::uint32_t>(first_tail),
                                         from_bytes<NodeId>(tails), goal),
                                     from_pickle(labels), from_bytes<Span>(spans),
                                     from_bytes<double>(scores), kind);
           })
      .def("__repr__", [](const ParseForest& f) {
        return "<ParseForest of " + std::to_string(f.words()) + " words, " + std::to_string(f.graph().nodes()) +
               " nodes, " + std::to_string(f.graph().edges()) + " edges" + (f.parsed() ? "" : ", no parse") + ">";
      });
}

}  // namespace

void bind_syntax(nb::module_& m) {
  bind_tree(m);
  bind_dependency(m);
  bind_alignment(m);
  bind_forest(m);
}

}  // namespace treeglot
