#include "bind/core.h"
#include "bind/options.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "decode/decoder.h"
#include "decode/features/dependency.h"
#include "decode/features/labels.h"
#include "decode/features/ngram.h"
#include "decode/markup.h"
#include "decode/match_chart.h"
#include "decode/match_forest.h"
#include "decode/match_head_dependents.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace treeglot {

template <>
inline constexpr auto kNames<PassThrough> =
    std::array{OptionName{"none", PassThrough::none}, OptionName{"unknown", PassThrough::unknown},
               OptionName{"all", PassThrough::all}};
template <>
inline constexpr auto kFields<ChartOptions> = std::tuple{OptionField{"pass_through", &ChartOptions::pass_through},
                                                         OptionField{"glue", &ChartOptions::glue},
                                                         OptionField{"glued", &ChartOptions::glued},
                                                         OptionField{"goal", &ChartOptions::goal},
                                                         OptionField{"marked", &ChartOptions::marked},
                                                         OptionField{"mark", &ChartOptions::mark}};
template <>
inline constexpr auto kFields<ForestOptions> = std::tuple{OptionField{"forest_margin", &ForestOptions::margin},
                                                          OptionField{"step_limit", &ForestOptions::step_limit}};
template <>
inline constexpr auto kFields<HeadDependentsMatchOptions> =
    std::tuple{OptionField{"max_combinations", &HeadDependentsMatchOptions::max_combinations}};
template <>
inline constexpr auto kFields<SearchOptions> =
    std::tuple{OptionField{"pop_limit", &SearchOptions::pop_limit}, OptionField{"beam", &SearchOptions::beam},
               OptionField{"threshold", &SearchOptions::threshold}};
template <>
inline constexpr auto kFields<DecoderOptions> =
    std::tuple{OptionField{"per_source", &DecoderOptions::per_source}, OptionField{"markup", &DecoderOptions::markup}};

namespace {

// What the search says of charts, also of those that other matchers fall back on.
ChartOptions chart_options(nb::handle search) {
  ChartOptions out;
  read_options(search, out, std::tuple{OptionField{"span_limit", &ChartOptions::span_limit}});
  return out;
}

}  // namespace

void bind_decode(nb::module_& m) {
  nb::class_<DerivationStep>(m, "DerivationStep", "One use of a rule in a derivation.")
      .def_ro("label", &DerivationStep::label, "The left-hand side.")
      .def_ro("source", &DerivationStep::source, "The source side; nonterminals are printed as [X,1].")
      .def_ro("target", &DerivationStep::target, "The target side.")
      .def_prop_ro(
          "span", [](const DerivationStep& s) { return std::pair(s.span.begin, s.span.end); },
          "The source words covered, half open.")
      .def_ro("structure", &DerivationStep::structure,
              "Of the target side's symbols, if the model makes trees: 0 for a root, k + 1 for one on symbol k.")
      .def_ro("parse_edges", &DerivationStep::parse_edges, "The edges of the input's forest that its fragment took.")
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
      .def_ro("steps", &Hypothesis::steps, "The derivation in preorder.")
      .def_ro("given_by", &Hypothesis::given_by, "Of each word, the step whose rule it comes from.")
      .def_ro("heads", &Hypothesis::heads, "Of the words, if the model makes dependency trees: a position, or -1.")
      .def_ro("tags", &Hypothesis::tags, "Of the words, likewise; a word without one has an empty one.");

  nb::class_<Translation>(m, "RawTranslation", "What the decoder found for one line.")
      .def_ro("kbest", &Translation::kbest, "Best first; empty for an empty line and one that was refused.")
      .def_ro("problem", &Translation::problem, "Why the line was refused, or nothing.")
      .def_ro("notes", &Translation::notes, "What is to be counted and reported: limits that were hit.")
      .def_prop_ro(
          "tree", [](const Translation& t) { return t.tree; },
          "The dependency tree that was translated, if the model's rules meet one.")
      .def_ro("seconds", &Translation::seconds, "CPU time.");

  m.def(
      "sentence_words", [](std::string_view line, bool markup) { return read_sentence(line, markup).words; }, "line"_a,
      "markup"_a, "The words of a line, without the markup that says how to translate them.");

  nb::class_<SearchGraph>(m, "SearchGraph", "What a search kept, each edge with its rule and features.")
      .def_ro("graph", &SearchGraph::graph, "Its derivations.")
      .def_ro("labels", &SearchGraph::labels, "By node.")
      .def_prop_ro(
          "spans",
          [](const SearchGraph& g) {
            std::vector<std::pair<std::uint32_t, std::uint32_t>> out;
            for (const Span span : g.spans) out.emplace_back(span.begin, span.end);
            return out;
          },
          "By node: the source words covered, half open.")
      .def_ro("scores", &SearchGraph::scores, "By edge: what it adds to the score.")
      .def_ro("steps", &SearchGraph::steps, "By edge: its rule.")
      .def_prop_ro(
          "features",
          [](const SearchGraph& g) {
            std::vector<std::vector<std::pair<FeatureId, float>>> out(g.steps.size());
            for (std::size_t edge = 0; edge < out.size(); ++edge)
              for (std::size_t f = g.first_feature[edge]; f < g.first_feature[edge + 1]; ++f)
                out[edge].emplace_back(g.features[f].id, g.features[f].value);
            return out;
          },
          "By edge: numbers and values of its features that are not 0.");

  nb::class_<FeatureSet>(m, "FeatureSet", "The features of a model: the table's, the search's, and stateful ones.")
      .def(
          "__init__",
          [](FeatureSet* self, std::shared_ptr<RuleTable> table, std::string prefix) {
            new (self) FeatureSet(std::move(table), std::move(prefix));
          },
          "table"_a, "prefix"_a = "")
      .def_prop_ro("trees", &FeatureSet::trees, "Whether hypotheses have dependency trees: some feature scores them.")
      .def(
          "add_ngram",
          [](FeatureSet& self, std::shared_ptr<NgramModel> model, bool marked) {
            add_ngram(self, std::move(model), marked);
          },
          "model"_a, "marked"_a = false,
          "An n-gram language model: lm (natural log), lm_unknown; marked: the rules have <s> and </s> themselves.")
      .def("add_labels", &add_labels, "Soft syntax: match_f, nomatch_f, subst_f[X→Y], the same with e, and root[X,Y].")
      .def(
          "add_dependency",
          [](FeatureSet& self, std::shared_ptr<DependencyModel> model) { add_dependency(self, std::move(model)); },
          "model"_a, "A dependency language model: dlm_words or dlm_tags (natural log), ill_formed.")
      .def(
          "add_unknown_lengths", [](FeatureSet& self) { self.space().add_unknown_lengths(); },
          "Features of words that pass through, by their length: unknown_length_1 to unknown_length_6.");

  nb::class_<Matcher>(m, "Matcher", "How a table's rules meet an input.")
      .def_prop_ro("left_out", &Matcher::left_out,
                   "Rules that it never uses, for they would close a circle of labels.");
  nb::class_<ChartMatcher, Matcher>(m, "ChartMatcher", "Meets strings: every rule on every span up to a limit.")
      .def(
          "__init__",
          [](ChartMatcher* self, const FeatureSet& features, nb::handle search,
             const std::vector<std::pair<std::string, float>>& passed,
             const nb::typed<nb::dict, nb::str, nb::object>& others) {
            ChartOptions options = chart_options(search);
            read_options(search, options,
                         std::tuple{OptionField{"label_limit", &ChartOptions::label_limit},
                                    OptionField{"match_limit", &ChartOptions::match_limit}});
            read_options(others, options);
            for (const auto& [label, value] : passed) options.passed.push_back({label, value});
            new (self) ChartMatcher(features.shared_table(), options);
          },
          "features"_a, "search"_a, "passed"_a = std::vector<std::pair<std::string, float>>(), "others"_a = nb::dict(),
          "`others` are what other decoders have otherwise: pass_through, glue, glued, goal, marked, mark.");
  nb::class_<ForestMatcher, Matcher>(m, "ForestMatcher",
                                     "Meets packed forests: every fragment at every node; adds parse and pseudo.")
      .def(
          "__init__",
          [](ForestMatcher* self, FeatureSet& features, std::shared_ptr<HeadTable> heads, nb::handle search,
             bool pseudo_nodes) {
            auto options = read_options<ForestOptions>(search);
            options.pseudo_nodes = pseudo_nodes;
            new (self) ForestMatcher(features, std::move(heads), options, chart_options(search));
          },
          "features"_a, "heads"_a.none(), "search"_a, "pseudo_nodes"_a = false);

  nb::class_<HeadDependentsMatcher, Matcher>(
      m, "HeadDependentsMatcher", "Meets dependency trees: the rules of each word with its dependents, and phrases.")
      .def(
          "__init__",
          [](HeadDependentsMatcher* self, FeatureSet& features, std::shared_ptr<HeadTable> heads, nb::handle search,
             bool augmented) {
            auto options = read_options<HeadDependentsMatchOptions>(search);
            options.augmented = augmented;
            new (self) HeadDependentsMatcher(features, std::move(heads), options, chart_options(search));
          },
          "features"_a, "heads"_a.none(), "search"_a, "augmented"_a);

  nb::class_<Decoder>(m, "Decoder", "Features, a matcher and weights, ready to translate.")
      .def(
          "__init__",
          [](Decoder* self, std::shared_ptr<FeatureSet> features, std::shared_ptr<Matcher> matcher,
             const std::vector<std::pair<std::string, float>>& weights, nb::handle search) {
            auto options = read_options<DecoderOptions>(search);
            read_options(search, options.search);
            new (self) Decoder(std::move(features), std::move(matcher), weights, options);
          },
          "features"_a, "matcher"_a, "weights"_a, "search"_a)
      .def_prop_ro(
          "features", [](const Decoder& d) { return d.feature_names(); }, "Names of the features, by number.")
      .def("feature_names", &Decoder::feature_names, "begin"_a = 0,
           "Names of the features numbered `begin` and on; members of families are numbered when they first fire.")
      .def_prop_ro(
          "unknown_weights",
          [](const Decoder& d) {
            return std::vector<std::string>(d.unknown_weights().begin(), d.unknown_weights().end());
          },
          "Names of weights that no feature has.")
      .def(
          "translate",
          [](const Decoder& d, const std::vector<Source>& sources, std::uint32_t kbest, bool distinct,
             unsigned threads) { return d.translate(sources, {kbest, distinct}, threads); },
          "sources"_a, "kbest"_a, "distinct"_a, "threads"_a, nb::call_guard<nb::gil_scoped_release>(),
          "Translates lines of tokens, forests or dependency trees; results are in their order, the same for any "
          "number "
          "of threads.")
      .def("graph", &Decoder::graph, "source"_a, "margin"_a, nb::call_guard<nb::gil_scoped_release>(),
           "What the search of one sentence kept, within `margin` of its best derivation; None for an empty line.");
}

}  // namespace treeglot
