#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <tuple>

#include "bind/arrays.h"
#include "bind/core.h"
#include "rules/fuzzy.h"
#include "rules/hiero.h"
#include "rules/lexical.h"
#include "rules/phrase_kinds.h"
#include "rules/render.h"
#include "rules/string_dependency.h"
#include "rules/tally.h"
#include "rules/tree_pair.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace treeglot {
namespace {

using Sentence = std::vector<std::string_view>;

// An Arrow string or binary array is two buffers.
using Column = std::tuple<Array<std::int32_t>, Array<char>>;
Column to_column(BinaryColumn&& column) {
  return {as_array(std::move(column.offsets)), as_array(std::move(column.bytes))};
}

Codes to_codes(const ArrayIn<std::int32_t>& offsets, const ArrayIn<char>& bytes) {
  return {as_span(offsets), as_span(bytes)};
}

void bind_bitext(nb::module_& m) {
  nb::class_<Bitext>(m, "Bitext", "Aligned sentence pairs, as extractors read them.")
      .def("__len__", &Bitext::size)
      .def_prop_ro(
          "source_words", [](const Bitext& b) { return to_list(b.source_words().texts()); },
          nb::sig("def source_words(self) -> list[str]"), "By number: the most frequent first.")
      .def_prop_ro(
          "target_words", [](const Bitext& b) { return to_list(b.target_words().texts()); },
          nb::sig("def target_words(self) -> list[str]"), "By number: the most frequent first.");

  nb::class_<BitextBuilder>(m, "BitextBuilder", "Collects aligned sentence pairs.")
      .def(nb::init<>())
      .def("__len__", &BitextBuilder::size)
      .def(
          "append",
          [](BitextBuilder& b, const Sentence& source, const Sentence& target, const Alignment& alignment) {
            b.append(source, target, alignment);
          },
          "source"_a, "target"_a, "alignment"_a, "Adds a pair; refuses a link outside it.")
      .def(
          "finish", [](BitextBuilder& b) { return std::make_shared<Bitext>(b.finish()); },
          nb::call_guard<nb::gil_scoped_release>(), "The bitext; the builder is empty afterwards.");

  nb::class_<LexicalTable>(m, "LexicalTable", "Word translation probabilities from the links of a bitext.")
      .def(nb::init<const Bitext&>(), "bitext"_a, nb::call_guard<nb::gil_scoped_release>())
      .def(
          "entries",
          [](const LexicalTable& table) {
            std::vector<Symbol> source, target;
            std::vector<float> target_given_source, source_given_target;
            for (const LexicalEntry& e : table.entries()) {
              source.push_back(e.source);
              target.push_back(e.target);
              target_given_source.push_back(e.target_given_source);
              source_given_target.push_back(e.source_given_target);
            }
            return std::tuple(as_array(std::move(source)), as_array(std::move(target)),
                              as_array(std::move(target_given_source)), as_array(std::move(source_given_target)));
          },
          "Source words, target words (2^32 - 1 is NULL), w(target|source), w(source|target).");
}

void bind_tally(nb::module_& m) {
  nb::class_<Tally>(m, "Tally", "Rules taken from sentence pairs, added up.")
      .def(nb::init<>())
      .def("__len__", &Tally::rules)
      .def_prop_ro("bytes", &Tally::bytes, "Memory in use.")
      .def_ro_static("partitions", &Tally::kPartitions, "Rules are kept in so many parts, by their source sides.")
      .def("clear", &Tally::clear, "Forgets everything.")
      .def(
          "columns",
          [](const Tally& tally, std::size_t first, std::size_t last, const LexicalTable& lexical, bool merged) {
            RuleColumns c = without_gil([&] { return tally.columns(first, last, lexical, merged); });
            return std::tuple(
                to_column(std::move(c.source)), to_column(std::move(c.target)), to_column(std::move(c.alignment)),
                to_column(std::move(c.labels)), as_array(std::move(c.count)), as_array(std::move(c.occurrences)),
                as_array(std::move(c.lhs)), as_array(std::move(c.variables)),
                as_array(std::move(c.lex_target_given_source)), as_array(std::move(c.lex_source_given_target)));
          },
          "first"_a, "last"_a, "lexical"_a, "merged"_a,
          "The rules of some partitions: source, target, alignment and labels (offsets, bytes), count, occurrences, "
          "left-hand side, variables, p_lex(target|source), p_lex(source|target). A row for each rule if `merged`, "
          "else for each of its alignments.");

  nb::class_<Renderer>(m, "Renderer", "Turns rules' codes into text.")
      .def(
          "__init__",
          [](Renderer* self, const Sentence& source, const Sentence& target, const Sentence& labels) {
            new (self) Renderer(to_strings(source), to_strings(target), to_strings(labels));
          },
          "source_words"_a, "target_words"_a, "labels"_a)
      .def(
          "source",
          [](const Renderer& r, const ArrayIn<std::int32_t>& offsets, const ArrayIn<char>& bytes) {
            auto out = without_gil([&] { return r.source(to_codes(offsets, bytes)); });
            return std::tuple(to_column(std::move(out.lhs)), to_column(std::move(out.symbols)));
          },
          "offsets"_a, "bytes"_a, "Left-hand sides and source sides.")
      .def(
          "target",
          [](const Renderer& r, const ArrayIn<std::int32_t>& source_offsets, const ArrayIn<char>& source_bytes,
             const ArrayIn<std::int32_t>& offsets, const ArrayIn<char>& bytes) {
            auto out =
                without_gil([&] { return r.target(to_codes(source_offsets, source_bytes), to_codes(offsets, bytes)); });
            return std::tuple(to_column(std::move(out.symbols)), to_column(std::move(out.structure)));
          },
          "source_offsets"_a, "source_bytes"_a, "offsets"_a, "bytes"_a,
          "Target sides of rules with these source sides, and their structures.")
      .def(
          "labels",
          [](const Renderer& r, const ArrayIn<std::int32_t>& offsets, const ArrayIn<char>& bytes) {
            return to_column(without_gil([&] { return r.labels(to_codes(offsets, bytes)); }));
          },
          "offsets"_a, "bytes"_a, "Labels of rules and their variables.")
      .def_static(
          "alignment",
          [](const ArrayIn<std::int32_t>& offsets, const ArrayIn<char>& bytes) {
            return to_column(without_gil([&] { return Renderer::alignment(to_codes(offsets, bytes)); }));
          },
          "offsets"_a, "bytes"_a, "Alignments, as 0-0 1-2.");
}

void bind_hiero(nb::module_& m) {
  nb::class_<HieroOptions>(m, "HieroLimits", "The limits of hierarchical rules.")
      .def(
          "__init__",
          [](HieroOptions* self, std::uint32_t max_phrase, std::uint32_t max_target_phrase, std::uint32_t max_symbols,
             std::uint32_t max_nonterminals, std::uint32_t min_hole, bool adjacent, std::uint32_t loose_source,
             std::uint32_t loose_target, std::uint32_t phrase_loose_source, std::uint32_t phrase_loose_target) {
            new (self)
                HieroOptions{max_phrase, max_target_phrase, max_symbols,  max_nonterminals,    min_hole,
                             adjacent,   loose_source,      loose_target, phrase_loose_source, phrase_loose_target};
          },
          "max_phrase"_a, "max_target_phrase"_a, "max_symbols"_a, "max_nonterminals"_a, "min_hole"_a, "adjacent"_a,
          "loose_source"_a, "loose_target"_a, "phrase_loose_source"_a, "phrase_loose_target"_a);

  nb::class_<HieroCounts>(m, "HieroCounts", "What an extraction saw.")
      .def(nb::init<>())
      .def_ro("pairs", &HieroCounts::pairs)
      .def_ro("unlinked", &HieroCounts::unlinked, "Pairs without links, which give nothing.")
      .def_ro("phrases", &HieroCounts::phrases, "Initial phrase pairs.")
      .def_ro("refused", &HieroCounts::refused, "Of them refused by the labels.")
      .def_ro("flat", &HieroCounts::flat, "Rules taken, without nonterminals.")
      .def_ro("gappy", &HieroCounts::gappy, "Rules taken, with nonterminals.");

  nb::class_<PhraseLabels>(m, "PhraseLabels", "Which phrases may be used, and under which labels.");

  nb::class_<TargetStructures, PhraseLabels>(m, "TargetStructures",
                                             "Dependency structures of the target sides of phrases.")
      .def(nb::init<const Bitext&, std::shared_ptr<DependencyBank>, bool>(), "bitext"_a, "trees"_a, "strict"_a)
      .def_prop_ro("unparsed", &TargetStructures::unparsed, "Pairs without a tree.")
      .def_prop_ro(
          "texts", [](const TargetStructures& s) { return to_list(s.labels()); },
          nb::sig("def texts(self) -> list[str]"), "Labels by number: X, then the tags.");

  nb::class_<FuzzyLabels, PhraseLabels>(m, "FuzzyLabels", "Labels of phrases from trees on both sides.")
      .def(
          "__init__",
          [](FuzzyLabels* self, const Bitext& bitext, std::shared_ptr<TreeBatch> source,
             std::shared_ptr<TreeBatch> target, const ArrayIn<std::uint8_t>& source_punctuation,
             const ArrayIn<std::uint8_t>& target_punctuation, bool nesting, bool hard) {
            const auto f = as_span(source_punctuation), e = as_span(target_punctuation);
            new (self) FuzzyLabels(bitext, std::move(source), std::move(target),
                                   {{f.begin(), f.end()}, {e.begin(), e.end()}}, {nesting, hard});
          },
          "bitext"_a, "source_trees"_a, "target_trees"_a, "source_punctuation"_a, "target_punctuation"_a, "nesting"_a,
          "hard"_a)
      .def_prop_ro(
          "hard", [](const FuzzyLabels& labels) { return !labels.noted(); },
          "Whether labels are part of the rules, not notes on them.")
      .def_prop_ro(
          "texts", [](const FuzzyLabels& labels) { return to_list(labels.texts()); },
          nb::sig("def texts(self) -> list[str]"), "The labels given so far, by number; X first.");

  m.def(
      "extract_hiero",
      [](const Bitext& bitext, std::size_t begin, const ArrayIn<std::uint8_t>& core, const HieroOptions& limits,
         PhraseLabels* labels, Tally& tally, std::size_t memory, unsigned threads, HieroCounts& counts) {
        return extract_hiero(bitext, begin, as_span(core), limits, labels, tally, memory, threads, counts);
      },
      "bitext"_a, "begin"_a, "core"_a, "limits"_a, "labels"_a.none(), "tally"_a, "memory"_a, "threads"_a, "counts"_a,
      nb::call_guard<nb::gil_scoped_release>(),
      "Adds the rules of the pairs from `begin` on to the tally until it has grown over `memory` bytes; gives the "
      "first "
      "pair that was not read.");
}

void bind_tree_pair(nb::module_& m) {
  nb::class_<PhraseKinds>(m, "PhraseKinds", "How many phrase pairs are left when they must be constituents.")
      .def_ro("pairs", &PhraseKinds::pairs, "Sentence pairs.")
      .def_ro("string_to_string", &PhraseKinds::string_to_string, "All phrase pairs.")
      .def_ro("nested", &PhraseKinds::nested, "The most that do not cross.")
      .def_ro("tree_to_string", &PhraseKinds::tree_to_string, "Those whose source side is a constituent.")
      .def_ro("string_to_tree", &PhraseKinds::string_to_tree, "Those whose target side is a constituent.")
      .def_ro("tree_to_tree", &PhraseKinds::tree_to_tree, "Those of which both sides are constituents.");
  m.def("count_phrase_kinds", &count_phrase_kinds, "bitext"_a, "source_trees"_a, "target_trees"_a, "max_phrase"_a,
        "threads"_a, nb::call_guard<nb::gil_scoped_release>(),
        "Counts phrase pairs without unaligned words at their ends.");

  nb::class_<TreePairCounts>(m, "TreePairCounts", "What an extraction from pairs of trees saw.")
      .def(nb::init<>())
      .def_ro("pairs", &TreePairCounts::pairs)
      .def_ro("unlinked", &TreePairCounts::unlinked, "Pairs without links, which give nothing.")
      .def_ro("unparsed", &TreePairCounts::unparsed, "Pairs without a tree on some side, which give nothing.")
      .def_ro("nodes", &TreePairCounts::nodes, "Pairs of nodes that are phrase pairs.")
      .def_ro("limited", &TreePairCounts::limited, "Of them with more rules than were taken.")
      .def_ro("rules", &TreePairCounts::rules, "Rules taken.");

  nb::class_<TreePairExtractor>(m, "TreePairExtractor", "Takes rules from pairs of trees.")
      .def(
          "__init__",
          [](TreePairExtractor* self, std::shared_ptr<Bitext> bitext, std::shared_ptr<TreeBatch> source,
             std::shared_ptr<TreeBatch> target, std::uint32_t max_frontier, std::uint32_t max_rules) {
            new (self)
                TreePairExtractor(std::move(bitext), std::move(source), std::move(target), {max_frontier, max_rules});
          },
          "bitext"_a, "source_trees"_a, "target_trees"_a, "max_frontier"_a, "max_rules"_a)
      .def("extract", &TreePairExtractor::extract, "begin"_a, "tally"_a, "memory"_a, "threads"_a, "counts"_a,
           nb::call_guard<nb::gil_scoped_release>(),
           "Adds the rules of the pairs from `begin` on to the tally until it has grown over `memory` bytes; gives the "
           "first pair that was not read.")
      .def_prop_ro(
          "texts", [](const TreePairExtractor& e) { return to_list(e.texts()); },
          nb::sig("def texts(self) -> list[str]"), "The labels given so far, by number; X first.");
}

}  // namespace

void bind_rules_extract(nb::module_& m) {
  bind_bitext(m);
  bind_tally(m);
  bind_hiero(m);
  bind_tree_pair(m);
}

}  // namespace treeglot
