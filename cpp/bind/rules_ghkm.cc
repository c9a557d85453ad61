#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bind/arrays.h"
#include "bind/core.h"
#include "rules/dependency_bank.h"
#include "rules/ghkm.h"
#include "rules/labels.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace treeglot {
namespace {

using Limits = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;

FragmentLimits to_limits(const Limits& limits) {
  return {std::get<0>(limits), std::get<1>(limits), std::get<2>(limits), std::get<3>(limits)};
}

}  // namespace

void bind_rules_ghkm(nb::module_& m) {
  nb::class_<DependencyBank>(m, "DependencyBank", "The dependency trees of one side of a bitext.")
      .def(nb::init<>())
      .def("__len__", &DependencyBank::size)
      .def("append", &DependencyBank::append, "dependency"_a,
           "Adds the next sentence's tree; one without words is none.");

  nb::class_<Labels>(m, "RuleLabels", "The labels of an extraction by number: 0 is X.")
      .def(nb::init<>())
      .def("__len__", &Labels::size)
      .def_prop_ro(
          "texts",
          [](const Labels& labels) {
            std::vector<std::string_view> out;
            for (Symbol label = 0; label < labels.size(); ++label) out.push_back(labels.text(label));
            return out;
          },
          "By number.");

  nb::enum_<GhkmOptions::Phrases>(m, "ForestPhrases", "Which phrases are taken over the spans of forest nodes.")
      .value("none", GhkmOptions::Phrases::none)
      .value("all", GhkmOptions::Phrases::all)
      .value("well_formed", GhkmOptions::Phrases::well_formed);

  nb::class_<GhkmOptions>(m, "GhkmLimits", "Which rules are taken from forests.")
      .def(
          "__init__",
          [](GhkmOptions* self, bool well_formed, bool structure, GhkmOptions::Phrases phrases,
             std::uint32_t max_phrase, std::uint32_t phrase_loose, double margin, std::uint32_t max_composed,
             const Limits& minimal, const Limits& composed, std::uint32_t max_attachments, bool skip_bad) {
            new (self) GhkmOptions{well_formed,         structure,       phrases,      max_phrase,
                                   phrase_loose,        margin,          max_composed, to_limits(minimal),
                                   to_limits(composed), max_attachments, skip_bad};
          },
          "well_formed"_a, "structure"_a, "phrases"_a, "max_phrase"_a, "phrase_loose"_a, "margin"_a, "max_composed"_a,
          "minimal"_a, "composed"_a, "max_attachments"_a, "skip_bad"_a,
          "Limits of fragments are height, edges, leaves, and fragments of one root.");

  nb::class_<GhkmCounts>(m, "GhkmCounts", "What an extraction saw.")
      .def(nb::init<>())
      .def_ro("pairs", &GhkmCounts::pairs)
      .def_ro("unparsed", &GhkmCounts::unparsed, "Pairs without a parse.")
      .def_ro("unlinked", &GhkmCounts::unlinked, "Pairs without links.")
      .def_ro("no_tree", &GhkmCounts::no_tree, "Pairs without a well-formed dependency tree.")
      .def_ro("bad", &GhkmCounts::bad, "Pairs whose forest or tree has other words than the sentence.")
      .def_ro("nodes", &GhkmCounts::nodes, "Nodes of pruned forests, words not counted.")
      .def_ro("frontier", &GhkmCounts::frontier, "Of them in the frontier set.")
      .def_ro("minimal", &GhkmCounts::minimal, "Minimal rules taken.")
      .def_ro("composed", &GhkmCounts::composed, "Composed rules taken.")
      .def_ro("phrases", &GhkmCounts::phrases, "Phrases taken.")
      .def_ro("phrases_well_formed", &GhkmCounts::phrases_well_formed, "Of them with a well-formed target side.")
      .def_prop_ro(
          "minimal_too_large", [](const GhkmCounts& c) { return c.minimal_cuts.too_large; },
          "Minimal fragments given up as too large.")
      .def_prop_ro(
          "minimal_capped", [](const GhkmCounts& c) { return c.minimal_cuts.capped; },
          "Nodes with more minimal fragments than are allowed.")
      .def_prop_ro(
          "composed_too_large", [](const GhkmCounts& c) { return c.composed_cuts.too_large; },
          "Composed fragments given up as too large.")
      .def_prop_ro(
          "composed_capped", [](const GhkmCounts& c) { return c.composed_cuts.capped; },
          "Nodes with more composed fragments than are allowed.")
      .def_ro("attachments_capped", &GhkmCounts::attachments_capped,
              "Rules with more ways to attach unaligned words than are allowed.");

  m.def(
      "extract_ghkm",
      [](const Bitext& bitext, std::size_t first_pair, const std::vector<std::optional<const ParseForest*>>& forests,
         std::optional<const DependencyBank*> dependencies, const GhkmOptions& limits, Labels& labels, Tally& tally,
         unsigned threads, GhkmCounts& counts) {
        std::vector<const ParseForest*> given;
        for (const auto& forest : forests) given.push_back(forest.value_or(nullptr));
        without_gil([&] {
          extract_ghkm(bitext, first_pair, given, dependencies.value_or(nullptr), limits, labels, tally, threads,
                       counts);
        });
      },
      "bitext"_a, "first_pair"_a, "forests"_a, "dependencies"_a.none(), "limits"_a, "labels"_a, "tally"_a, "threads"_a,
      "counts"_a, "Adds the rules of the pairs from `first_pair` on, with these forests, to the tally.");
}

}  // namespace treeglot
