#include "bind/core.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "decode/decoder.h"
#include "decode/features/ngram.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace treeglot {

void bind_decode(nb::module_& m) {
  nb::class_<DerivationStep>(m, "DerivationStep", "One use of a rule in a derivation.")
      .def_ro("label", &DerivationStep::label, "The left-hand side.")
      .def_ro("source", &DerivationStep::source, "The source side; nonterminals are printed as [X,1].")
      .def_ro("target", &DerivationStep::target, "The target side.")
      .def_prop_ro("span", [](const DerivationStep& s) { return std::pair(s.span.begin, s.span.end); },
                   "The source words covered, half open.")
      .def_ro("children", &DerivationStep::children, "How many of the steps that follow are directly below it.")
      .def_ro("local", &DerivationStep::local, "Whether the rule is not the table's: glue, an unknown word.");

  nb::class_<Hypothesis>(m, "Hypothesis", "A translation with its score, features and derivation.")
      .def_ro("score", &Hypothesis::score, "The model's score.")
      .def_ro("text", &Hypothesis::text, "The words, separated by blanks.")
      .def_prop_ro(
          "features",
          [](const Hypothesis& h) {
            std::vector<std::pair<FeatureId, float>> out;
            for (const FeatureValue& f : h.features) out.emplace_back(f.id, f.value);
            return out;
          },
          "Numbers and values of the features that are not 0.")
      .def_ro("steps", &Hypothesis::steps, "The derivation in preorder.");

  nb::class_<Translation>(m, "RawTranslation", "What the decoder found for one line.")
      .def_ro("kbest", &Translation::kbest, "Best first; empty for an empty line and one that was refused.")
      .def_ro("problem", &Translation::problem, "Why the line was refused, or nothing.")
      .def_ro("seconds", &Translation::seconds, "CPU time.");

  nb::class_<Decoder>(m, "Decoder", "A rule table, features and weights, ready to translate.")
      .def(
          "__init__",
          [](Decoder* self, std::shared_ptr<RuleTable> table, std::shared_ptr<NgramModel> lm,
             const std::vector<std::pair<std::string, float>>& weights, std::uint32_t span_limit,
             std::uint32_t pop_limit, std::uint32_t beam, float threshold, std::uint32_t per_source, bool markup) {
            FeatureSpace space(*table);
            const DecoderOptions options{{span_limit}, {pop_limit, beam, threshold}, per_source, markup};
            FeatureFactory features = ngram_features(std::move(lm), *table, space);
            new (self) Decoder(std::move(table), std::move(space), std::move(features), weights, options);
          },
          "table"_a, "lm"_a.none(), "weights"_a, "span_limit"_a, "pop_limit"_a, "beam"_a, "threshold"_a, "per_source"_a, "markup"_a)
      .def_prop_ro("features",
                   [](const Decoder& d) {
                     std::vector<std::string_view> out;
                     for (Symbol s = 0; s < d.space().names().size(); ++s) out.push_back(d.space().names().text(s));
                     return out;
                   },
                   "Names of the features, by number.")
      .def_prop_ro("unknown_weights",
                   [](const Decoder& d) {
                     return std::vector<std::string>(d.unknown_weights().begin(), d.unknown_weights().end());
                   },
                   "Names of weights that no feature has.")
      .def(
          "translate",
          [](const Decoder& d, const std::vector<std::string>& lines, std::uint32_t kbest, bool distinct,
             unsigned threads) { return d.translate(lines, {kbest, distinct}, threads); },
          "lines"_a, "kbest"_a, "distinct"_a, "threads"_a, nb::call_guard<nb::gil_scoped_release>(),
          "Translates lines of tokens; results are in their order, the same for any number of threads.");
}

}  // namespace treeglot
