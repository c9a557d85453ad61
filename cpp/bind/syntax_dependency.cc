#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "bind/arrays.h"
#include "bind/core.h"
#include "syntax/dependency_brackets.h"
#include "syntax/dependency_checks.h"
#include "syntax/projectivise.h"
#include "syntax/structure.h"
#include "syntax/to_dependency.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace treeglot {
namespace {

using Positions = std::vector<std::uint32_t>;

void bind_checks() {
  nb::borrow<nb::class_<Dependency>>(nb::type<Dependency>())
      .def_static("from_brackets", &from_brackets, "text"_a,
                  "The dependency tree in brackets: (Bush) held ((a) talk) (with (Sharon)).")
      .def("to_brackets", &to_brackets, "In brackets; refuses what is not projective, has a cycle or lacks a head.")
      .def(
          "roots", [](const Dependency& d) { return roots(d.heads()); }, "The positions of the roots.")
      .def(
          "cycle",
          [](const Dependency& d) {
            const auto all = cycles(d.heads());
            return all.empty() ? Positions() : all.front();
          },
          "The positions of the first cycle, each followed by its head; empty if there is none.")
      .def(
          "is_tree", [](const Dependency& d) { return is_tree(d.heads()); },
          "Whether there is one root, every other word has a head, and there is no cycle.")
      .def(
          "nonprojective_arcs", [](const Dependency& d) { return nonprojective_arcs(d.heads()); },
          "The words whose arc passes over a word that does not descend from their head.")
      .def(
          "is_projective", [](const Dependency& d) { return nonprojective_arcs(d.heads()).empty(); },
          "Whether every word between a word and its head descends from that head; there may be several roots.")
      .def(
          "projectivise",
          [](const Dependency& d) {
            Projectivised made = projectivise(d.heads());
            return std::tuple(Dependency(d.words(), std::move(made.heads), d.tags(), d.relations()), made.lifts);
          },
          "Projective, by lifting words to their heads' heads, the shortest arc first; and how many steps that took. "
          "Refuses a cycle.");
}

void bind_heads(nb::module_& m) {
  nb::class_<HeadTable>(m, "HeadTable", "Which child of a constituent is its head.")
      .def_static("read", &HeadTable::read, "text"_a, "file"_a, "A table from its text; `file` is named in errors.")
      .def_prop_ro("text", &HeadTable::text, "What it was read from.")
      .def("base", &HeadTable::base, "label"_a, "The label without functional tags, unless the table knows the whole.")
      .def(
          "head_child",
          [](const HeadTable& table, std::string_view label, const std::vector<std::string_view>& children) {
            return table.head_child(label, children);
          },
          "label"_a, "children"_a, "The position of the head among the children's labels.")
      .def("__getstate__", [](const HeadTable& t) { return std::tuple(t.text(), t.file()); })
      .def("__setstate__",
           [](HeadTable& self, const std::tuple<std::string, std::string>& state) {
             new (&self) HeadTable(HeadTable::read(std::get<0>(state), std::get<1>(state)));
           })
      .def("__repr__", [](const HeadTable& table) { return "<HeadTable " + table.file() + ">"; });

  nb::enum_<HeadStyle::Coordination>(m, "Coordination", "How conjuncts hang together.")
      .value("table", HeadStyle::Coordination::table, "As the head table says.")
      .value("chain", HeadStyle::Coordination::chain, "Each from the conjunction before it.")
      .value("conjunction", HeadStyle::Coordination::conjunction, "All from the last conjunction.");
  nb::class_<HeadStyle>(m, "HeadStyle", "Where a head table is departed from.")
      .def(
          "__init__",
          [](HeadStyle* self, HeadStyle::Coordination coordination, bool preposition_object, bool main_verb,
             bool infinitive_verb, bool subordinate_clause, bool question_clause, bool possessive_noun) {
            new (self) HeadStyle{coordination,       preposition_object, main_verb,      infinitive_verb,
                                 subordinate_clause, question_clause,    possessive_noun};
          },
          "coordination"_a = HeadStyle::Coordination::table, "preposition_object"_a = false, "main_verb"_a = false,
          "infinitive_verb"_a = false, "subordinate_clause"_a = false, "question_clause"_a = false,
          "possessive_noun"_a = false);

  m.def(
      "to_dependencies",
      [](const Given<Tree>& trees, const HeadTable& heads, const HeadStyle& style) {
        return to_dependency(trees.values, heads, style);
      },
      "trees"_a, "heads"_a, "style"_a, nb::call_guard<nb::gil_scoped_release>(),
      "The dependency trees of constituency trees.");
  m.def(
      "to_dependency",
      [](const Tree& tree, const HeadTable& heads, const HeadStyle& style) {
        return to_dependency(tree, heads, style);
      },
      "tree"_a, "heads"_a, "style"_a, nb::call_guard<nb::gil_scoped_release>(),
      "The dependency tree of a constituency tree.");
}

void bind_structure(nb::module_& m) {
  m.def(
      "structure_roots",
      [](const Dependency& d, std::uint32_t begin, std::uint32_t end, bool strict) {
        return Structures(d.heads(), strict).roots({begin, end});
      },
      "dependency"_a, "begin"_a, "end"_a, "strict"_a = false,
      "The word that the span is fixed on, the words that float in it, or none.");
  m.def(
      "structures",
      [](const Dependency& d, std::size_t max_length, bool strict) {
        std::vector<std::tuple<std::uint32_t, std::uint32_t, Positions>> out;
        for (auto& [span, roots] : Structures(d.heads(), strict).well_formed(max_length)) {
          out.emplace_back(span.begin, span.end, std::move(roots));
        }
        return out;
      },
      "dependency"_a, "max_length"_a, "strict"_a = false, nb::call_guard<nb::gil_scoped_release>(),
      "Begin, end and roots of every well-formed span up to a length.");
}

}  // namespace

void bind_syntax_dependency(nb::module_& m) {
  bind_checks();
  bind_heads(m);
  bind_structure(m);
}

}  // namespace treeglot
