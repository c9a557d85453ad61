#include <memory>
#include <utility>

#include "bind/arrays.h"
#include "bind/core.h"
#include "syntax/forest.h"
#include "syntax/forest_stages.h"
#include "syntax/forest_trees.h"
#include "syntax/span_errors.h"

namespace treeglot {
namespace {

NodeId checked(const ParseForest& forest, std::int64_t node) {
  const auto size = static_cast<std::int64_t>(forest.graph().nodes());
  if (node < 0 || node >= size) {
    throw nb::index_error(
        ("node " + std::to_string(node) + " of a forest with " + std::to_string(size) + " nodes").c_str());
  }
  return static_cast<NodeId>(node);
}

static_assert(sizeof(Span) == 2 * sizeof(std::uint32_t));

}  // namespace

void bind_syntax_forest(nb::module_& m) {
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
      .def_prop_ro(
          "labels", [](const ParseForest& f) { return to_list(f.labels()); }, nb::sig("def labels(self) -> list[str]"),
          "The label of every node; a word's is the word.")
      .def(
          "label", [](const ParseForest& f, std::int64_t i) { return f.label(checked(f, i)); }, "node"_a,
          "The label of a node; the word of a word node.")
      .def(
          "span", [](const ParseForest& f, std::int64_t i) { return to_pair(f.span(checked(f, i))); }, "node"_a,
          "The words below a node, as (begin, end).")
      .def(
          "is_word", [](const ParseForest& f, std::int64_t i) { return f.is_word(checked(f, i)); }, "node"_a,
          "Whether a node is a word.")
      .def_static("from_tree", &forest_of, "tree"_a, "The forest that has this tree alone.")
      .def_static(
          "from_kbest",
          [](const std::vector<ScoredTree>& trees, std::string_view top) { return forest_of_kbest(trees, top); },
          "trees"_a, "top"_a = "TOP", nb::call_guard<nb::gil_scoped_release>(),
          "The forest of a k-best list of (log probability, tree); `top` is put above roots that differ.")
      .def(
          "edges_with", [](const ParseForest& f, const std::vector<EdgeId>& edges) { return chosen_edges(f, edges); },
          "edges"_a, nb::call_guard<nb::gil_scoped_release>(),
          "The edges, in preorder, of the best tree by the scores as given that takes these edges where it uses their "
          "heads.")
      .def(
          "tree_with",
          [](const ParseForest& f, const std::vector<EdgeId>& edges) {
            return f.parsed() ? derived_tree(f, chosen_edges(f, edges)) : Tree();
          },
          "edges"_a, nb::call_guard<nb::gil_scoped_release>(), "The tree of edges_with(edges).")
      .def("viterbi", &viterbi_tree, nb::call_guard<nb::gil_scoped_release>(),
           "The best tree by the scores as given; without a parse, the empty tree.")
      .def("best_spans", &fewest_span_errors, nb::call_guard<nb::gil_scoped_release>(),
           "The tree with the fewest expected errors of spans; without a parse, the empty tree.")
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
      .def_prop_ro_static(
          "TRAINING_MARGIN", [](nb::handle) { return kTrainingMargin; }, "The margin to prune with before training.")
      .def_prop_ro_static(
          "DECODING_MARGIN", [](nb::handle) { return kDecodingMargin; }, "The margin to prune with before decoding.")
      .def("__bool__", &ParseForest::parsed)
      .def("__eq__", &equal<ParseForest>, "other"_a.none())
      .def("__hash__",
           [](const ParseForest& f) {
             return hash_of(f.labels(), hash_of(f.scores(), hash_of(f.graph().all_tails(), 0)));
           })
      .def("__getstate__",
           [](const ParseForest& f) {
             const Hypergraph& g = f.graph();
             return State(to_bytes(g.first_edge()), to_bytes(g.first_tail()), to_bytes(g.all_tails()), g.goal(),
                          to_pickle(f.labels()), to_bytes(f.spans()), to_bytes(f.scores()), f.kind());
           })
      .def("__setstate__",
           [](ParseForest& self, const State& state) {
             const auto& [first_edge, first_tail, tails, goal, labels, spans, scores, kind] = state;
             new (&self)
                 ParseForest(Hypergraph::own(from_bytes<std::uint32_t>(first_edge),
                                             from_bytes<std::uint32_t>(first_tail), from_bytes<NodeId>(tails), goal),
                             from_pickle(labels), from_bytes<Span>(spans), from_bytes<double>(scores), kind);
           })
      .def("__repr__", [](const ParseForest& f) {
        return "<ParseForest of " + std::to_string(f.words()) + " words, " + std::to_string(f.graph().nodes()) +
               " nodes, " + std::to_string(f.graph().edges()) + " edges" + (f.parsed() ? "" : ", no parse") + ">";
      });
}

}  // namespace treeglot
