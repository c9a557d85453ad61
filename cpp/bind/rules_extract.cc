#include <memory>
#include <optional>
#include <tuple>

#include "base/limits.h"
#include "bind/arrays.h"
#include "bind/core.h"
#include "bind/guarded.h"
#include "bind/options.h"
#include "bind/rules.h"
#include "rules/add_up.h"
#include "rules/fuzzy.h"
#include "rules/ghkm.h"
#include "rules/head_dependents_extract.h"
#include "rules/hiero.h"
#include "rules/lexical.h"
#include "rules/phrase_kinds.h"
#include "rules/provenance.h"
#include "rules/render.h"
#include "rules/rule_scores.h"
#include "rules/string_dependency.h"
#include "rules/tally.h"
#include "rules/tree_pair.h"
#include "rules/vocabulary.h"

namespace treeglot {

TREEGLOT_OPTIONS(TreePairOptions, max_frontier, max_rules);
TREEGLOT_OPTIONS(HeadDependentsOptions, max_phrase, max_variants, max_span, max_symbols, max_nonterminals);
template <>
inline constexpr auto kNames<GhkmOptions::Phrases> =
    std::array{OptionName{"none", GhkmOptions::Phrases::none}, OptionName{"all", GhkmOptions::Phrases::all},
               OptionName{"well-formed", GhkmOptions::Phrases::well_formed}};
TREEGLOT_OPTIONS(GhkmOptions, well_formed, structure, phrases, all_spans, max_phrase, phrase_loose, sequences, max_span,
                 max_symbols, max_nonterminals, max_composed, minimal_height, minimal_edges, minimal_leaves,
                 minimal_fragments, composed_height, composed_edges, composed_leaves, composed_fragments,
                 max_attachments);

namespace {

using Sentence = std::vector<std::string_view>;
constexpr double kMostAlignments = 1000;  // of a pair

// An Arrow string or binary array is two buffers.
using Column = std::tuple<Array<std::int32_t>, Array<char>>;
Column to_column(BinaryColumn&& column) {
  return {as_array(std::move(column.offsets)), as_array(std::move(column.bytes))};
}

Codes to_codes(const ArrayIn<std::int32_t>& offsets, const ArrayIn<char>& bytes) {
  return {as_span(offsets), as_span(bytes)};
}

auto to_columns(RuleColumns&& c) {
  return std::tuple(to_column(std::move(c.source)), to_column(std::move(c.target)), to_column(std::move(c.alignment)),
                    to_column(std::move(c.labels)), as_array(std::move(c.count)), as_array(std::move(c.occurrences)),
                    as_array(std::move(c.lhs)), as_array(std::move(c.variables)),
                    as_array(std::move(c.lex_target_given_source)), as_array(std::move(c.lex_source_given_target)),
                    as_array(std::move(c.source_row)));
}

using ColumnIn = std::tuple<ArrayIn<std::int32_t>, ArrayIn<char>>;
using RowsIn = std::tuple<ColumnIn, ColumnIn, ColumnIn, ColumnIn, ArrayIn<double>, ArrayIn<std::uint32_t>,
                          ArrayIn<std::uint32_t>, ArrayIn<std::uint8_t>, ArrayIn<float>, ArrayIn<float>>;
CountedRows to_rows(const RowsIn& given) {
  const auto codes = [](const ColumnIn& column) { return to_codes(std::get<0>(column), std::get<1>(column)); };
  const auto& [source, target, alignment, labels, count, occurrences, lhs, variables, forward, backward] = given;
  return {codes(source),        codes(target), codes(alignment),   codes(labels),    as_span(count),
          as_span(occurrences), as_span(lhs),  as_span(variables), as_span(forward), as_span(backward)};
}

// The share of an alignment, as Python has it: the weights without and with its own.
using Share = std::optional<std::tuple<double, double>>;
std::optional<PairShare> to_share(const Share& share) {
  if (!share) return {};
  const auto [begin, end] = *share;
  if (!(begin >= 0 && begin < end && end - begin <= 1 && end <= kMostAlignments))
    throw std::invalid_argument("the share of an alignment is " + std::to_string(begin) + " to " + std::to_string(end) +
                                "; expected a weight above 0 and at most 1");
  return PairShare::of(begin, end);
}

void bind_bitext(nb::module_& m) {
  nb::class_<Bitext>(m, "Bitext", "Aligned sentence pairs, as extractors read them.")
      .def("__len__", &Bitext::size)
      .def_prop_ro_static(
          "united_parts", [](nb::handle) { return PairShare::kParts; },
          "The parts of an occurrence with several alignments.")
      .def_prop_ro("occurrence_parts", &Bitext::occurrence_parts,
                   "Rules' occurrences are counted in such parts: 1, or more with several alignments.")
      .def_prop_ro(
          "source_words", [](const Bitext& b) { return to_list(b.source_words()); },
          nb::sig("def source_words(self) -> list[str]"), "By number: the most frequent first.")
      .def_prop_ro(
          "target_words", [](const Bitext& b) { return to_list(b.target_words()); },
          nb::sig("def target_words(self) -> list[str]"), "By number: the most frequent first.");

  nb::class_<BitextBuilder>(m, "BitextBuilder", "Collects aligned sentence pairs.")
      .def(nb::init<>())
      .def(
          "__init__",
          [](BitextBuilder* self, const Sentence& source, const Sentence& target) {
            new (self) BitextBuilder(to_strings(source), to_strings(target));
          },
          "source_words"_a, "target_words"_a, "Numbers words as these lists do, and refuses others.")
      .def("__len__", guarded(&BitextBuilder::size))
      .def("append",
           guarded([](BitextBuilder& b, const Sentence& source, const Sentence& target, const Alignment& alignment,
                      const std::vector<float>& weights,
                      const Share& share) { b.append(source, target, alignment, weights, to_share(share)); }),
           "source"_a, "target"_a, "alignment"_a, "weights"_a = std::vector<float>(), "share"_a = nb::none(),
           "Adds a pair; refuses a link outside it. `weights` has one for each link, or none. A pair with several "
           "alignments is added once for each. `share` then has the sum of the weights before this one, and with it.")
      .def("finish", guarded([](BitextBuilder& b) { return std::make_shared<Bitext>(b.finish()); }),
           nb::call_guard<nb::gil_scoped_release>(), "The bitext; the builder is empty afterwards.");

  nb::class_<LexicalTable>(m, "LexicalTable", "Word translation probabilities from the links of a bitext.")
      .def(nb::init<const Bitext&>(), "bitext"_a, nb::call_guard<nb::gil_scoped_release>())
      .def(
          "__init__",
          [](LexicalTable* self, const ArrayIn<Symbol>& source, const ArrayIn<Symbol>& target,
             const ArrayIn<float>& target_given_source, const ArrayIn<float>& source_given_target) {
            const auto f = as_span(source), e = as_span(target);
            const auto forward = as_span(target_given_source), backward = as_span(source_given_target);
            if (e.size() != f.size() || forward.size() != f.size() || backward.size() != f.size())
              throw std::invalid_argument("the columns of a lexical table differ in length");
            std::vector<LexicalEntry> entries;
            for (std::size_t i = 0; i < f.size(); ++i) entries.push_back({f[i], e[i], forward[i], backward[i]});
            new (self) LexicalTable(entries);
          },
          "source"_a, "target"_a, "target_given_source"_a, "source_given_target"_a, "From what `entries` gives.")
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

void bind_vocabulary(nb::module_& m) {
  nb::class_<CorpusVocabulary>(m, "Vocabulary", "The words of a corpus, and their translation probabilities.")
      .def_prop_ro(
          "source_words", [](const CorpusVocabulary& v) { return to_list(v.source_words); },
          nb::sig("def source_words(self) -> list[str]"), "By number: the most frequent first.")
      .def_prop_ro(
          "target_words", [](const CorpusVocabulary& v) { return to_list(v.target_words); },
          nb::sig("def target_words(self) -> list[str]"), "By number: the most frequent first.")
      .def_ro("lexical", &CorpusVocabulary::lexical);

  nb::class_<VocabularyBuilder>(m, "VocabularyBuilder", "Counts words and links pair by pair, and keeps no pairs.")
      .def(nb::init<>())
      .def("append",
           guarded(
               [](VocabularyBuilder& b, const Sentence& source, const Sentence& target, const Alignment& alignment,
                  const Share& share) { b.append(source, target, alignment, to_share(share).value_or(PairShare())); }),
           "source"_a, "target"_a, "alignment"_a, "share"_a = nb::none(),
           "Adds a pair; refuses a link outside it. `share` is as in `BitextBuilder.append`.")
      .def("finish", guarded(&VocabularyBuilder::finish), nb::call_guard<nb::gil_scoped_release>(),
           "The vocabulary, as a bitext of all pairs has it; the builder is empty afterwards.");
}

void bind_tally(nb::module_& m) {
  nb::class_<Tally>(m, "Tally", "Rules taken from sentence pairs, added up.")
      .def(nb::init<>())
      .def("__len__", guarded(&Tally::rules))
      .def_prop_ro("bytes", guarded(&Tally::bytes), "Memory in use.")
      .def_ro_static("partitions", &Tally::kPartitions, "Rules are kept in so many parts, by their source sides.")
      .def("clear", guarded(&Tally::clear), "Forgets everything.")
      .def("columns",
           guarded(
               [](const Tally& tally, std::size_t first, std::size_t last, const LexicalTable& lexical, bool merged) {
                 return to_columns(without_gil([&] { return tally.columns(first, last, lexical, merged); }));
               }),
           "first"_a, "last"_a, "lexical"_a, "merged"_a,
           "The rules of some partitions: source, target, alignment and labels (offsets, bytes), count, occurrences, "
           "left-hand side, variables, p_lex(target|source), p_lex(source|target), and the first row with the same "
           "source side. A row for each rule if `merged`, "
           "else for each of its alignments.");
  m.def(
      "add_up_counts",
      [](const std::vector<RowsIn>& parts, std::uint32_t occurrence_parts) {
        std::vector<CountedRows> rows;
        for (const RowsIn& part : parts) rows.push_back(to_rows(part));
        return to_columns(without_gil([&] { return add_up(rows, std::max(occurrence_parts, 1u)); }));
      },
      "parts"_a, "occurrence_parts"_a = 1,
      "The columns of one merged tally from those of several that are not merged, for one partition. The parts come in "
      "the order of their pairs, without the first rows with the same source sides.");

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

void bind_rule_scores(nb::module_& m) {
  using Counts = std::tuple<ArrayIn<std::int64_t>, ArrayIn<double>, ArrayIn<std::uint32_t>, ArrayIn<std::uint32_t>,
                            ArrayIn<std::uint8_t>>;
  static constexpr auto kCounts = [](const Counts& given) -> CountsOfRules {
    const auto& [source_row, count, occurrences, lhs, variables] = given;
    return {as_span(source_row), as_span(count), as_span(occurrences), as_span(lhs), as_span(variables)};
  };
  nb::class_<RuleScores>(m, "RuleScores", "Probabilities of counted rules. All rows are read twice.")
      .def(
          "__init__",
          [](RuleScores* self, std::vector<double> factors, std::vector<double> discounts, double rules,
             std::uint32_t least, std::uint32_t least_gappy, std::size_t targets_per_source, bool roots, bool apart) {
            new (self) RuleScores({{std::move(factors), std::move(discounts), rules},
                                   least,
                                   least_gappy,
                                   targets_per_source,
                                   roots,
                                   apart});
          },
          nb::kw_only(), "factors"_a, "discounts"_a, "rules"_a, "least"_a, "least_gappy"_a, "targets_per_source"_a,
          "roots"_a, "apart"_a,
          "By `factors`, counts of one occurrence, two, … are multiplied; or `discounts` are taken from them, the last "
          "from all that follow, where there are so many `rules`. Rules need so many occurrences, with and without "
          "variables. With `roots`, left-hand sides differ; with `apart`, targets of phrases are counted separately.")
      .def("add", guarded([](RuleScores& s, const ColumnIn& targets, const Counts& counts) {
             const auto codes = to_codes(std::get<0>(targets), std::get<1>(targets));
             without_gil([&] { return s.add(codes, kCounts(counts)), true; });
           }),
           "targets"_a, "counts"_a,
           "Adds rows: target sides, and the first row with the same source side, count, occurrences, left-hand side "
           "and variables.")
      .def("bytes_to_add", guarded([](RuleScores& s, const ColumnIn& targets, const Counts& counts) {
             const auto codes = to_codes(std::get<0>(targets), std::get<1>(targets));
             return without_gil([&] { return s.bytes_to_add(codes, kCounts(counts)); });
           }),
           "targets"_a, "counts"_a, "The most memory in use while these rows are added.")
      .def_prop_ro("bytes", guarded(&RuleScores::bytes), "Memory in use.")
      .def_prop_ro("waiting", guarded(&RuleScores::waiting), "Rows that were added and not scored.")
      .def("finish", guarded(&RuleScores::finish), "All rows were added.")
      .def("score", guarded([](RuleScores& s, const Counts& counts) {
             ScoredRules found = without_gil([&] { return s.score(kCounts(counts)); });
             return std::tuple(as_array(std::move(found.kept)), as_array(std::move(found.target_given_source)),
                               as_array(std::move(found.source_given_target)), as_array(std::move(found.given_root)));
           }),
           "counts"_a,
           "Scores rows, which come in the same order, all of a source side at once. Gives the places of those that "
           "are kept, and p(target|source), p(source|target) and p(rule|left-hand side), the last with `roots` alone.");
}

// What extractors read and Python made. Extractors hold it: it does not change while they live.
using Trees = std::shared_ptr<TreeBatch>;
using Dependencies = std::shared_ptr<DependencyBank>;
std::shared_ptr<const TreeBatch> kept(Trees trees) { return held<const TreeBatch>(std::move(trees)); }
std::shared_ptr<const DependencyBank> kept(Dependencies trees) { return held<const DependencyBank>(std::move(trees)); }

void bind_extractors(nb::module_& m) {
  nb::class_<Extractor>(m, "Extractor", "Takes rules from the pairs of a bitext, and counts what it sees.")
      .def_prop_ro("bitext", &Extractor::bitext, nb::rv_policy::reference_internal)
      .def("extract", guarded(&Extractor::extract), "begin"_a, "tally"_a, "memory"_a, "threads"_a,
           nb::call_guard<nb::gil_scoped_release>(),
           "Adds the rules of the pairs from `begin` on to the tally until it has grown over `memory` bytes; gives the "
           "first pair that was not read.")
      .def("find_keys", guarded(&Extractor::find_keys), "begin"_a, "threads"_a,
           nb::call_guard<nb::gil_scoped_release>(),
           "Numbers the labels of the pairs from `begin` on, and takes no rules.")
      .def_prop_ro("keys", guarded([](const Extractor& extractor) {
                     nb::list out;
                     const Strings keys = extractor.keys();
                     for (std::size_t i = 0; i < keys.size(); ++i)
                       out.append(nb::bytes(keys[i].data(), keys[i].size()));
                     return out;
                   }),
                   nb::sig("def keys(self) -> list[bytes]"), "Of the labels that are numbered as pairs come.")
      .def("number_keys", guarded([](Extractor& extractor, const std::vector<nb::bytes>& keys) {
             Strings given;
             for (const nb::bytes& key : keys) given.append({key.c_str(), key.size()});
             extractor.number_keys(given);
           }),
           "keys"_a, "Numbers these labels first, as another extractor's `keys` has them.")
      .def("write_provenance",
           guarded([](Extractor& extractor, const RuleTable& table, const std::string& path, unsigned threads) {
             Provenance::write(path, table, extractor, threads);
           }),
           "table"_a, "path"_a, "threads"_a, nb::call_guard<nb::gil_scoped_release>(),
           "Reads all pairs again and writes which of them the rules of a table come from.")
      .def_prop_ro("counts", guarded([](const Extractor& extractor) {
                     nb::dict out;
                     for (const auto& [name, count] : extractor.counts())
                       out[nb::str(name.data(), name.size())] = count;
                     return out;
                   }),
                   nb::sig("def counts(self) -> dict[str, int]"), "What was seen in all pairs so far.")
      .def_prop_ro("labels", guarded([](const Extractor& extractor) { return to_list(extractor.labels()); }),
                   nb::sig("def labels(self) -> list[str]"), "The labels given so far, by number; X first.");

  nb::class_<PhraseLabels>(m, "PhraseLabels", "Which phrases may be used, and under which labels.");
  nb::class_<TargetStructures, PhraseLabels>(m, "TargetStructures",
                                             "Dependency structures of the target sides of phrases.")
      .def(
          "__init__",
          [](TargetStructures* self, const Bitext& bitext, Dependencies trees, bool strict, bool ill_formed) {
            new (self) TargetStructures(bitext, kept(std::move(trees)), strict, ill_formed);
          },
          "bitext"_a, "trees"_a, "strict"_a, "ill_formed"_a = false);
  nb::class_<FuzzyLabels, PhraseLabels>(m, "FuzzyLabels", "Labels of phrases from trees on both sides.")
      .def(
          "__init__",
          [](FuzzyLabels* self, const Bitext& bitext, Trees source, Trees target,
             const ArrayIn<std::uint8_t>& source_punctuation, const ArrayIn<std::uint8_t>& target_punctuation,
             bool nesting, bool hard) {
            const auto f = as_span(source_punctuation), e = as_span(target_punctuation);
            new (self) FuzzyLabels(bitext, kept(std::move(source)), kept(std::move(target)),
                                   {{f.begin(), f.end()}, {e.begin(), e.end()}}, {nesting, hard});
          },
          "bitext"_a, "source_trees"_a, "target_trees"_a, "source_punctuation"_a, "target_punctuation"_a, "nesting"_a,
          "hard"_a);

  nb::class_<HieroExtractor, Extractor>(m, "HieroExtractor", "Takes hierarchical phrases.")
      .def(
          "__init__",
          [](HieroExtractor* self, std::shared_ptr<Bitext> bitext, nb::handle options,
             std::shared_ptr<PhraseLabels> labels) {
            new (self) HieroExtractor(std::move(bitext), read_options<HieroOptions>(options),
                                      held<PhraseLabels>(std::move(labels)));
          },
          "bitext"_a, "options"_a, "labels"_a.none() = nb::none());
  nb::class_<TreePairExtractor, Extractor>(m, "TreePairExtractor", "Takes rules from pairs of trees.")
      .def(
          "__init__",
          [](TreePairExtractor* self, std::shared_ptr<Bitext> bitext, Trees source, Trees target, nb::handle options) {
            new (self) TreePairExtractor(std::move(bitext), kept(std::move(source)), kept(std::move(target)),
                                         read_options<TreePairOptions>(options));
          },
          "bitext"_a, "source_trees"_a, "target_trees"_a, "options"_a);
  nb::class_<HeadDependentsExtractor, Extractor>(m, "HeadDependentsExtractor",
                                                 "Takes rules from head-dependents relations, and phrases.")
      .def(
          "__init__",
          [](HeadDependentsExtractor* self, std::shared_ptr<Bitext> bitext, const Given<Dependency>& trees,
             nb::handle options) {
            const auto read = read_options<HeadDependentsOptions>(options);
            const nb::gil_scoped_release released;
            new (self) HeadDependentsExtractor(std::move(bitext), trees.values, read);
          },
          "bitext"_a, "trees"_a, "options"_a, "Refuses a tree that does not fit its source sentence or has no tags.");
  nb::class_<GhkmExtractor, Extractor>(m, "GhkmExtractor", "Takes rules from forests and their translations.")
      .def(
          "__init__",
          [](GhkmExtractor* self, std::shared_ptr<Bitext> bitext, std::shared_ptr<ForestBank> forests,
             Dependencies dependencies, nb::handle options, const Given<Dependency>& phrases) {
            new (self) GhkmExtractor(std::move(bitext), held<const ForestBank>(std::move(forests)),
                                     kept(std::move(dependencies)), read_options<GhkmOptions>(options), phrases.values);
          },
          "bitext"_a, "forests"_a, "dependencies"_a.none(), "options"_a, "phrases"_a = nb::tuple(),
          "`phrases` are dependency trees, with tags, of target phrases that were parsed on their own.");
  nb::class_<PhraseKindCounter, Extractor>(m, "PhraseKindCounter",
                                           "Counts phrase pairs that are constituents, and takes no rules.")
      .def(
          "__init__",
          [](PhraseKindCounter* self, std::shared_ptr<Bitext> bitext, Trees source, Trees target, Limit max_phrase) {
            new (self)
                PhraseKindCounter(std::move(bitext), kept(std::move(source)), kept(std::move(target)), max_phrase);
          },
          "bitext"_a, "source_trees"_a, "target_trees"_a, "max_phrase"_a);
}

void bind_banks(nb::module_& m) {
  nb::class_<DependencyBank>(m, "DependencyBank", "The dependency trees of one side of a bitext.")
      .def(nb::init<>())
      .def("__len__", guarded(&DependencyBank::size))
      .def("append", guarded(&DependencyBank::append), "dependency"_a,
           "Adds the next sentence's tree; one without words is none.");
  nb::class_<ForestBank>(m, "ForestBank", "The forests of one side of a bitext, pruned.")
      .def(nb::init<double>(), "margin"_a)
      .def("__len__", guarded(&ForestBank::size))
      .def("append", guarded([](ForestBank& bank, const Given<ParseForest, true>& forests, unsigned threads) {
             without_gil([&] { bank.append(forests.values, threads); });
           }),
           "forests"_a, "threads"_a, "Adds the forests of the next sentences; None is a failed parse.");

  using Positions = std::tuple<std::uint32_t, std::uint32_t>;
  m.def(
      "annotate",
      [](const Dependency& tree, std::size_t target_length, const Alignment& alignment) {
        check_at_most("the number of target words", target_length, 1 << 24);
        alignment.check(tree.size(), target_length);
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
}

}  // namespace

void bind_rules_extract(nb::module_& m) {
  bind_bitext(m);
  bind_vocabulary(m);
  bind_tally(m);
  bind_rule_scores(m);
  bind_banks(m);
  bind_extractors(m);
}

}  // namespace treeglot
