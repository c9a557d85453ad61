#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bind/arrays.h"
#include "bind/core.h"
#include "syntax/lattice.h"
#include "syntax/lattice_forest.h"
#include "syntax/plf.h"

namespace treeglot {
namespace {

constexpr std::size_t kLongestRepr = 12;  // arcs of a value shown in full

using Arc = std::tuple<std::uint32_t, std::uint32_t, std::string, double>;

Lattice lattice_of(const std::vector<Arc>& given) {
  std::vector<LatticeArc> arcs;
  Strings words;
  for (const auto& [from, to, word, score] : given) {
    arcs.push_back({from, to, score});
    words.append(word);
  }
  return Lattice(std::move(arcs), words);
}

std::vector<Arc> arcs_of(const Lattice& lattice) {
  std::vector<Arc> out;
  for (std::size_t i = 0; i < lattice.arcs().size(); ++i) {
    const LatticeArc& arc = lattice.arcs()[i];
    out.emplace_back(arc.from, arc.to, std::string(lattice.words()[i]), arc.score);
  }
  return out;
}

std::vector<std::string> words_on(const Lattice& lattice, const std::vector<std::uint32_t>& path) {
  std::vector<std::string> out;
  for (const std::uint32_t arc : path) {
    if (arc >= lattice.arcs().size())
      throw nb::index_error(
          ("arc " + std::to_string(arc) + " of a lattice of " + std::to_string(lattice.arcs().size()) + " arcs")
              .c_str());
    if (lattice.has_word(arc)) out.emplace_back(lattice.words()[arc]);
  }
  return out;
}

using VariantTuple = std::tuple<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::string>, double>;

std::vector<VariantTuple> variants_of(const LatticeForest& both) {
  std::vector<VariantTuple> out;
  for (const Variant& variant : both.variants()) {
    auto& [span, words, score] = out.emplace_back();
    span = {variant.span.begin, variant.span.end};
    for (std::uint32_t i = 0; i < variant.words; ++i) words.emplace_back(both.words()[variant.first_word + i]);
    score = variant.score;
  }
  return out;
}

std::shared_ptr<ParseForest> forest_of(const LatticeForest& both) {
  return std::const_pointer_cast<ParseForest>(both.forest());
}
std::shared_ptr<Lattice> lattice_in(const LatticeForest& both) {
  return std::const_pointer_cast<Lattice>(both.lattice());
}

}  // namespace

void bind_syntax_lattice(nb::module_& m) {
  nb::enum_<ArcScores>(m, "ArcScores", "What the scores of arcs in a file are.")
      .value("probability", ArcScores::probability)
      .value("log", ArcScores::log)
      .value("cost", ArcScores::cost);
  nb::class_<Lattice>(m, "Lattice",
                      "Several ways to read a sentence: arcs with words and scores between nodes, which count from 0.")
      .def(
          "__init__", [](Lattice* self, const std::vector<Arc>& arcs) { new (self) Lattice(lattice_of(arcs)); },
          "arcs"_a,
          "An arc has the node that it leaves, a later one that it leads to, its word and its score (natural log). "
          "Paths begin at node 0 and end at the last one. The word of an arc without one is empty.")
      .def_static(
          "from_words",
          [](const std::vector<std::string>& words) {
            std::vector<Arc> arcs;
            for (std::uint32_t i = 0; i < words.size(); ++i) arcs.emplace_back(i, i + 1, words[i], 0.0);
            return lattice_of(arcs);
          },
          "words"_a, "The lattice with one path, which is a sentence.")
      .def_static("parse", &parse_plf, "text"_a, "scores"_a = ArcScores::probability,
                  "The lattice of a line as Moses and cdec read it: ((('a',1.0,1),('b',0.5,2),),(('c',1.0,1),),)")
      .def_prop_ro("arcs", &arcs_of, "In the order of the nodes that they leave.")
      .def_prop_ro(
          "words", [](const Lattice& l) { return to_list(l.words()); }, nb::sig("def words(self) -> list[str]"),
          "The words of the arcs; empty for an arc without one.")
      .def_prop_ro("nodes", &Lattice::nodes, "How many nodes there are.")
      .def("words_on", &words_on, "path"_a, "The words of a path, which is a list of arcs by number.")
      .def("__len__", [](const Lattice& l) { return l.arcs().size(); })
      .def("__eq__", &equal<Lattice>, "other"_a.none())
      .def("__hash__", [](const Lattice& l) { return hash_of(l.words(), l.nodes()); })
      .def("__getstate__", [](const Lattice& l) { return std::tuple(arcs_of(l)); })
      .def("__setstate__",
           [](Lattice& self, const std::tuple<std::vector<Arc>>& state) {
             new (&self) Lattice(lattice_of(std::get<0>(state)));
           })
      .def("__repr__", [](const Lattice& l) {
        if (l.arcs().size() > kLongestRepr) return "<Lattice of " + std::to_string(l.arcs().size()) + " arcs>";
        return "Lattice(" + nb::cast<std::string>(nb::repr(nb::cast(arcs_of(l)))) + ")";
      });
  nb::class_<LatticeForest>(m, "LatticeForest",
                            "A forest whose words may be read in other ways: those of a lattice, one path of which was "
                            "parsed.")
      .def(
          "__init__",
          [](LatticeForest* self, std::shared_ptr<ParseForest> forest, std::shared_ptr<Lattice> lattice) {
            new (self) LatticeForest(std::move(forest), std::move(lattice));
          },
          "forest"_a, "lattice"_a, "A lattice without a path that has the forest's words is refused.")
      .def_prop_ro("forest", &forest_of, "Of the path that was parsed.")
      .def_prop_ro("lattice", &lattice_in, "All paths.")
      .def_prop_ro(
          "words",
          [](const LatticeForest& f) {
            std::vector<std::string> out;
            for (std::size_t i = 0; i < f.forest()->words(); ++i) out.emplace_back(f.forest()->word(i));
            return out;
          },
          "Of the path that was parsed.")
      .def_prop_ro("variants", &variants_of,
                   "Spans of the forest's words, the words that they may be read as, and their scores (natural log), "
                   "less those of the path that was parsed.")
      .def_prop_ro("left_out", &LatticeForest::left_out,
                   "How many ways insert words, or leave words out: these are not used.")
      .def(
          "__eq__",
          [](const LatticeForest& self, nb::handle other) {
            LatticeForest* to = nullptr;
            return nb::try_cast<LatticeForest*>(other, to) && to != nullptr && *self.forest() == *to->forest() &&
                   *self.lattice() == *to->lattice();
          },
          "other"_a.none())
      .def("__hash__",
           [](const LatticeForest& f) { return hash_of(f.lattice()->words(), f.forest()->graph().nodes()); })
      .def("__getstate__", [](const LatticeForest& f) { return std::pair(forest_of(f), lattice_in(f)); })
      .def("__setstate__",
           [](LatticeForest& self, const std::pair<std::shared_ptr<ParseForest>, std::shared_ptr<Lattice>>& state) {
             if (!state.first || !state.second) throw std::invalid_argument("a state without a forest or a lattice");
             new (&self) LatticeForest(state.first, state.second);
           })
      .def("__repr__", [](const LatticeForest& f) {
        return "<LatticeForest of " + std::to_string(f.forest()->words()) + " words and " +
               std::to_string(f.variants().size()) + " variants>";
      });
}

}  // namespace treeglot
