#include <cstdio>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>

#include "base/symbols.h"
#include "bind/arrays.h"
#include "bind/core.h"
#include "graph/derivation.h"
#include "graph/hypergraph.h"
#include "graph/inside_outside.h"
#include "graph/kbest.h"
#include "graph/ngram_gains.h"
#include "graph/rewrite.h"

namespace treeglot {
namespace {

using Ids = std::uint32_t;
using Numbers = std::span<const Ids>;

NodeId goal_or_none(std::optional<NodeId> goal) { return goal.value_or(kNoNode); }

std::optional<NodeId> none_or_goal(const Hypergraph& graph) {
  return graph.goal() == kNoNode ? std::nullopt : std::optional(graph.goal());
}

// Whether an array is a view on another that can be written: closing the view to writing would not close its memory.
bool written_elsewhere(nb::handle object) {
  const nb::object base = nb::getattr(object, "base", nb::none());
  return nb::hasattr(base, "flags") && nb::cast<bool>(base.attr("flags").attr("writeable"));
}

// A contiguous array of uint32 is used without a copy. It becomes read-only, so nobody changes a checked graph.
// Anything else is copied into a new array.
ArrayIn<Ids> take_ids(const char* name, nb::handle object) {
  ArrayIn<Ids> array;
  if (!written_elsewhere(object) && nb::try_cast(object, array, false)) {
    if (nb::hasattr(object, "flags")) object.attr("flags").attr("writeable") = false;
    return array;
  }
  std::vector<Ids> copy;
  if (!nb::try_cast(object, copy)) {
    throw std::invalid_argument(std::string(name) + " must be a sequence of numbers from 0 to 2^32 - 1");
  }
  return ArrayIn<Ids>(as_array(std::move(copy)));
}

Hypergraph from_arrays(nb::handle first_edge, nb::handle first_tail, nb::handle tails, std::optional<NodeId> goal) {
  struct Arrays {
    ArrayIn<Ids> first_edge, first_tail, tails;
  };
  auto arrays = std::make_shared<Arrays>(
      Arrays{take_ids("first_edge", first_edge), take_ids("first_tail", first_tail), take_ids("tails", tails)});
  const Arrays& a = *arrays;
  return Hypergraph(as_span(a.first_edge), as_span(a.first_tail), as_span(a.tails), goal_or_none(goal),
                    std::move(arrays));
}

std::string described(const Hypergraph& graph) {
  return "Hypergraph(nodes=" + std::to_string(graph.nodes()) + ", edges=" + std::to_string(graph.edges()) +
         ", goal=" + (graph.goal() == kNoNode ? "None" : std::to_string(graph.goal())) + ")";
}

std::uint64_t hashed(const Hypergraph& graph) {
  std::uint64_t hash = graph.goal();
  for (const auto ids : {graph.first_edge(), graph.first_tail(), graph.all_tails()}) hash = hash_of(ids, hash);
  return hash;
}

void bind_hypergraph(nb::module_& m) {
  constexpr auto kInside = nb::rv_policy::reference_internal;
  nb::class_<Hypergraph>(
      m, "Hypergraph", "Nodes in topological order and edges grouped by head; scores and labels are arrays beside it.")
      .def_static("from_arrays", &from_arrays, "first_edge"_a, "first_tail"_a, "tails"_a, "goal"_a.none(),
                  nb::sig("def from_arrays(first_edge: Sequence[int] | numpy.typing.NDArray[numpy.uint32], "
                          "first_tail: Sequence[int] | numpy.typing.NDArray[numpy.uint32], "
                          "tails: Sequence[int] | numpy.typing.NDArray[numpy.uint32], goal: int | None) -> Hypergraph"),
                  "A graph on these arrays: contiguous uint32 is not copied but closed to writing; views and all else "
                  "are copied.")
      .def_prop_ro("nodes", &Hypergraph::nodes, "The number of nodes.")
      .def_prop_ro("edges", &Hypergraph::edges, "The number of edges.")
      .def_prop_ro("goal", &none_or_goal, "The goal node; None when there is no derivation to be had.")
      .def_prop_ro(
          "first_edge", [](const Hypergraph& g) { return view(g.first_edge()); }, kInside,
          "The edges into node v are first_edge[v] … first_edge[v + 1].")
      .def_prop_ro(
          "first_tail", [](const Hypergraph& g) { return view(g.first_tail()); }, kInside,
          "The tails of edge e are tails[first_tail[e]:first_tail[e + 1]].")
      .def_prop_ro(
          "tails", [](const Hypergraph& g) { return view(g.all_tails()); }, kInside,
          "The tails of all edges, one after another.")
      .def_prop_ro(
          "heads", [](const Hypergraph& g) { return view(g.heads()); }, kInside, "The head of every edge.")
      .def("__eq__", &equal<Hypergraph>, "other"_a.none(), "The same nodes, edges, order and goal.")
      .def("__hash__", &hashed, "A hash of its content: graphs are immutable.")
      .def("__repr__", &described, "Its size and its goal.")
      .def(
          "__getstate__",
          [](nb::handle_t<Hypergraph> self) {
            return nb::make_tuple(self.attr("first_edge"), self.attr("first_tail"), self.attr("tails"),
                                  self.attr("goal"));
          },
          nb::sig("def __getstate__(self) -> tuple[object, ...]"), "Its arrays and its goal.")
      .def(
          "__setstate__",
          [](Hypergraph& self, const std::tuple<nb::object, nb::object, nb::object, std::optional<NodeId>>& state) {
            const auto& [first_edge, first_tail, tails, goal] = state;
            new (&self) Hypergraph(from_arrays(first_edge, first_tail, tails, goal));
          },
          nb::sig("def __setstate__(self, state: tuple[object, ...]) -> None"), "From its arrays and its goal.");

  nb::class_<Mapped>(m, "Mapped", "A graph that a stage made, and where its nodes and edges came from.")
      .def_ro("graph", &Mapped::graph, "The new graph.")
      .def_prop_ro(
          "edge_map", [](const Mapped& s) { return view(std::span(s.edge_map)); }, kInside,
          "For each edge of the new graph its number in the old one, or NO_EDGE.")
      .def_prop_ro(
          "node_map", [](const Mapped& s) { return view(std::span(s.node_map)); }, kInside,
          "For each node of the new graph its number in the old one, or NO_NODE.");
  m.attr("NO_EDGE") = kNoEdge;
  m.attr("NO_NODE") = kNoNode;

  nb::class_<Builder>(m, "Builder", "Nodes and edges in, a frozen hypergraph out.")
      .def(nb::init<>())
      .def("add_node", &Builder::add_node, "Add a node after those that are there; its number.")
      .def("add_nodes", &Builder::add_nodes, "number"_a, "Add several nodes; the number of the first.")
      .def(
          "add_edge",
          [](Builder& self, NodeId head, const std::vector<NodeId>& tails) { return self.add_edge(head, tails); },
          "head"_a, "tails"_a = nb::tuple(), nb::sig("def add_edge(self, head: int, tails: Sequence[int] = ()) -> int"),
          "Add an edge; without tails it derives a leaf. Tails come before heads.")
      .def_prop_ro("nodes", &Builder::nodes, "How many nodes have been added.")
      .def_prop_ro("edges", &Builder::edges, "How many edges have been added.")
      .def(
          "freeze", [](Builder& self, std::optional<NodeId> goal) { return self.freeze(goal_or_none(goal)); },
          "goal"_a.none(), "The graph, and in its edge_map what add_edge returned; the builder is empty afterwards.");
}

void bind_rewrite(nb::module_& m) {
  m.def(
      "graph_topological_order",
      [](std::size_t nodes, Numbers heads, Numbers first_tail, Numbers tails) {
        TopologicalOrder sorted = without_gil([&] { return topological_order({nodes, heads, first_tail, tails}); });
        return std::pair(as_array(std::move(sorted.order)), sorted.on_cycle);
      },
      "nodes"_a, "heads"_a, "first_tail"_a, "tails"_a,
      "The nodes, tails first, and NO_NODE; or nothing and a node on a cycle.");
  m.def(
      "graph_assemble",
      [](std::size_t nodes, Numbers heads, Numbers first_tail, Numbers tails, std::optional<NodeId> goal) {
        return assemble({nodes, heads, first_tail, tails}, goal_or_none(goal));
      },
      "nodes"_a, "heads"_a, "first_tail"_a, "tails"_a, "goal"_a.none(), nb::call_guard<nb::gil_scoped_release>(),
      "A graph from edges in any order.");
  m.def("graph_prune", released<&prune>, "graph"_a, "scores"_a, "margin"_a,
        "Drop what the best derivation beats by more than the margin.");
}

void bind_sums(nb::module_& m) {
  m.def("graph_inside", released<&inside_in>, "semiring"_a, "graph"_a, "weights"_a.none(),
        "The inside value of every node.");
  m.def("graph_outside", released<&outside_in>, "semiring"_a, "graph"_a, "weights"_a.none(), "inside"_a,
        "The outside value of every node.");
  m.def("graph_posteriors", released<&posteriors>, "graph"_a, "scores"_a, "The logarithm of every edge's posterior.");
  m.def("graph_node_ranks", released<&node_ranks>, "graph"_a, "scores"_a,
        "By node: the share of nodes with a better derivation.");
}

// An enumeration with the arrays that it reads, for one thread at a time.
class GraphKBest {
 public:
  GraphKBest(const Hypergraph& graph, ArrayIn<double> scores, const std::optional<ArrayIn<std::uint32_t>>& first_symbol,
             const std::optional<ArrayIn<std::int32_t>>& symbols)
      : scores_(std::move(scores)),
        first_symbol_(copied(first_symbol)),
        symbols_(copied(symbols)),
        kbest_(graph, as_span(scores_), first_symbol ? std::optional(Yields{first_symbol_, symbols_}) : std::nullopt) {}

  std::optional<Derivation> next() {
    const std::lock_guard lock(mutex_);
    return kbest_.next();
  }
  std::vector<Derivation> take(std::size_t number) {
    const std::lock_guard lock(mutex_);
    std::vector<Derivation> taken;
    while (taken.size() < number) {
      std::optional<Derivation> derivation = kbest_.next();
      if (!derivation) break;
      taken.push_back(std::move(*derivation));
    }
    return taken;
  }

 private:
  template <class T>
  static std::vector<T> copied(const std::optional<ArrayIn<T>>& array) {
    return array ? std::vector<T>(array->data(), array->data() + array->size()) : std::vector<T>();
  }

  std::mutex mutex_;
  ArrayIn<double> scores_;
  std::vector<std::uint32_t> first_symbol_;
  std::vector<std::int32_t> symbols_;
  KBest kbest_;
};

std::string described(const Derivation& derivation) {
  char score[32];
  std::snprintf(score, sizeof score, "%.6g", derivation.score);
  return "GraphDerivation(score=" + std::string(score) + ", edges=" + std::to_string(derivation.edges.size()) + ")";
}

void bind_derivations(nb::module_& m) {
  nb::class_<Derivation>(m, "GraphDerivation", "A derivation: its score, and its edges in preorder.")
      .def_ro("score", &Derivation::score, "The sum of its edges' scores.")
      .def_prop_ro(
          "edges", [](const Derivation& d) { return view(std::span<const EdgeId>(d.edges)); },
          nb::rv_policy::reference_internal, "An edge, then the derivations of its tails from left to right.")
      .def("__repr__", [](const Derivation& d) { return described(d); }, "Its score and how many edges it has.");
  nb::class_<GraphKBest>(m, "GraphKBest", "The derivations of the goal from the best down.")
      .def(nb::init<const Hypergraph&, ArrayIn<double>, const std::optional<ArrayIn<std::uint32_t>>&,
                    const std::optional<ArrayIn<std::int32_t>>&>(),
           "graph"_a, "scores"_a, "first_symbol"_a.none(), "symbols"_a.none())
      .def("next", &GraphKBest::next, nb::call_guard<nb::gil_scoped_release>(), "The next derivation, or None.")
      .def("take", &GraphKBest::take, "number"_a, nb::call_guard<nb::gil_scoped_release>(),
           "The next few derivations.");
  m.def("graph_viterbi", released<&viterbi>, "graph"_a, "scores"_a, "The best derivation of the goal, or None.");
  m.def(
      "graph_with_gains",
      [](const Hypergraph& graph, const ArrayIn<double>& scores, const ArrayIn<std::uint32_t>& first_symbol,
         const ArrayIn<std::int32_t>& symbols,
         const std::vector<std::pair<std::vector<std::int32_t>, double>>& references, double per_word,
         std::vector<double> by_order, std::uint32_t beam) {
        NgramGains gains(per_word, std::move(by_order));
        for (const auto& [reference, share] : references) gains.add(reference, share);
        GainedGraph out = without_gil(
            [&] { return with_gains(graph, as_span(scores), {as_span(first_symbol), as_span(symbols)}, gains, beam); });
        return std::pair(std::move(out.mapped), as_array(std::move(out.scores)));
      },
      "graph"_a, "scores"_a, "first_symbol"_a, "symbols"_a, "references"_a, "per_word"_a, "by_order"_a, "beam"_a,
      "The graph whose edges score what the n-grams of yields gain, too: where it came from, and the scores. "
      "References "
      "have shares.");
  m.def("graph_sample", released<&sample>, "graph"_a, "scores"_a, "number"_a, "seed"_a,
        "Derivations drawn in proportion to e^score.");
}

}  // namespace

void bind_graph(nb::module_& m) {
  bind_hypergraph(m);
  bind_derivations(m);
  bind_sums(m);
  bind_rewrite(m);
}

}  // namespace treeglot
