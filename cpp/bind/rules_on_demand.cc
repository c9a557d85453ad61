#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bind/arrays.h"
#include "bind/core.h"
#include "bind/options.h"
#include "bind/rules.h"
#include "rules/on_demand.h"

namespace treeglot {

TREEGLOT_OPTIONS(DemandOptions, samples, scanned, target_samples);
template <>
inline constexpr auto kNames<RuleSmoothing> =
    std::array{OptionName{"none", RuleSmoothing::none}, OptionName{"good-turing", RuleSmoothing::good_turing},
               OptionName{"kneser-ney", RuleSmoothing::kneser_ney}};
TREEGLOT_OPTIONS(DemandScoring, smoothing, min_occurrences, min_gappy_occurrences, targets_per_source, discounts,
                 rules);

void bind_rules_on_demand(nb::module_& m) {
  nb::class_<PairIndex>(m, "PairIndex", "Aligned sentence pairs with suffix arrays, to find rules in.")
      .def_static(
          "build",
          [](const Bitext& bitext, nb::handle options) {
            const auto given = read_options<HieroOptions>(options);
            return without_gil([&] { return std::make_shared<PairIndex>(PairIndex::build(bitext, given)); });
          },
          "bitext"_a, "options"_a, "The index of pairs; `options` are those of the extractor hiero.")
      .def_static(
          "open",
          [](const std::string& path, bool verify) {
            return std::make_shared<PairIndex>(PairIndex::open(path, verify));
          },
          "path"_a, "verify"_a = true, nb::call_guard<nb::gil_scoped_release>(),
          "Maps a file; a damaged one is a FormatError. Without `verify` its bytes are trusted.")
      .def("write", &PairIndex::write, "path"_a, nb::call_guard<nb::gil_scoped_release>(), "Writes it to a file.")
      .def("__len__", &PairIndex::pairs)
      .def_prop_ro("file_size", &PairIndex::file_size, "Bytes of its file.")
      .def(
          "append_to", [](const PairIndex& index, BitextBuilder& builder) { index.append_to(builder); }, "builder"_a,
          "Adds its pairs to a builder.");

  nb::class_<RulesOnDemand>(m, "RulesOnDemand", "Rules that are found in indexes and scored when a sentence arrives.")
      .def(
          "__init__",
          [](RulesOnDemand* self, const std::vector<std::shared_ptr<PairIndex>>& indexes,
             const std::vector<std::string>& features, nb::handle options, nb::handle scoring) {
            std::vector<std::shared_ptr<const PairIndex>> given;
            for (const auto& index : indexes) {
              if (index == nullptr) throw std::invalid_argument("an index is None; expected a PairIndex");
              given.push_back(index);
            }
            const auto sampling = read_options<DemandOptions>(options);
            const auto scores = read_options<DemandScoring>(scoring);
            const nb::gil_scoped_release release;
            new (self) RulesOnDemand(std::move(given), features, sampling, scores);
          },
          "indexes"_a, "features"_a, "options"_a, "scoring"_a,
          "`indexes` hold pairs one after the other; `features` are columns of a rule table.")
      .def_prop_ro_static(
          "columns",
          [](nb::handle) {
            const auto columns = RulesOnDemand::columns();
            return std::vector<std::string_view>(columns.begin(), columns.end());
          },
          "The columns of a rule table that rules on demand have.")
      .def_prop_ro(
          "pairs", [](const RulesOnDemand& rules) { return rules.corpus().pairs(); }, "Sentence pairs.")
      .def_prop_ro(
          "table", [](const RulesOnDemand& rules) { return std::make_shared<RuleTable>(*rules.table()); },
          "A table without rules: the words, the label and the features.")
      .def(
          "rules_for",
          [](const RulesOnDemand& rules, const std::vector<std::string_view>& words, std::uint32_t span_limit) {
            return without_gil([&] { return std::make_shared<RuleTable>(*rules.rules_for(words, span_limit)); });
          },
          "words"_a, "span_limit"_a,
          "The rules that can meet a sentence on at most so many words, numbered as those of `table`.");
}

}  // namespace treeglot
