#include "bind/arrays.h"
#include "bind/core.h"
#include "bind/guarded.h"
#include "bind/options.h"
#include "bind/sources.h"
#include "foreign/grammar.h"
#include "foreign/grammar_write.h"
#include "foreign/match_chart.h"

namespace treeglot {

template <>
inline constexpr auto kNames<PassThrough> =
    std::array{OptionName{"none", PassThrough::none}, OptionName{"unknown", PassThrough::unknown},
               OptionName{"all", PassThrough::all}};
TREEGLOT_OPTIONS(ForeignOptions, pass_through, glue, glued, goal, marked, mark, lengths);

void bind_foreign(nb::module_& m) {
  nb::enum_<GrammarFormat>(m, "GrammarFormat", "Text formats of grammars.")
      .value("cdec", GrammarFormat::cdec)
      .value("joshua", GrammarFormat::joshua)
      .value("moses", GrammarFormat::moses)
      .value("travatar", GrammarFormat::travatar);

  nb::class_<GrammarReader>(m, "GrammarReader", "Reads a grammar into a RuleTableBuilder.")
      .def(nb::init<std::string, bool, GrammarFormat, std::string, RuleTableBuilder&>(), "file"_a, "skip_bad"_a,
           "format"_a, "prefix"_a, "builder"_a, nb::keep_alive<1, 6>())
      .def("feed", guarded([](GrammarReader& reader, const nb::bytes& chunk) {
             without_gil([&] { reader.feed(bytes_view(chunk)); });
           }),
           "chunk"_a, "Takes the next bytes of the file.")
      .def("finish", guarded<GrammarReader>(&GrammarReader::finish), nb::call_guard<nb::gil_scoped_release>(),
           "Takes the end of the file.")
      .def_prop_ro("skipped", guarded<GrammarReader>(&GrammarReader::skipped), "Bad rules left out.")
      .def_prop_ro("problems", guarded([](const GrammarReader& reader) {
                     std::vector<std::pair<std::size_t, std::string>> out;
                     for (const FormatError& e : reader.problems()) out.emplace_back(e.line(), e.problem());
                     return out;
                   }),
                   "Lines and problems of the first hundred of them.");

  nb::class_<ForeignMatcher, Matcher>(m, "ForeignMatcher", "Meets strings as other decoders define it.")
      .def(
          "__init__",
          [](ForeignMatcher* self, FeatureSet& features, nb::handle search,
             const std::vector<std::pair<std::string, float>>& passed,
             const nb::typed<nb::dict, nb::str, nb::object>& definition) {
            auto options = read_options<ForeignOptions>(definition);
            read_options(search, options.chart);
            for (const auto& [label, value] : passed) options.passed.push_back({label, value});
            new (self) ForeignMatcher(features, options);
          },
          "features"_a, "search"_a, "passed"_a, "definition"_a,
          "`passed` are the labels of words that pass through, and how much these count as unknown.");
  m.def(
      "add_unknown_lengths", [](FeatureSet& features) { add_unknown_lengths(features); }, "features"_a,
      "Features of words that pass through, by their length: unknown_length_1 to unknown_length_6.");
  m.def(
      "add_marked_ngram",
      [](FeatureSet& features, std::shared_ptr<NgramModel> model) { add_marked_ngram(features, std::move(model)); },
      "features"_a, "model"_a, "An n-gram language model for rules that have <s> and </s> themselves.");

  nb::class_<GrammarStyle>(m, "GrammarStyle", "How rules are written as lines of a grammar.")
      .def(
          "__init__",
          [](GrammarStyle* self, GrammarFormat format, std::vector<std::string> names, std::string rule_penalty,
             std::string word_penalty, bool masked) {
            new (self) GrammarStyle{format, std::move(names), std::move(rule_penalty), std::move(word_penalty), masked};
          },
          "format"_a, "names"_a, "rule_penalty"_a = "", "word_penalty"_a = "", "masked"_a = false);

  m.def(
      "write_rules",
      [](const RuleTable& table, const GrammarStyle& style, const std::vector<RuleId>& rules) {
        const std::string text = without_gil([&] {
          std::string out;
          GrammarWriter writer(table, style);
          for (const RuleId rule : rules) {
            if (rule >= table.rules()) throw std::invalid_argument("no rule has the number " + std::to_string(rule));
            writer.append(rule, out);
          }
          return out;
        });
        return nb::bytes(text.data(), text.size());
      },
      "table"_a, "style"_a, "rules"_a, "Some rules of a table as lines of a grammar.");

  m.def(
      "select_rules",
      [](const FeatureSet& features, const std::vector<std::pair<std::string, float>>& weights,
         std::uint32_t per_source, std::optional<std::vector<std::vector<std::string>>> sentences) {
        const bool filtered = sentences.has_value();
        return select_rules(
            features, weights,
            {per_source, filtered ? std::move(*sentences) : std::vector<std::vector<std::string>>(), filtered});
      },
      "features"_a, "weights"_a, "per_source"_a, "sentences"_a = nb::none(), nb::call_guard<nb::gil_scoped_release>(),
      "The rules that a model uses: of each source side the best, of all source sides those that sentences can meet.");
}

}  // namespace treeglot
