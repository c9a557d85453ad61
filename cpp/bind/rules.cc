#include "bind/arrays.h"
#include "bind/core.h"
#include "bind/guarded.h"
#include "rules/corrections.h"
#include "rules/least.h"
#include "rules/provenance.h"
#include "rules/render.h"
#include "rules/source_filter.h"
#include "rules/table.h"
#include "rules/table_builder.h"
#include "rules/table_patch.h"

namespace treeglot {
namespace {

std::vector<std::string_view> texts(const TableSymbols& symbols) {
  std::vector<std::string_view> out;
  for (Symbol symbol = 0; symbol < symbols.size(); ++symbol) out.push_back(symbols.text(symbol));
  return out;
}

using Column = std::pair<ArrayIn<std::int32_t>, ArrayIn<char>>;
Codes to_codes(const Column& column) { return {as_span(column.first), as_span(column.second)}; }

// Rows with their features; their sides and notes are still empty.
RuleRows rows_of(const std::vector<ArrayIn<float>>& dense,
                 const std::vector<std::pair<std::string, Column>>& indicators) {
  RuleRows rows;
  for (const ArrayIn<float>& column : dense) rows.dense.push_back(as_span(column));
  for (const auto& [name, column] : indicators) rows.indicators.emplace_back(name, to_codes(column));
  return rows;
}

using Links = std::vector<std::pair<std::uint8_t, std::uint8_t>>;

// Line, action, left-hand side, both sides, alignment, labels, structure, features.
using CorrectionFields = std::tuple<std::size_t, std::string_view, std::string, std::string, std::optional<std::string>,
                                    std::string, std::string, std::string, std::vector<std::pair<std::string, float>>>;

RuleCorrection to_correction(const CorrectionFields& fields) {
  const auto& [line, action, lhs, source, target, alignment, labels, structure, features] = fields;
  const auto known = action == "add"      ? CorrectionAction::add
                     : action == "forbid" ? CorrectionAction::forbid
                                          : CorrectionAction::reweight;
  return {line, known, lhs, source, target, alignment, labels, structure, features};
}

void bind_source_filter(nb::module_& m) {
  nb::class_<SourceFilter>(m, "SourceFilter", "Which source sides of rules can meet a sentence of a test set.")
      .def(nb::init<bool>(), "strings"_a, "With `strings`, words side by side in a rule are so in the sentence.")
      .def("add", guarded([](SourceFilter& f, const std::vector<std::string_view>& sentence) { f.add(sentence); }),
           "sentence"_a, "One more sentence.")
      .def("keeps", guarded([](SourceFilter& f, const ArrayIn<std::int32_t>& offsets, const ArrayIn<char>& bytes) {
             const Codes sources{as_span(offsets), as_span(bytes)};
             std::vector<std::uint8_t> out;
             without_gil([&] { out = f.keeps(sources); });
             return as_array(std::move(out));
           }),
           "offsets"_a, "bytes"_a, "For each source side, as text, whether it can meet a sentence.");
}

void bind_least(nb::module_& m) {
  nb::class_<LeastProbabilities>(m, "LeastProbabilities", "The least that a table gives to rules, by their sides.")
      .def(
          "__init__",
          [](LeastProbabilities* self, std::shared_ptr<RuleTable> table, std::optional<std::uint32_t> forward,
             std::optional<std::uint32_t> backward, std::optional<std::uint32_t> root) {
            const nb::gil_scoped_release release;
            new (self) LeastProbabilities(std::move(table), {forward, backward, root});
          },
          "table"_a, "target_given_source"_a, "source_given_target"_a, "rule_given_root"_a,
          "Reads all rules of a table; the features are dense ones, by number.")
      .def(
          "find",
          [](const LeastProbabilities& least, const RuleTable& rules) {
            std::vector<std::tuple<std::optional<RuleId>, float, float, float>> out;
            for (const auto& found : without_gil([&] { return least.find(rules); }))
              out.emplace_back(found.rule == LeastProbabilities::kNoRule ? std::nullopt : std::optional(found.rule),
                               found.given_source, found.given_target, found.given_root);
            return out;
          },
          "rules"_a,
          "For each rule of another table: the same rule, and the least logarithms of the features given its source "
          "side, target side and root; infinity where no rule has it.")
      .def_prop_ro("lone_given_source", &LeastProbabilities::lone_given_source, "Median of sides with one rule.")
      .def_prop_ro("lone_given_target", &LeastProbabilities::lone_given_target, "Median of sides with one rule.");
}

void bind_provenance(nb::module_& m) {
  nb::class_<Provenance>(m, "Provenance", "The sentence pairs that the rules of a table come from.")
      .def_static("open", &Provenance::open, "path"_a, nb::call_guard<nb::gil_scoped_release>(), "Maps a file.")
      .def_prop_ro("rules", &Provenance::rules, "Of the table that it was written for.")
      .def_prop_ro("file_size", &Provenance::file_size, "In bytes.")
      .def("__len__", &Provenance::pairs)
      .def(
          "pair",
          [](const Provenance& p, std::size_t pair) {
            if (pair >= p.pairs()) throw nb::index_error("no such pair");
            std::vector<std::pair<std::uint32_t, std::uint32_t>> links;
            for (const Link link : p.links(pair)) links.emplace_back(link.source, link.target);
            return std::tuple(p.source(pair), p.target(pair), links);
          },
          "pair"_a, "The words of both sides, and the links between them.")
      .def(
          "pairs_of",
          [](const Provenance& p, RuleId rule, std::size_t most) {
            if (rule >= p.rules()) throw nb::index_error("no such rule");
            return p.pairs_of(rule, most);
          },
          "rule"_a, "most"_a, "How many pairs a rule comes from, and the first `most` of them.")
      .def(
          "mark",
          [](const Provenance& p, const RuleTable& table, RuleId rule,
             std::size_t pair) -> std::optional<std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>>> {
            if (pair >= p.pairs() || rule >= table.rules()) throw nb::index_error("no such pair or rule");
            if (const auto marks = p.mark(table, rule, pair)) return std::pair(marks->source, marks->target);
            return std::nullopt;
          },
          "table"_a, "rule"_a, "pair"_a, "The places of the words that a rule itself took from a pair, on both sides.")
      .def(
          "find",
          [](const Provenance& p, const std::vector<std::string>& source, const std::vector<std::string>& target,
             std::size_t most) {
            const auto [number, hits] = without_gil([&] { return p.find(source, target, most); });
            std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> out;
            for (const Provenance::Hit& hit : hits) out.emplace_back(hit.pair, hit.source, hit.target);
            return std::pair(number, out);
          },
          "source"_a, "target"_a, "most"_a,
          "The pairs that have these words in a row on their source and target sides: how many, and the first `most`, "
          "each with the places where the words begin.");
}

using Numbers64 = std::vector<std::uint64_t>;
// The names, then the number of rules and the other numbers, as bytes.
using PickledFacts = std::tuple<PickledStrings, PickledStrings, PickledStrings, PickledStrings, std::uint64_t,
                                nb::bytes, nb::bytes, nb::bytes, nb::bytes>;

void bind_table_facts(nb::module_& m) {
  nb::class_<TableFacts>(m, "TableFacts", "What parts of a table must know of the whole: names and numbers.")
      .def(
          "__init__",
          [](TableFacts* self, const std::array<std::vector<std::string_view>, 4>& names, std::uint64_t rules,
             Numbers64 values, Numbers64 uses, std::vector<Symbol> begun, Numbers64 weights) {
            new (self) TableFacts{
                to_strings(names[0]), to_strings(names[1]), to_strings(names[2]), to_strings(names[3]), rules,
                std::move(values),    std::move(uses),      std::move(begun),     std::move(weights)};
          },
          "names"_a, "rules"_a, "values"_a, "uses"_a, "begun"_a, "weights"_a,
          "Names of source words, target words, labels and features, the number of rules, values of lists, uses of "
          "features, symbols that source sides begin with, and their weights.")
      .def_ro("rules", &TableFacts::rules, "How many rules there are.")
      .def("__getstate__",
           [](const TableFacts& f) {
             return PickledFacts(to_pickle(f.source_words), to_pickle(f.target_words), to_pickle(f.labels),
                                 to_pickle(f.features), f.rules, to_bytes(f.values), to_bytes(f.uses),
                                 to_bytes(f.begun), to_bytes(f.weights));
           })
      .def("__setstate__", [](TableFacts& f, const PickledFacts& state) {
        const auto& [source, target, labels, features, rules, values, uses, begun, weights] = state;
        new (&f) TableFacts{from_pickle(source),
                            from_pickle(target),
                            from_pickle(labels),
                            from_pickle(features),
                            rules,
                            from_bytes<std::uint64_t>(values),
                            from_bytes<std::uint64_t>(uses),
                            from_bytes<Symbol>(begun),
                            from_bytes<std::uint64_t>(weights)};
      });
}

void bind_table_parts(nb::class_<RuleTableBuilder>& builder) {
  builder.def("survey", guarded(&RuleTableBuilder::survey), "Counts rows added from now on, and does not keep them.")
      .def("facts", guarded(&RuleTableBuilder::facts), nb::call_guard<nb::gil_scoped_release>(),
           "What it knows of all rows.")
      .def("add_facts", guarded(&RuleTableBuilder::add_facts), "facts"_a, nb::call_guard<nb::gil_scoped_release>(),
           "Adds what a survey of further rows found.")
      .def("know_names", guarded(&RuleTableBuilder::know_names), "facts"_a, nb::call_guard<nb::gil_scoped_release>(),
           "Numbers names as a survey of all rows does.")
      .def("split", guarded(&RuleTableBuilder::split), "parts"_a,
           "The symbols that each of so many parts but the first begins with; fewer if there are few symbols.")
      .def("write_run", guarded([](RuleTableBuilder& b, const std::string& path, const std::vector<Symbol>& begins) {
             return without_gil([&] { return b.write_run(path, begins); });
           }),
           "path"_a, "begins"_a,
           "Writes all rules to a file, sorted, for add_run. Gives the places where the pieces of parts begin, and the "
           "end.")
      .def("add_run", guarded(&RuleTableBuilder::add_run), "path"_a, "begin"_a, "end"_a,
           nb::call_guard<nb::gil_scoped_release>(), "Adds the rules of a piece of a run.")
      .def("write_part", guarded(&RuleTableBuilder::write_part), "path"_a, nb::call_guard<nb::gil_scoped_release>(),
           "Writes the part of a table to a file; the builder is empty afterwards. Gives the bytes of the file.")
      .def("join_parts",
           guarded([](RuleTableBuilder& b, const std::vector<std::string>& parts, const std::string& path) {
             const RuleTableBuilder::Written written = without_gil([&] { return b.join_parts(parts, path); });
             return std::tuple(written.rules, written.size, written.spilled);
           }),
           "parts"_a, "path"_a, "Writes the table of all parts to a file, as `write` does.");
}

void bind_table_builder(nb::module_& m) {
  bind_table_facts(m);
  nb::class_<RuleTableBuilder> builder(m, "RuleTableBuilder", "Rules in any order in, a RuleTable out.");
  builder
      .def(nb::init<std::vector<std::string>, std::size_t, std::string>(), "features"_a, "memory"_a = 0,
           "folder"_a = std::string())
      .def("source_word", guarded(&RuleTableBuilder::source_word), "text"_a, "The number of a source word.")
      .def("target_word", guarded(&RuleTableBuilder::target_word), "text"_a, "The number of a target word.")
      .def("label", guarded(&RuleTableBuilder::label), "text"_a, "The number of a nonterminal.")
      .def("add",
           guarded([](RuleTableBuilder& b, Symbol lhs, const std::vector<Symbol>& source,
                      const std::vector<std::int32_t>& target, const std::vector<float>& features, const Links& links,
                      const std::vector<Symbol>& labels, const std::vector<std::int32_t>& structure) {
             std::vector<RuleLink> alignment;
             for (const auto& [s, t] : links) alignment.push_back({s, t});
             b.add(lhs, source, target, features,
                   {.sparse = {}, .alignment = alignment, .labels = labels, .structure = structure});
           }),
           "lhs"_a, "source"_a, "target"_a, "features"_a, "alignment"_a, "labels"_a = std::vector<Symbol>(),
           "structure"_a = std::vector<std::int32_t>(),
           "Adds a rule; a nonterminal of the source side is its label with the top bit set, variable k of the target "
           "side is -1 - k.")
      .def("limit_scope", guarded(&RuleTableBuilder::limit_scope), "most"_a,
           "Leaves out rows added from now on whose source sides have a greater scope.")
      .def_prop_ro("left_out_by_scope", guarded(&RuleTableBuilder::left_out_by_scope), "How many rows that was.")
      .def_prop_ro("left_out_by_structure", guarded(&RuleTableBuilder::left_out_by_structure),
                   "Rows left out since their structures have cycles or arcs that cross.")
      .def("expand",
           guarded([](RuleTableBuilder& b, bool shapes, const std::vector<std::string_view>& source,
                      const std::vector<std::string_view>& target,
                      const std::optional<std::pair<std::vector<std::string_view>, std::vector<std::string_view>>>&
                          unlinked) {
             const auto source_words = [&](const std::vector<std::string_view>& words) {
               std::vector<Symbol> out;
               for (const std::string_view word : words) out.push_back(b.source_word(word));
               return out;
             };
             const auto target_words = [&](const std::vector<std::string_view>& words) {
               std::vector<Symbol> out;
               for (const std::string_view word : words) out.push_back(b.target_word(word));
               return out;
             };
             ExpandedOptions options{shapes, source_words(source), target_words(target), unlinked.has_value(), {}, {}};
             if (unlinked) {
               options.deleted = source_words(unlinked->first);
               options.inserted = target_words(unlinked->second);
             }
             b.expand(options);
           }),
           "shapes"_a, "source_words"_a, "target_words"_a, "unlinked"_a.none() = nb::none(),
           "Gives rows added from now on features for their shapes, and for the pairs of these words that they link; "
           "with `unlinked`, words of both sides, also for words without a link.")
      .def("add_rows",
           guarded([](RuleTableBuilder& b, const std::string& file, std::size_t first_row,
                      const std::vector<Column>& text, const std::vector<ArrayIn<float>>& dense,
                      const std::vector<std::pair<std::string, Column>>& indicators) {
             if (text.size() != 6) throw std::invalid_argument("six columns of text are needed");
             RuleRows rows = rows_of(dense, indicators);
             Codes* const columns[] = {&rows.lhs,       &rows.source, &rows.target,
                                       &rows.alignment, &rows.labels, &rows.structure};
             for (std::size_t i = 0; i < text.size(); ++i) *columns[i] = to_codes(text[i]);
             return without_gil([&] { return b.add_rows(rows, file, first_row); });
           }),
           "file"_a, "first_row"_a, "text"_a, "dense"_a, "indicators"_a,
           "Adds rows of a rule table: lhs, source, target, alignment, labels and structure as (offsets, bytes), a "
           "column "
           "for each dense feature, and columns of values that become features. Gives how many were too long and left "
           "out.")
      .def("know_codes",
           guarded([](RuleTableBuilder& b, const std::vector<std::string_view>& source_words,
                      const std::vector<std::string_view>& target_words, const std::vector<std::string_view>& labels) {
             b.know_codes({to_strings(source_words), to_strings(target_words), to_strings(labels)});
           }),
           "source_words"_a, "target_words"_a, "labels"_a, "Says what the numbers in rows of codes mean.")
      .def("add_coded_rows",
           guarded([](RuleTableBuilder& b, const std::string& file, std::size_t first_row,
                      const std::vector<Column>& codes, const std::vector<ArrayIn<float>>& dense,
                      const std::vector<std::pair<std::string, Column>>& indicators) {
             if (codes.size() != 4) throw std::invalid_argument("four columns of codes are needed");
             RuleRows rows = rows_of(dense, indicators);
             Codes* const columns[] = {&rows.source, &rows.target, &rows.alignment, &rows.labels};
             for (std::size_t i = 0; i < codes.size(); ++i) *columns[i] = to_codes(codes[i]);
             return without_gil([&] { return b.add_coded_rows(rows, file, first_row); });
           }),
           "file"_a, "first_row"_a, "codes"_a, "dense"_a, "indicators"_a,
           "Adds rows as add_rows does, but source, target, alignment and labels are codes.")
      .def("finish", guarded([](RuleTableBuilder& b) { return std::make_shared<RuleTable>(b.finish()); }),
           nb::call_guard<nb::gil_scoped_release>(), "The table; the builder is empty afterwards.")
      .def("write", guarded([](RuleTableBuilder& b, const std::string& path) {
             const RuleTableBuilder::Written written = without_gil([&] { return b.write(path); });
             return std::tuple(written.rules, written.size, written.spilled);
           }),
           "path"_a,
           "Writes the table to a file; the builder is empty afterwards. Gives the rules, the bytes of the file, and "
           "the bytes that went through the disk because they exceeded `memory`.");
  bind_table_parts(builder);
}

}  // namespace

void bind_rules(nb::module_& m) {
  nb::class_<RuleTable>(m, "RuleTable", "A compiled rule table: rules, and a trie over their source sides.")
      .def_static(
          "open",
          [](const std::string& path, Opening how) { return std::make_shared<RuleTable>(RuleTable::open(path, how)); },
          "path"_a, "how"_a = Opening::verified, nb::call_guard<nb::gil_scoped_release>(),
          "Maps a file; damage is a FormatError when it is met.")
      .def("verify", &RuleTable::verify, nb::call_guard<nb::gil_scoped_release>(),
           "Verifies all of its file, if it is not verified yet; damage is a FormatError.")
      .def("write", &RuleTable::write, "path"_a, nb::call_guard<nb::gil_scoped_release>(),
           "Writes the table aside, then renames it to `path`.")
      .def_prop_ro("file_size", &RuleTable::file_size, "In bytes.")
      .def("__len__", &RuleTable::rules)
      .def_prop_ro("own_rules", &RuleTable::own_rules, "How many rules its file has; those of corrections follow.")
      .def("knows_source_word", &RuleTable::is_own_word, "text"_a, "Whether rules of its file have a source word.")
      .def("knows_label", &RuleTable::is_own_label, "text"_a, "Whether rules of its file have a label.")
      .def(
          "corrected",
          [](const RuleTable& t, const std::string& file, const std::vector<CorrectionFields>& given) {
            std::vector<RuleCorrection> corrections;
            for (const CorrectionFields& fields : given) corrections.push_back(to_correction(fields));
            auto [table, rules] = without_gil([&] { return correct(t, corrections, file); });
            return std::pair(std::make_shared<RuleTable>(std::move(table)), std::move(rules));
          },
          "file"_a, "corrections"_a,
          "The table under corrections in place of those that it has: line, action, left-hand side, sides, alignment, "
          "labels, structure and features of each. Gives how many rules each added, forbade or changed, too.")
      .def(
          "origin",
          [](const RuleTable& t, RuleId id) -> std::pair<std::optional<RuleId>, std::optional<std::uint32_t>> {
            if (id >= t.rules()) throw nb::index_error("no such rule");
            if (id < t.own_rules()) return {id, std::nullopt};
            const RuleId origin = t.patch()->origin[id - t.own_rules()];
            const auto known = origin == TablePatch::kNone ? std::nullopt : std::optional(origin);
            return {known, t.patch()->correction[id - t.own_rules()]};
          },
          "rule"_a,
          "The rule of the file that a rule is or was made of, and the number of the correction that made it.")
      .def_prop_ro(
          "source_words", [](const RuleTable& t) { return texts(t.source_words()); }, "By number.")
      .def_prop_ro(
          "target_words", [](const RuleTable& t) { return texts(t.target_words()); }, "By number.")
      .def_prop_ro(
          "labels", [](const RuleTable& t) { return texts(t.labels()); }, "Nonterminals, by number.")
      .def_prop_ro(
          "features", [](const RuleTable& t) { return texts(t.feature_names()); }, "Names, in order.")
      .def_prop_ro("dense_features", &RuleTable::dense_features, "How many of the features every rule has.")
      .def(
          "rule",
          [](const RuleTable& t, RuleId id) {
            if (id >= t.rules()) throw nb::index_error("no such rule");
            const Rule rule = t.rule(id);
            Links links;
            for (const RuleLink link : rule.alignment) links.emplace_back(link.source, link.target);
            return std::tuple(rule.lhs, rule.source, rule.target, rule.features, links);
          },
          "rule"_a, "Left-hand side, source symbols, target symbols, feature values and links of one rule.")
      .def(
          "sparse_features",
          [](const RuleTable& t, RuleId id) {
            if (id >= t.rules()) throw nb::index_error("no such rule");
            std::vector<std::pair<std::uint32_t, float>> out;
            for (const SparseFeature f : t.sparse_features(id)) out.emplace_back(f.feature, f.value);
            return out;
          },
          "rule"_a, "The features that a rule has beyond the dense ones: numbers and values.")
      .def(
          "notes",
          [](const RuleTable& t, RuleId id) {
            if (id >= t.rules()) throw nb::index_error("no such rule");
            const Rule rule = t.rule(id);
            return std::pair(rule.labels, rule.structure);
          },
          "rule"_a, "The labels and the structure of one rule.");

  bind_provenance(m);
  m.def("escaped_word", &escaped, "word"_a, "A word as a side of a rule has it.");
  m.def(
      "find_rules",
      [](const RuleTable& table, const std::string& source, const std::string& target) {
        return find_rules(table, source, target);
      },
      "table"_a, "source"_a, "target"_a, "The rules of a table with these sides, as text.");

  bind_least(m);
  bind_source_filter(m);
  bind_table_builder(m);
}

}  // namespace treeglot
