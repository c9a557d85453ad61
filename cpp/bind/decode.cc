#include <cstdio>

#include "bind/arrays.h"
#include "bind/core.h"
#include "bind/options.h"
#include "bind/sources.h"
#include "decode/decoder.h"
#include "decode/features/context.h"
#include "decode/features/dependency.h"
#include "decode/features/labels.h"
#include "decode/features/ngram.h"
#include "decode/markup.h"
#include "decode/match_chart.h"
#include "decode/match_forest.h"
#include "decode/match_head_dependents.h"
#include "decode/match_joint.h"
#include "decode/match_on_demand.h"
#include "decode/match_structures.h"
#include "neural/joint_feature.h"

namespace treeglot {

template <>
inline constexpr auto kFields<ForestOptions> = std::tuple{OptionField{"forest_margin", &ForestOptions::margin},
                                                          OptionField{"step_limit", &ForestOptions::step_limit},
                                                          OptionField{"pseudo_structures", &ForestOptions::sequences},
                                                          OptionField{"crossing_phrases", &ForestOptions::crossing}};
TREEGLOT_OPTIONS(HeadDependentsMatchOptions, max_combinations, pseudo_structures, dependency_trees);
TREEGLOT_OPTIONS(SearchOptions, pop_limit, beam, threshold, time_limit);
TREEGLOT_OPTIONS(DecoderOptions, per_source, markup);

namespace {

// What the search says of charts that other matchers fall back on.
ChartOptions chart_options(nb::handle search) {
  ChartOptions out;
  read_options(search, out, std::tuple{OptionField{"span_limit", &ChartOptions::span_limit}});
  return out;
}

// A matcher of forests or trees; the kind of model says whether the option `Own` holds.
template <class Matcher, class Options, bool Options::* Own>
void new_tree_matcher(Matcher* self, FeatureSet& features, std::shared_ptr<HeadTable> heads, nb::handle search,
                      bool own) {
  auto options = read_options<Options>(search);
  options.*Own = own;
  new (self) Matcher(features, std::move(heads), options, chart_options(search));
}

using Reduced = nb::typed<nb::tuple, nb::object, nb::ellipsis>;  // how an object is made again from a pickle

using StepFields = std::tuple<SpanPair, std::string, std::optional<std::string>,
                              std::optional<std::string>>;  // span, label, source, target

constexpr std::size_t kLongestRepr = 160;  // bytes of a text in a repr, which fits on a screen

std::string shortened(std::string text) {
  if (text.size() <= kLongestRepr) return text;
  std::size_t end = kLongestRepr;
  while ((text[end] & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "…";
}
std::string shown(const std::string& text) { return nb::cast<std::string>(nb::repr(nb::cast(shortened(text)))); }

std::string text_of(nb::handle value) {
  Py_ssize_t size = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
  if (text == nullptr) {
    PyErr_Clear();
    throw nb::value_error("a sentence has a lone surrogate, which is no character");
  }
  return {text, static_cast<std::size_t>(size)};
}

// The items of a vector as a tuple, which keeps their owner alive.
template <class T>
nb::typed<nb::tuple, T, nb::ellipsis> to_tuple(const std::vector<T>& values, nb::handle owner) {
  nb::list out;
  for (const T& value : values) out.append(nb::cast(value, nb::rv_policy::reference_internal, owner));
  return nb::typed<nb::tuple, T, nb::ellipsis>(nb::tuple(out));
}
template <class T>
nb::typed<nb::tuple, T, nb::ellipsis> to_tuple(const std::vector<T>& values) {
  nb::list out;
  for (const T& value : values) out.append(nb::cast(value));
  return nb::typed<nb::tuple, T, nb::ellipsis>(nb::tuple(out));
}

using FeatureDict = nb::typed<nb::dict, std::string, float>;

FeatureDict to_dict(std::span<const FeatureValue> values, const FeatureNames& names) {
  nb::dict out;
  for (const FeatureValue& value : values) out[nb::cast(names.name(value.id))] = nb::cast(value.value);
  return FeatureDict(std::move(out));
}

// Names of features that come from Python.
class GivenNames final : public FeatureNames {
 public:
  explicit GivenNames(std::vector<std::string> names) : names_(std::move(names)) {}
  std::string name(FeatureId id) const override { return names_[id]; }

 private:
  std::vector<std::string> names_;
};

Hypothesis make_hypothesis(std::string text, double score, const FeatureDict& features, RuleDerivation derivation,
                           std::optional<Dependency> dependency, std::vector<std::uint32_t> given_by,
                           std::vector<std::uint32_t> affiliations, std::vector<WordLink> links,
                           std::vector<EdgeId> path) {
  std::vector<std::string> names;
  std::vector<FeatureValue> values;
  for (const auto [name, value] : features) {
    values.push_back({names.size(), nb::cast<float>(value)});
    names.push_back(nb::cast<std::string>(name));
  }
  return {score,
          std::move(text),
          std::move(values),
          std::make_shared<GivenNames>(std::move(names)),
          std::move(derivation),
          std::move(given_by),
          std::move(dependency),
          std::move(affiliations),
          std::move(links),
          std::move(path)};
}

std::string line_of(const Step& step) {
  const std::string grammar = step.grammar.empty() ? "" : step.grammar + ": ";
  return grammar + "[" + step.label + "] ||| " + step.source + " ||| " + step.target;
}

std::string lines_of(const RuleDerivation& derivation) {
  std::string out;
  const std::vector<std::uint32_t> depths = derivation.depths();
  for (std::size_t i = 0; i < depths.size(); ++i) {
    const Step& step = derivation.steps[i];
    out += (i == 0 ? "" : "\n") + std::string(2 * depths[i], ' ') + line_of(step) + "    " +
           std::to_string(step.span.begin) + "-" + std::to_string(step.span.end);
  }
  return out;
}

void bind_derivation(nb::module_& m) {
  nb::class_<Step>(m, "Step", "One use of a rule in a derivation.")
      .def(
          "__init__",
          [](Step* self, std::string label, std::string source, std::string target, SpanPair span,
             std::uint32_t children, bool local, std::vector<EdgeId> parse_edges, std::vector<std::int32_t> structure,
             std::vector<WordLink> links, std::optional<RuleId> rule, std::string grammar, std::vector<float> values) {
            new (self) Step{std::move(label),
                            std::move(source),
                            std::move(target),
                            Span{span.first, span.second},
                            children,
                            local,
                            std::move(structure),
                            std::move(parse_edges),
                            std::move(links),
                            rule,
                            std::move(grammar),
                            std::move(values)};
          },
          "label"_a, "source"_a, "target"_a, "span"_a, "children"_a, "local"_a, "parse_edges"_a = std::vector<EdgeId>(),
          "structure"_a = std::vector<std::int32_t>(), "links"_a = std::vector<WordLink>(), "rule"_a = nb::none(),
          "grammar"_a = "", "values"_a = std::vector<float>())
      .def_ro("label", &Step::label, "The left-hand side.")
      .def_ro("source", &Step::source, "The source side; nonterminals are printed as [X,1].")
      .def_ro("target", &Step::target, "The target side.")
      .def_prop_ro(
          "span", [](const Step& s) { return to_pair(s.span); }, "The source words covered, half open.")
      .def_ro("children", &Step::children, "How many of the steps that follow are directly below it.")
      .def_ro("local", &Step::local, "Whether the rule is not the table's: glue, an unknown word.")
      .def_prop_ro(
          "parse_edges", [](const Step& s) { return to_tuple(s.parse_edges); },
          "The edges of the input's forest that its fragment took.")
      .def_prop_ro(
          "structure", [](const Step& s) { return to_tuple(s.structure); },
          "Of the target side's symbols, if the model makes trees: 0 for a root, k + 1 for one on symbol k.")
      .def_prop_ro(
          "links", [](const Step& s) { return to_tuple(s.links); },
          "Its word alignment: a source word, and the place of its translation among the words that the rule gives.")
      .def_prop_ro(
          "rule", [](const Step& s) { return s.rule; },
          "Its number in the rule table; None if it is local or was found on demand.")
      .def_ro("grammar", &Step::grammar, "The part of a joint model that it comes from; empty for other models.")
      .def_prop_ro(
          "values", [](const Step& s) { return to_tuple(s.values); },
          "The values of the table's features, if the rule was found on demand; otherwise empty.")
      .def("__eq__", &equal<Step>, "other"_a.none())
      .def("__hash__", [](const Step& s) { return hash_bytes(line_of(s), s.span.begin); })
      .def("__str__", &line_of)
      .def("__repr__", [](const Step& s) { return "Step(" + shown(line_of(s)) + ")"; })
      .def("__reduce__", [](nb::handle self) -> Reduced {
        const auto& s = nb::cast<const Step&>(self);
        return Reduced(nb::make_tuple(
            self.type(), nb::make_tuple(s.label, s.source, s.target, to_pair(s.span), s.children, s.local,
                                        s.parse_edges, s.structure, s.links, s.rule, s.grammar, s.values)));
      });

  nb::class_<RuleDerivation>(m, "Derivation",
                             "The rules that gave a translation, in preorder: a step is followed by those below it.")
      .def(
          "__init__",
          [](RuleDerivation* self, std::vector<Step> steps) { new (self) RuleDerivation{std::move(steps)}; },
          "steps"_a = std::vector<Step>())
      .def_prop_ro(
          "steps",
          [](nb::handle_t<RuleDerivation> self) { return to_tuple(nb::cast<const RuleDerivation&>(self).steps, self); },
          "In preorder.")
      .def("depths", &RuleDerivation::depths, "How deep each step stands.")
      .def(
          "parse_edges",
          [](const RuleDerivation& d) {
            std::vector<EdgeId> out;
            for (const Step& step : d.steps) out.insert(out.end(), step.parse_edges.begin(), step.parse_edges.end());
            return out;
          },
          "The edges of the input's forest that the rules took; its tree_with() makes a tree of them.")
      .def("__eq__", &equal<RuleDerivation>, "other"_a.none())
      .def("__hash__", [](const RuleDerivation& d) { return hash_bytes(lines_of(d), 0); })
      .def("__str__", &lines_of)
      .def("__repr__",
           [](const RuleDerivation& d) {
             const std::string top = d.steps.empty() ? "" : ", " + shown(line_of(d.steps.front()));
             return "<Derivation of " + std::to_string(d.steps.size()) + " steps" + top + ">";
           })
      .def("__reduce__", [](nb::handle self) -> Reduced {
        return Reduced(nb::make_tuple(self.type(), nb::make_tuple(nb::cast<const RuleDerivation&>(self).steps)));
      });

  nb::class_<Hypothesis>(m, "Hypothesis", "A translation with its score, features and derivation.")
      .def(
          "__init__",
          [](Hypothesis* self, std::string text, double score, const FeatureDict& features,
             const RuleDerivation& derivation, std::optional<Dependency> dependency,
             std::vector<std::uint32_t> given_by, std::vector<std::uint32_t> affiliations, std::vector<WordLink> links,
             std::vector<EdgeId> path) {
            new (self) Hypothesis(make_hypothesis(std::move(text), score, features, derivation, std::move(dependency),
                                                  std::move(given_by), std::move(affiliations), std::move(links),
                                                  std::move(path)));
          },
          "text"_a, "score"_a, "features"_a, "derivation"_a, "dependency"_a = nb::none(),
          "given_by"_a = std::vector<std::uint32_t>(), "affiliations"_a = std::vector<std::uint32_t>(),
          "links"_a = std::vector<WordLink>(), "path"_a = std::vector<EdgeId>())
      .def_ro("text", &Hypothesis::text, "The words, separated by blanks.")
      .def_ro("score", &Hypothesis::score, "The model's score (natural log).")
      .def_prop_ro(
          "features", [](const Hypothesis& h) { return to_dict(h.features, *h.names); },
          "The features that are not 0, by name.")
      .def_ro("derivation", &Hypothesis::derivation, "The rules used.")
      .def_prop_ro(
          "dependency", [](const Hypothesis& h) { return h.dependency; },
          "The dependency tree of the text, if the model makes one.")
      .def_prop_ro(
          "given_by", [](const Hypothesis& h) { return to_tuple(h.given_by); },
          "Of each word, the step of the derivation whose rule it comes from.")
      .def_prop_ro(
          "affiliations", [](const Hypothesis& h) { return to_tuple(h.affiliations); },
          "Of each word, the source word that it is affiliated with; empty if no feature asks for it.")
      .def_prop_ro(
          "links", [](const Hypothesis& h) { return to_tuple(h.links); },
          "Pairs of a source word and a word that rules link; empty if no feature asks for it.")
      .def_prop_ro(
          "path", [](const Hypothesis& h) { return to_tuple(h.path); },
          "The arcs of the input's lattice that it took, by number; its steps count the words of this path.")
      .def("__str__", [](const Hypothesis& h) { return h.text; })
      .def("__repr__",
           [](const Hypothesis& h) {
             char score[32];
             std::snprintf(score, sizeof score, "%.6g", h.score);
             return "Hypothesis(" + shown(h.text) + ", score=" + score + ")";
           })
      .def("__reduce__", [](nb::handle self) -> Reduced {
        const auto& h = nb::cast<const Hypothesis&>(self);
        return Reduced(
            nb::make_tuple(self.type(), nb::make_tuple(h.text, h.score, to_dict(h.features, *h.names), h.derivation,
                                                       h.dependency, h.given_by, h.affiliations, h.links, h.path)));
      });

  nb::class_<Translation>(m, "Translation", "What a decoder found for one sentence.")
      .def(
          "__init__",
          [](Translation* self, nb::handle given, std::vector<std::string> words,
             std::vector<std::shared_ptr<Hypothesis>> hypotheses, std::string problem, std::vector<std::string> notes,
             std::optional<Dependency> tree, double seconds, std::vector<Mark> marks, const Terms& asked) {
            if (std::ranges::find(hypotheses, nullptr) != hypotheses.end())
              throw nb::type_error("found None among the hypotheses; expected Hypothesis values");
            new (self) Translation{to_source(given),
                                   std::move(words),
                                   std::move(hypotheses),
                                   std::move(problem),
                                   std::move(notes),
                                   std::move(tree),
                                   seconds,
                                   0,
                                   nullptr,
                                   asked,
                                   std::move(marks)};
          },
          "given"_a, "words"_a, "hypotheses"_a, "problem"_a = "", "notes"_a = std::vector<std::string>(),
          "tree"_a = nb::none(), "seconds"_a = 0.0, "marks"_a = std::vector<Mark>(), "asked"_a = Terms())
      .def(nb::init<const Translation&>(), "found"_a)
      .def_ro("given", &Translation::given,
              "What was translated: a line, tokens, a forest, a dependency tree or a lattice.")
      .def_ro("words", &Translation::words,
              "The words that spans count: of a line, what is left without markup; of a lattice, those of the best "
              "path; none of a line that was refused.")
      .def_prop_ro(
          "hypotheses", [](const Translation& t) { return to_tuple(t.hypotheses); },
          "What the search was asked for, best first; nothing for an empty or refused line.")
      .def_ro("problem", &Translation::problem, "Why the line was refused, or nothing.")
      .def_prop_ro(
          "notes", [](const Translation& t) { return to_tuple(t.notes); },
          "What is to be counted and reported: limits that were hit.")
      .def_prop_ro(
          "tree", [](const Translation& t) { return t.tree; },
          "What a model of dependency trees met: the input's, repaired, or made of a parse.")
      .def_ro("seconds", &Translation::seconds, "CPU time.")
      .def_prop_ro(
          "marks", [](const Translation& t) { return to_tuple(t.marks); },
          "The spans with given translations, whether or not these were used.")
      .def_ro("asked", &Translation::asked, "What was asked beside the sentence itself.");
}

void bind_terms(nb::module_& m) {
  nb::class_<Mark>(m, "Mark", "Translations that are given for a span of source words.")
      .def(
          "__init__",
          [](Mark* self, SpanPair span, std::vector<std::string> translations, bool required, float bonus,
             std::int32_t entry) {
            new (self) Mark{{span.first, span.second}, std::move(translations), required, bonus, entry};
          },
          "span"_a, "translations"_a, "required"_a = true, "bonus"_a = 0.0f, "entry"_a = -1)
      .def_prop_ro(
          "span", [](const Mark& mark) { return to_pair(mark.span); }, "Source words, half open.")
      .def_prop_ro(
          "translations", [](const Mark& mark) { return to_tuple(mark.translations); }, "Words that blanks part.")
      .def_ro("required", &Mark::required, "Whether nothing else may translate its words.")
      .def_ro("bonus", &Mark::bonus, "What using a translation that is not required adds to the score.")
      .def_ro("entry", &Mark::entry, "The number of the glossary's entry; -1: none.")
      .def("__reduce__", [](nb::handle self) -> Reduced {
        const auto& mark = nb::cast<const Mark&>(self);
        return Reduced(nb::make_tuple(
            self.type(), nb::make_tuple(to_pair(mark.span), mark.translations, mark.required, mark.bonus, mark.entry)));
      });

  nb::class_<Terms>(m, "Terms", "What is asked of the translation of one sentence.")
      .def(
          "__init__",
          [](Terms* self, std::vector<Mark> marks, std::vector<std::string> forbidden) {
            new (self) Terms{std::move(marks), std::move(forbidden)};
          },
          "marks"_a = std::vector<Mark>(), "forbidden"_a = std::vector<std::string>())
      .def_prop_ro(
          "marks", [](const Terms& terms) { return to_tuple(terms.marks); }, "Spans with given translations.")
      .def_prop_ro(
          "forbidden", [](const Terms& terms) { return to_tuple(terms.forbidden); },
          "Phrases that must not appear, words that blanks part.");

  m.def(
      "read_sentence",
      [](std::string_view line, bool markup) {
        MarkedSentence found = read_sentence(line, markup);
        return std::pair(std::move(found.words), std::move(found.marks));
      },
      "line"_a, "markup"_a, "The words of a line, and the translations that its markup gives; ValueError if refused.");

  nb::class_<PhraseFinder>(m, "PhraseFinder", "Finds phrases in sentences.")
      .def(nb::init<>())
      .def(
          "add",
          [](PhraseFinder& self, const std::vector<std::string>& words, std::uint32_t phrase) {
            self.add(words, phrase);
          },
          "words"_a, "phrase"_a, "Adds a phrase under a number; several may have the same.")
      .def(
          "find",
          [](const PhraseFinder& self, const std::vector<std::vector<std::string>>& sentences) {
            std::vector<std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>>> out;
            for (const auto& words : sentences) {
              auto& found = out.emplace_back();
              for (const auto& [span, phrase] : self.find(words)) found.emplace_back(span.begin, span.end, phrase);
            }
            return out;
          },
          "sentences"_a, "By sentence: the begin, the end and the number of each phrase in it.");
}

}  // namespace

Source to_source(nb::handle value) {
  if (nb::isinstance<nb::str>(value)) return text_of(value);
  if (nb::isinstance<ParseForest>(value)) return nb::cast<std::shared_ptr<ParseForest>>(value);
  if (nb::isinstance<Dependency>(value)) return nb::cast<std::shared_ptr<Dependency>>(value);
  if (nb::isinstance<Lattice>(value)) return nb::cast<std::shared_ptr<Lattice>>(value);
  if (nb::isinstance<LatticeForest>(value)) return nb::cast<std::shared_ptr<LatticeForest>>(value);
  const std::string expected =
      "; expected a string, a list of tokens, a ParseForest, a Dependency, a Lattice or a LatticeForest";
  if (!nb::isinstance<nb::list>(value) && !nb::isinstance<nb::tuple>(value))
    throw nb::type_error((shown(nb::cast<std::string>(nb::repr(value))) + " is no sentence" + expected).c_str());
  Tokens tokens;
  for (const nb::handle token : value) {
    if (!nb::isinstance<nb::str>(token))
      throw nb::type_error((shown(nb::cast<std::string>(nb::repr(token))) + " is no token" + expected).c_str());
    tokens.push_back(text_of(token));
  }
  return tokens;
}

std::vector<Source> to_sources(nb::handle values) {
  std::vector<Source> out;
  for (const nb::handle value : values) out.push_back(to_source(value));
  return out;
}

void bind_decode(nb::module_& m) {
  bind_terms(m);
  bind_derivation(m);

  nb::class_<SearchGraph>(m, "SearchGraph", "What a search kept, each edge with its rule and features.")
      .def_ro("graph", &SearchGraph::graph, "Its derivations.")
      .def_ro("labels", &SearchGraph::labels, "By node.")
      .def_prop_ro(
          "spans", [](const SearchGraph& g) { return to_pairs(g.spans); },
          "By node: the source words covered, half open.")
      .def_ro("scores", &SearchGraph::scores, "By edge: what it adds to the score.")
      .def_ro("steps", &SearchGraph::steps, "By edge: its rule.")
      .def_prop_ro(
          "features",
          [](const SearchGraph& g) {
            std::vector<FeatureDict> out;
            for (std::size_t edge = 0; edge < g.steps.size(); ++edge) {
              const std::size_t first = g.first_feature[edge];
              out.push_back(to_dict(std::span(g.features).subspan(first, g.first_feature[edge + 1] - first), *g.names));
            }
            return out;
          },
          "By edge: its features that are not 0, by name.");

  nb::class_<FeatureSet>(m, "FeatureSet", "The features of a model: the table's, the search's, and stateful ones.")
      .def(
          "__init__",
          [](FeatureSet* self, std::shared_ptr<RuleTable> table, std::string prefix) {
            new (self) FeatureSet(std::move(table), std::move(prefix));
          },
          "table"_a, "prefix"_a = "")
      .def(nb::init<const FeatureSet::Grammars&>(), "grammars"_a, "Of several tables, by the names of their grammars.")
      .def_prop_ro(
          "parts", [](const FeatureSet& self) { return std::vector(self.parts().begin(), self.parts().end()); },
          "Those of each grammar, if there are several: what belongs to it alone.")
      .def_prop_ro("trees", &FeatureSet::trees, "Whether hypotheses have dependency trees: some feature scores them.")
      .def(
          "add_ngram",
          [](FeatureSet& self, std::shared_ptr<NgramModel> model, const std::string& name) {
            add_ngram(self, std::move(model), name);
          },
          "model"_a, "name"_a = "lm",
          "An n-gram language model: NAME (natural log), and NAME_unknown unless it has classes.")
      .def(
          "add_joint",
          [](FeatureSet& self, std::shared_ptr<JointModel> model, const std::string& name) {
            add_joint(self, std::move(model), name);
          },
          "model"_a, "name"_a = "neural", "A neural joint model, or a lexical one: NAME (natural log).")
      .def(
          "add_context",
          [](FeatureSet& self, const std::vector<std::string>& source, const std::vector<std::string>& target) {
            add_context(self, source, target);
          },
          "source"_a, "target"_a,
          "Linked words f and e with the source word c beside f: left=c|f→e and right=f→e|c. Other words are <unk>.")
      .def("add_labels", &add_labels, "Soft syntax: match_f, nomatch_f, subst_f[X→Y], the same with e, and root[X,Y].")
      .def(
          "add_dependency",
          [](FeatureSet& self, std::shared_ptr<DependencyModel> model) { add_dependency(self, std::move(model)); },
          "model"_a, "A dependency language model: dlm_words or dlm_tags (natural log), ill_formed.");

  nb::class_<Matcher>(m, "Matcher", "How a table's rules meet an input.")
      .def_prop_ro("left_out", &Matcher::left_out,
                   "Rules that it never uses, because they would close a cycle of labels.");
  nb::class_<ChartMatcher, Matcher>(m, "ChartMatcher", "Meets strings: every rule on every span up to a limit.")
      .def(
          "__init__",
          [](ChartMatcher* self, const FeatureSet& features, nb::handle search) {
            new (self) ChartMatcher(features.shared_table(), read_options<ChartOptions>(search));
          },
          "features"_a, "search"_a);
  nb::class_<OnDemandMatcher, Matcher>(m, "OnDemandMatcher", "Meets strings with rules that are found for each.")
      .def(
          "__init__",
          [](OnDemandMatcher* self, std::shared_ptr<RulesOnDemand> rules, nb::handle search) {
            new (self) OnDemandMatcher(std::move(rules), read_options<ChartOptions>(search));
          },
          "rules"_a, "search"_a);
  nb::class_<ForestMatcher, Matcher>(m, "ForestMatcher",
                                     "Meets packed forests: every fragment at every node; adds parse and pseudo.")
      .def("__init__", new_tree_matcher<ForestMatcher, ForestOptions, &ForestOptions::pseudo_nodes>, "features"_a,
           "heads"_a.none(), "search"_a, "pseudo_nodes"_a = false);

  nb::class_<HeadDependentsMatcher, Matcher>(
      m, "HeadDependentsMatcher", "Meets dependency trees: the rules of each word with its dependents, and phrases.")
      .def("__init__",
           new_tree_matcher<HeadDependentsMatcher, HeadDependentsMatchOptions, &HeadDependentsMatchOptions::augmented>,
           "features"_a, "heads"_a.none(), "search"_a, "augmented"_a);

  nb::enum_<TreeSpans>(m, "TreeSpans", "The parts of a dependency tree that rules of two words or more may cover.")
      .value("structures", TreeSpans::structures, "subtrees, fixed and floating structures")
      .value("phrases", TreeSpans::phrases, "subtrees; structures for rules without variables")
      .value("subtrees", TreeSpans::subtrees, "subtrees");
  nb::class_<StructureMatcher, Matcher>(m, "StructureMatcher",
                                        "Meets dependency trees as strings: every rule on parts of the tree alone.")
      .def(
          "__init__",
          [](StructureMatcher* self, const FeatureSet& features, nb::handle search, TreeSpans spans) {
            new (self) StructureMatcher(features.shared_table(), read_options<ChartOptions>(search), spans);
          },
          "features"_a, "search"_a, "spans"_a);

  nb::class_<JointMatcher, Matcher>(m, "JointMatcher",
                                    "Meets what several matchers meet; the grammars share what covers the same words.")
      .def(
          "__init__",
          [](JointMatcher* self, const FeatureSet& features, const std::vector<std::shared_ptr<Matcher>>& matchers) {
            new (self) JointMatcher(features, {matchers.begin(), matchers.end()});
          },
          "features"_a, "matchers"_a);

  nb::class_<TargetConstraints>(m, "TargetConstraints", "What an output must look like; all that is given holds.")
      .def(
          "__init__",
          [](TargetConstraints* self, std::optional<Tokens> exactly, Tokens prefix, std::string part,
             std::vector<Tokens> contains, std::vector<Tokens> forbid, const std::vector<StepFields>& steps) {
            new (self) TargetConstraints{std::move(exactly),  std::move(prefix), std::move(part),
                                         std::move(contains), std::move(forbid), {}};
            for (const auto& [span, label, source, target] : steps)
              self->steps.push_back({Span{span.first, span.second}, label, source, target});
          },
          "exactly"_a = nb::none(), "prefix"_a = Tokens(), "part"_a = "", "contains"_a = std::vector<Tokens>(),
          "forbid"_a = std::vector<Tokens>(), "steps"_a = std::vector<StepFields>())
      .def_ro("prefix", &TargetConstraints::prefix, "The first words.")
      .def_ro("part", &TargetConstraints::part, "What the word after them begins with.");

  nb::class_<Decoder>(m, "Decoder", "Features, a matcher and weights, ready to translate; threads may share it.")
      .def(
          "__init__",
          [](Decoder* self, std::shared_ptr<FeatureSet> features, std::shared_ptr<Matcher> matcher,
             const std::vector<std::pair<std::string, double>>& weights, nb::handle search) {
            auto options = read_options<DecoderOptions>(search);
            read_options(search, options.search);
            new (self) Decoder(std::move(features), std::move(matcher), weights, options);
          },
          "features"_a, "matcher"_a, "weights"_a, "search"_a)
      .def_prop_ro(
          "features",
          [](const Decoder& d) {
            std::vector<std::string> out;
            for (Symbol id = 0; id < d.features().space().names().size(); ++id) out.push_back(d.features().name(id));
            return out;
          },
          "Names of the features, by number, without the members of families.")
      .def_prop_ro(
          "unknown_weights",
          [](const Decoder& d) {
            return std::vector<std::string>(d.unknown_weights().begin(), d.unknown_weights().end());
          },
          "Names of weights that no feature has.")
      .def(
          "translate",
          [](const Decoder& d, nb::handle source, const std::shared_ptr<TargetConstraints>& constraints,
             const Terms& terms) {
            const Source given = to_source(source);
            return without_gil([&] { return d.translate(given, constraints, terms); });
          },
          "source"_a.none(), "constraints"_a = nb::none(), "terms"_a = Terms(),
          "Translates a line or list of tokens, a forest, a dependency tree or a lattice. Its search is kept until the "
          "next.")
      .def(
          "translate_batch",
          [](const Decoder& d, nb::handle sources, std::uint32_t kbest, bool distinct, unsigned threads,
             const std::vector<std::optional<std::shared_ptr<TargetConstraints>>>& constraints,
             const std::vector<Terms>& terms) {
            const std::vector<Source> given = to_sources(sources);
            std::vector<SharedConstraints> kept;
            for (const auto& each : constraints) kept.push_back(each.value_or(nullptr));
            return without_gil([&] { return d.translate(given, kept, terms, {kbest, distinct}, threads); });
          },
          "sources"_a, "kbest"_a, "distinct"_a, "threads"_a,
          "constraints"_a = std::vector<std::optional<std::shared_ptr<TargetConstraints>>>(),
          "terms"_a = std::vector<Terms>(),
          "Translates sentences; results are in their order, the same for any number of threads.")
      .def(
          "reached",
          [](const Decoder& d, nb::handle source, const Tokens& target) {
            const Source given = to_source(source);
            std::vector<std::tuple<SpanPair, SpanPair, std::string>> out;
            for (const ReachedPart& part : without_gil([&] { return d.reached(given, target); }))
              out.emplace_back(to_pair(part.source), to_pair(part.target), part.label);
            return out;
          },
          "source"_a, "target"_a,
          "The largest parts of a target sentence that rules give for parts of a source sentence, without overlap: the "
          "words on both sides, half open, and a label.")
      .def(
          "kbest",
          [](const Decoder& d, const Translation& of, std::uint32_t size, bool distinct) {
            return to_tuple(without_gil([&] { return d.kbest(of, {size, distinct}); }));
          },
          "of"_a, "size"_a, "distinct"_a, "The best hypotheses of a translation.")
      .def(
          "runners_up",
          [](const Decoder& d, const Translation& of) {
            std::vector<std::optional<std::shared_ptr<Hypothesis>>> out;
            for (auto& each : without_gil([&] { return d.runners_up(of); }))
              out.push_back(each == nullptr ? std::nullopt : std::optional(std::move(each)));
            return out;
          },
          "of"_a,
          "For each step of the best derivation: the best one that does not use its rule there. None for local rules, "
          "and where the search kept no other.")
      .def("graph", &Decoder::graph, "of"_a, "margin"_a, nb::call_guard<nb::gil_scoped_release>(),
           "What the search of a translation kept, within `margin` of its best derivation; None for an empty line.");
}

}  // namespace treeglot
