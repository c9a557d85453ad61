#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <tuple>
#include <utility>

#include "bind/arrays.h"
#include "bind/core.h"
#include "rules/head_dependents.h"
#include "rules/head_dependents_extract.h"
#include "syntax/alignment.h"
#include "syntax/dependency.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace treeglot {

void bind_rules_head_dependents(nb::module_& m) {
  using Positions = std::tuple<std::uint32_t, std::uint32_t>;
  m.def(
      "annotate",
      [](const Dependency& tree, std::size_t target_length, const Alignment& alignment) {
        const Relations relations(tree.heads());
        const Frontier frontier(alignment.links(), tree.size(), target_length);
        Annotation annotation;
        annotation.assign(relations, frontier);
        std::vector<std::tuple<Positions, bool, Positions, bool>> out;
        for (std::size_t word = 0; word < tree.size(); ++word) {
          const Span head = annotation.head_span(word), span = annotation.dependency_span(word);
          out.emplace_back(Positions{head.begin, head.end}, annotation.consistent(word),
                           Positions{span.begin, span.end}, annotation.acceptable(relations, word));
        }
        return out;
      },
      "tree"_a, "target_length"_a, "alignment"_a,
      "For each word of a projective tree: its head span, whether that is consistent, its dependency span, and whether "
      "its head-dependents relation is acceptable.");

  nb::class_<HeadDependentsOptions>(m, "HeadDependentsLimits", "The limits of rules from head-dependents relations.")
      .def(
          "__init__",
          [](HeadDependentsOptions* self, std::uint32_t max_phrase, std::uint32_t max_variants) {
            new (self) HeadDependentsOptions{max_phrase, max_variants};
          },
          "max_phrase"_a, "max_variants"_a);

  nb::class_<SourceTrees>(m, "SourceTrees", "The source trees of a bitext, as extraction reads them.")
      .def(
          "__init__",
          [](SourceTrees* self, std::shared_ptr<Bitext> bitext, const std::vector<const Dependency*>& trees) {
            const nb::gil_scoped_release released;
            new (self) SourceTrees(std::move(bitext), trees);
          },
          "bitext"_a, "trees"_a, "Refuses a tree that does not fit its sentence or has no tags.")
      .def_prop_ro(
          "labels", [](const SourceTrees& t) { return to_list(t.labels()); }, nb::sig("def labels(self) -> list[str]"),
          "Of the rules taken from them, by number.")
      .def_prop_ro("unparsed", &SourceTrees::unparsed, "Trees without words.")
      .def_prop_ro("broken", &SourceTrees::broken, "Trees with cycles or missing heads, which are not used.")
      .def_prop_ro("lifted", &SourceTrees::lifted, "Trees that were not projective.")
      .def_prop_ro("lifts", &SourceTrees::lifts, "How often a word was given its head's head to make them so.");

  nb::class_<HeadDependentsCounts>(m, "HeadDependentsCounts", "What an extraction saw.")
      .def(nb::init<>())
      .def_ro("pairs", &HeadDependentsCounts::pairs)
      .def_ro("unlinked", &HeadDependentsCounts::unlinked, "Pairs without links, which give nothing.")
      .def_ro("relations", &HeadDependentsCounts::relations, "Words with dependents.")
      .def_ro("acceptable", &HeadDependentsCounts::acceptable, "Of them give rules.")
      .def_ro("rules", &HeadDependentsCounts::rules, "Rules taken.")
      .def_ro("phrases", &HeadDependentsCounts::phrases, "Phrases taken.")
      .def_ro("capped", &HeadDependentsCounts::capped, "Rules with more variants than were tried.");

  m.def(
      "extract_head_dependents",
      [](const SourceTrees& trees, std::size_t begin, const HeadDependentsOptions& limits, Tally& tally,
         std::size_t memory, unsigned threads, HeadDependentsCounts& counts) {
        return extract_head_dependents(trees, begin, limits, tally, memory, threads, counts);
      },
      "trees"_a, "begin"_a, "limits"_a, "tally"_a, "memory"_a, "threads"_a, "counts"_a,
      nb::call_guard<nb::gil_scoped_release>(),
      "Adds the rules of the pairs from `begin` on to the tally until it has grown over `memory` bytes; gives the "
      "first "
      "pair that was not read.");
}

}  // namespace treeglot
