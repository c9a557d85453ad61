#include <tuple>

#include "base/symbol_lists.h"
#include "bind/arrays.h"
#include "bind/core.h"
#include "bind/guarded.h"
#include "bind/options.h"
#include "syntax/dependency_brackets.h"
#include "syntax/dependency_checks.h"
#include "syntax/head_learner.h"
#include "syntax/structure.h"
#include "syntax/to_dependency.h"

namespace treeglot {

// What may hang from another word than the table says has its own word for that in Python.
template <>
inline constexpr auto kNames<HeadStyle::Word> =
    std::array{OptionName{"table", HeadStyle::Word::as_in_table}, OptionName{"object", HeadStyle::Word::hangs},
               OptionName{"verb", HeadStyle::Word::hangs}, OptionName{"clause", HeadStyle::Word::hangs},
               OptionName{"noun", HeadStyle::Word::hangs}};
template <>
inline constexpr auto kNames<HeadStyle::Coordination> =
    std::array{OptionName{"table", HeadStyle::Coordination::table}, OptionName{"chain", HeadStyle::Coordination::chain},
               OptionName{"conjunction", HeadStyle::Coordination::conjunction}};
TREEGLOT_OPTIONS(HeadStyle, coordination, prepositions, auxiliaries, infinitives, subordinators, questions,
                 possessives);

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

  m.def(
      "to_dependencies",
      [](const Given<Tree>& trees, const HeadTable& heads, const nb::object& style) {
        const auto chosen = read_options<HeadStyle>(style);
        const nb::gil_scoped_release release;
        return to_dependency(trees.values, heads, chosen);
      },
      "trees"_a, "heads"_a, "style"_a, "The dependency trees of constituency trees.");
  m.def(
      "to_dependency",
      [](const Tree& tree, const HeadTable& heads, const nb::object& style) {
        return to_dependency(tree, heads, read_options<HeadStyle>(style));
      },
      "tree"_a, "heads"_a, "style"_a, "The dependency tree of a constituency tree.");
}

void bind_learner(nb::module_& m) {
  nb::class_<HeadLearner>(m, "HeadLearner", "Learns a head table from trees and dependencies of the same sentences.")
      .def(nb::init<>())
      .def("add", guarded(&HeadLearner::add), "tree"_a, "dependency"_a,
           "Adds a sentence; refuses a dependency tree with another number of words.")
      .def_prop_ro("words", guarded([](const HeadLearner& learner) { return to_list(texts_of(learner.words())); }),
                   nb::sig("def words(self) -> list[str]"), "Different words.")
      .def_prop_ro("without_head", guarded(&HeadLearner::without_head),
                   "Constituents whose words have several heads outside: nothing is learnt of them.")
      .def("learn", guarded([](const HeadLearner& learner, const ArrayIn<std::uint8_t>& punctuation) {
             const LearntHeads made = without_gil([&] { return learner.learn(as_span(punctuation)); });
             return std::tuple(made.text, made.constituents, made.right);
           }),
           "punctuation"_a,
           "The table's text, the constituents it is learnt from, and how many of their heads it finds. "
           "`punctuation` says it of each word.");
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
  bind_learner(m);
  bind_structure(m);
}

}  // namespace treeglot
