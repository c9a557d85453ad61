#include <string>
#include <utility>
#include <vector>

#include "bind/arrays.h"
#include "bind/core.h"
#include "bind/guarded.h"
#include "syntax/brackets.h"
#include "syntax/conll.h"
#include "syntax/egret.h"
#include "syntax/forest_json.h"
#include "syntax/lattice_json.h"
#include "syntax/pharaoh.h"
#include "syntax/plain.h"
#include "syntax/plf.h"

namespace treeglot {
namespace {

// What every reader has; the constructors differ.
template <class R>
nb::class_<R> bind_reader(nb::module_& m, const char* name, const char* doc) {
  const auto problems = [](const R& reader) {
    std::vector<std::pair<std::size_t, std::string>> out;
    for (const FormatError& error : reader.problems()) out.emplace_back(error.line(), error.problem());
    return out;
  };
  return nb::class_<R>(m, name, doc)
      .def("feed", guarded([](R& reader, const nb::bytes& chunk) {
             const std::string_view bytes = bytes_view(chunk);
             const nb::gil_scoped_release released;
             return reader.feed(bytes);
           }),
           "chunk"_a, "The values that are complete with these bytes; None for a bad record that was skipped.")
      .def("finish", guarded<R>(&R::finish), nb::call_guard<nb::gil_scoped_release>(),
           "The values that the end of the file completes.")
      .def_prop_ro("skipped", guarded<R>(&R::skipped), "How many bad records have been skipped.")
      .def_prop_ro("problems", guarded(problems), "Line and problem of the first bad records that were skipped.");
}

}  // namespace

void bind_syntax_formats(nb::module_& m) {
  bind_reader<BracketReader>(m, "BracketReader", "Reads Penn Treebank brackets.")
      .def(nb::init<std::string, bool>(), "file"_a, "skip_bad"_a = false);
  m.def("write_brackets", &write_brackets, "tree"_a, "The tree in brackets; refuses what would be read differently.");

  nb::enum_<Conll>(m, "Conll", "A version of the CoNLL format.").value("x", Conll::x).value("u", Conll::u);
  nb::enum_<TagColumn>(m, "TagColumn", "Which of CoNLL's two columns of tags is meant.")
      .value("coarse", TagColumn::coarse)
      .value("fine", TagColumn::fine);
  bind_reader<ConllReader>(m, "ConllReader", "Reads CoNLL-X or CoNLL-U.")
      .def(nb::init<std::string, bool, Conll, TagColumn>(), "file"_a, "skip_bad"_a, "version"_a, "tags"_a);
  m.def("write_conll", &write_conll, "dependency"_a, "version"_a, "tags"_a,
        "The lines of a sentence; refuses what would be read differently.");

  bind_reader<PharaohReader>(m, "PharaohReader", "Reads Pharaoh links.")
      .def(nb::init<std::string, bool>(), "file"_a, "skip_bad"_a = false);
  m.def("write_pharaoh", &write_pharaoh, "alignment"_a, "The links as a line.");
  m.def(
      "link_posteriors",
      [](const Alignment& alignment, const std::vector<std::string_view>& tokens, std::size_t source,
         std::size_t target) { return link_posteriors(alignment, tokens, source, target); },
      "alignment"_a, "tokens"_a, "source_length"_a, "target_length"_a,
      "The mean posterior of each link, by tokens such as 3-0:0.9:0.75; 0 for links that they lack.");

  bind_reader<EgretReader>(m, "EgretReader", "Reads packed forests as Egret prints them.")
      .def(nb::init<std::string, bool, bool, double>(), "file"_a, "skip_bad"_a = false, "keep_suffix"_a = false,
           "unit"_a = 1.0);
  m.def("write_egret", &write_egret, "forest"_a, "number"_a, nb::call_guard<nb::gil_scoped_release>(),
        "The record of a forest; refuses what the format cannot hold.");

  bind_reader<ForestJsonReader>(m, "ForestJsonReader", "Reads forests from JSON lines.")
      .def(nb::init<std::string, bool>(), "file"_a, "skip_bad"_a = false);
  m.def("write_forest_json", &write_forest_json, "forest"_a, nb::call_guard<nb::gil_scoped_release>(),
        "The forest as a line of JSON.");

  bind_reader<PlfReader>(m, "PlfReader", "Reads lattices in the Python Literal Format.")
      .def(nb::init<std::string, bool, ArcScores>(), "file"_a, "skip_bad"_a = false,
           "scores"_a = ArcScores::probability);
  bind_reader<LatticeJsonReader>(m, "LatticeJsonReader", "Reads lattices from JSON lines.")
      .def(nb::init<std::string, bool>(), "file"_a, "skip_bad"_a = false);
  m.def("write_lattice_json", &write_lattice_json, "lattice"_a, nb::call_guard<nb::gil_scoped_release>(),
        "The lattice as a line of JSON.");

  bind_reader<PlainReader>(m, "PlainReader", "Reads plain tokenised text.")
      .def(nb::init<std::string, bool>(), "file"_a, "skip_bad"_a = false);
  m.def("write_plain", &write_plain, "sentence"_a, "The tokens as a line; refuses what would be read differently.");
}

}  // namespace treeglot
