#include "bind/core.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <stdexcept>
#include <string>

#include "base/symbols.h"
#include "bind/numpy.h"
#include "graph/derivation.h"
#include "graph/hypergraph.h"
#include "graph/inside_outside.h"
#include "graph/reachability.h"
#include "graph/rewrite.h"
#include "graph/topological.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace treeglot {
namespace {

using Ids = std::uint32_t;

NodeId goal_or_none(std::optional<NodeId> goal) { return goal.value_or(kNoNode); }

std::optional<NodeId> none_or_goal(const Hypergraph& graph) {
  return graph.goal() == kNoNode ? std::nullopt : std::optional(graph.goal());
}

// A contiguous array of uint32 is taken as it is and closed to writing, so that nobody changes a graph that has been
// checked; anything else is copied, number by number, into an array of our own.
ArrayIn<Ids> take_ids(const char* name, nb::handle object) {
  ArrayIn<Ids> array;
  if (nb::try_cast(object, array, false)) {
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
  auto arrays = std::make_shared<Arrays>(Arrays{
      take_ids("first_edge", first_edge), take_ids("first_tail", first_tail), take_ids("tails", tails)});
  const Arrays& a = *arrays;
  return Hypergraph(as_span(a.first_edge), as_span(a.first_tail), as_span(a.tails), goal_or_none(goal),
                    std::move(arrays));
}

std::string described(const Hypergraph& graph) {
  return "Hypergraph(nodes=" + std::to_string(graph.nodes()) + ", edges=" + std::to_string(graph.edges()) + ", goal=" +
         (graph.goal() == kNoNode ? "None" : std::to_string(graph.goal())) + ")";
}

std::uint64_t hashed(const Hypergraph& graph) {
  std::uint64_t hash = graph.goal();
  for (const auto ids : {graph.first_edge(), graph.first_tail(), graph.all_tails()}) {
    hash = hash_bytes({reinterpret_cast<const char*>(ids.data()), ids.size_bytes()}, hash);
  }
  return hash;
}

void bind_hypergraph(nb::module_& m) {
  constexpr auto kInside = nb::rv_policy::reference_internal;
  nb::class_<Hypergraph>(m, "Hypergraph",
                         "Nodes in topological order and edges grouped by head; scores and labels are arrays beside it.")
      .def_static("from_arrays", &from_arrays, "first_edge"_a, "first_tail"_a, "tails"_a, "goal"_a.none(),
                  nb::sig("def from_arrays(first_edge: Sequence[int] | numpy.typing.NDArray[numpy.uint32], "
                          "first_tail: Sequence[int] | numpy.typing.NDArray[numpy.uint32], "
                          "tails: Sequence[int] | numpy.typing.NDArray[numpy.uint32], goal: int | None) -> Hypergraph"),
                  "A graph on these arrays: contiguous uint32 is not copied but closed to writing, all else is copied.")
      .def_prop_ro("nodes", &Hypergraph::nodes, "The number of nodes.")
      .def_prop_ro("edges", &Hypergraph::edges, "The number of edges.")
      .def_prop_ro("goal", &none_or_goal, "The goal node; None when there is no derivation to be had.")
      .def_prop_ro("first_edge", [](const Hypergraph& g) { return as_view(g.first_edge()); }, kInside,
                   "The edges into node v are first_edge[v] … first_edge[v + 1].")
      .def_prop_ro("first_tail", [](const Hypergraph& g) { return as_view(g.first_tail()); }, kInside,
                   "The tails of edge e are tails[first_tail[e]:first_tail[e + 1]].")
      .def_prop_ro("tails", [](const Hypergraph& g) { return as_view(g.all_tails()); }, kInside,
                   "The tails of all edges, one after another.")
      .def_prop_ro("heads", [](const Hypergraph& g) { return as_view(g.heads()); }, kInside, "The head of every edge.")
      .def("__eq__", [](const Hypergraph& a, nb::handle b) {
            return nb::isinstance<Hypergraph>(b) && a == nb::cast<const Hypergraph&>(b);
          }, "other"_a, nb::sig("def __eq__(self, other: object, /) -> bool"), "The same nodes, edges, order and goal.")
      .def("__hash__", &hashed, "A hash of its content: graphs are immutable.")
      .def("__repr__", &described, "Its size and its goal.")
      .def("__getstate__", [](nb::handle self) {
            return nb::make_tuple(self.attr("first_edge"), self.attr("first_tail"), self.attr("tails"),
                                  self.attr("goal"));
          }, nb::sig("def __getstate__(self) -> tuple[object, ...]"), "Its arrays and its goal.")
      .def("__setstate__", [](Hypergraph& self, const nb::tuple& state) {
            new (&self) Hypergraph(from_arrays(state[0], state[1], state[2], nb::cast<std::optional<NodeId>>(state[3])));
          }, nb::sig("def __setstate__(self, state: tuple[object, ...]) -> None"), "From its arrays and its goal.");

  nb::class_<Mapped>(m, "Mapped", "A graph that a stage made, and where its nodes and edges came from.")
      .def_ro("graph", &Mapped::graph, "The new graph.")
      .def_prop_ro("edge_map", [](const Mapped& s) { return as_view(std::span(s.edge_map)); }, kInside,
                   "For each edge of the new graph its number in the old one, or NO_EDGE.")
      .def_prop_ro("node_map", [](const Mapped& s) { return as_view(std::span(s.node_map)); }, kInside,
                   "For each node of the new graph its number in the old one, or NO_NODE.");
  m.attr("NO_EDGE") = kNoEdge;
  m.attr("NO_NODE") = kNoNode;

  nb::class_<Builder>(m, "Builder", "Nodes and edges in, a frozen hypergraph out.")
      .def(nb::init<>())
      .def("add_node", &Builder::add_node, "Add a node after those that are there; its number.")
      .def("add_nodes", &Builder::add_nodes, "number"_a, "Add several nodes; the number of the first.")
      .def("add_edge", [](Builder& self, NodeId head, const std::vector<NodeId>& tails) {
            return self.add_edge(head, tails);
          }, "head"_a, "tails"_a = nb::tuple(), nb::sig("def add_edge(self, head: int, tails: Sequence[int] = ()) -> int"),
           "Add an edge; without tails it derives a leaf. Tails come before heads.")
      .def_prop_ro("nodes", &Builder::nodes, "How many nodes have been added.")
      .def_prop_ro("edges", &Builder::edges, "How many edges have been added.")
      .def("freeze", [](Builder& self, std::optional<NodeId> goal) { return self.freeze(goal_or_none(goal)); },
           "goal"_a.none(), "The graph, and in its edge_map what add_edge returned; the builder is empty afterwards.");
}

void bind_rewrite(nb::module_& m) {
  m.def("graph_topological_order", [](std::size_t nodes, const ArrayIn<NodeId>& heads, const ArrayIn<Ids>& first_tail,
                                      const ArrayIn<NodeId>& tails) {
          TopologicalOrder sorted = without_gil([&] {
            return topological_order({nodes, as_span(heads), as_span(first_tail), as_span(tails)});
          });
          return std::pair(as_array(std::move(sorted.order)), sorted.on_cycle);
        }, "nodes"_a, "heads"_a, "first_tail"_a, "tails"_a, "The nodes, tails first, and NO_NODE; or nothing and a node on a cycle.");
  m.def("graph_assemble", [](std::size_t nodes, const ArrayIn<NodeId>& heads, const ArrayIn<Ids>& first_tail,
                             const ArrayIn<NodeId>& tails, std::optional<NodeId> goal) {
          return without_gil([&] {
            return assemble({nodes, as_span(heads), as_span(first_tail), as_span(tails)}, goal_or_none(goal));
          });
        }, "nodes"_a, "heads"_a, "first_tail"_a, "tails"_a, "goal"_a.none(), "A graph from edges in any order.");
  m.def("graph_prune", [](const Hypergraph& graph, const ArrayIn<double>& scores, double margin) {
          return without_gil([&] { return prune(graph, as_span(scores), margin); });
        }, "graph"_a, "scores"_a, "margin"_a, "Drop what the best derivation beats by more than the margin.");
  m.def("graph_restrict", [](const Hypergraph& graph, const ArrayIn<std::uint8_t>& keep) {
          return without_gil([&] { return restrict(graph, as_span(keep)); });
        }, "graph"_a, "keep"_a, "The derivations that use kept edges alone.");
  m.def("graph_unite", [](const std::vector<const Hypergraph*>& graphs) {
          return without_gil([&] { return unite(graphs); });
        }, "graphs"_a, "The graphs below one new goal.");
}

}  // namespace

void bind_graph(nb::module_& m) {
  bind_hypergraph(m);
  bind_rewrite(m);
}

}  // namespace treeglot
