#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bind/arrays.h"
#include "bind/core.h"
#include "bind/options.h"
#include "bind/parse_context.h"
#include "neural/joint_corpus.h"
#include "neural/joint_model.h"
#include "neural/joint_score.h"
#include "neural/parse_context.h"
#include "syntax/affiliation.h"

namespace treeglot {

TREEGLOT_OPTIONS(JointFacts, history, before, after, has_source, heads, embedding, hidden, second, source_fallbacks,
                 target_fallbacks, sentence, parse);

namespace {

using Floats = std::span<const float>;
using Sentence = std::vector<std::string_view>;

constexpr std::size_t kMostTargetWords = std::size_t{1} << 24;  // of one sentence

std::vector<std::uint32_t> numbers(const JointVocabulary& vocabulary, const Sentence& words) {
  std::vector<std::uint32_t> out;
  for (const std::string_view word : words) out.push_back(vocabulary.find(word));
  return out;
}

// Of each source word: the number of its translation.
std::vector<std::uint32_t> translation_numbers(const JointModel& model, std::size_t source_words,
                                               const Sentence& target, const Alignment& links) {
  std::vector<std::uint32_t> out;
  for (const std::string& text : translations(source_words, target, links.links()))
    out.push_back(model.target().find_translation(text));
  return out;
}

JointModel make(const nb::typed<nb::dict, nb::str, nb::int_>& facts, const Sentence& source_words,
                const Sentence& target_words, Floats source_embeddings, Floats source_weights, Floats tables,
                Floats bias, Floats second_weights, Floats second_bias, Floats output, Floats output_bias,
                Floats share) {
  JointParts parts;
  parts.facts = read_options<JointFacts>(facts);
  parts.source_words = to_strings(source_words);
  parts.target_words = to_strings(target_words);
  parts.source_embeddings = source_embeddings;
  parts.source_weights = source_weights;
  parts.tables = tables;
  parts.bias = bias;
  parts.second_weights = second_weights;
  parts.second_bias = second_bias;
  parts.output = output;
  parts.output_bias = output_bias;
  parts.share = share;
  return JointModel(parts);
}

// What a parse says to a model that sees such parses, and nothing to others.
std::vector<std::uint32_t> parse_numbers(const JointModel& model, const std::optional<SourceParse>& parse,
                                         std::size_t words) {
  const ParseKind kind = model.facts().parse_kind();
  if (kind == ParseKind::none) return {};
  const ParseContext context = to_context(parse);
  if (context.kind != kind || (context.words() != words && context.words() != 0))
    throw std::invalid_argument("a model that sees " + std::string(parse_kind_name(kind)) + " of " +
                                std::to_string(words) + " words was given " +
                                std::string(parse_kind_name(context.kind)) + " of " + std::to_string(context.words()));
  return model.numbers(context);
}

std::pair<Array<float>, Array<double>> score(const JointModel& self, const Sentence& source, const Sentence& target,
                                             const Alignment& links, bool normalise,
                                             const std::optional<SourceParse>& parse, const Dependency* tree) {
  links.check(source.size(), target.size());
  const bool heads = self.facts().heads != 0;
  if (heads && (tree == nullptr || tree->size() != target.size()))
    throw std::invalid_argument("a model over heads was given " +
                                (tree == nullptr ? "no tree" : "a tree of " + std::to_string(tree->size()) + " words") +
                                "; expected the dependency tree of the target, of " + std::to_string(target.size()));
  JointScores scores;
  {
    const bool lexical = self.facts().lexical();
    const std::vector<std::uint32_t> from = numbers(self.source(), source),
                                     around = parse_numbers(self, parse, source.size()),
                                     to = lexical ? translation_numbers(self, source.size(), target, links)
                                                  : numbers(self.target(), target);
    const nb::gil_scoped_release release;
    const JointModel::Rows rows = self.prepare(from, around);
    if (heads) {
      score_tree(self, rows, to, links.links(), *tree, normalise, scores);
    } else if (lexical) {
      score_translations(self, rows, to, normalise, scores);
    } else {
      score_words(self, rows, to, links.links(), normalise, scores);
    }
  }
  return {as_array(std::move(scores.log_probabilities)), as_array(std::move(scores.log_sums))};
}

}  // namespace

void bind_neural(nb::module_& m) {
  nb::class_<JointModel>(m, "JointModel", "A neural joint model; all scores are natural logs.")
      .def_static("open", &JointModel::open, "path"_a, "how"_a = Opening::verified,
                  nb::call_guard<nb::gil_scoped_release>(),
                  "Map a model's file; damage is a FormatError when it is met.")
      .def("verify", &JointModel::verify, nb::call_guard<nb::gil_scoped_release>(),
           "Verify all of its file, if it is not verified yet; damage is a FormatError.")
      .def_static("make", &make, "facts"_a, "source_words"_a, "target_words"_a, "source_embeddings"_a,
                  "source_weights"_a, "tables"_a, "bias"_a, "second_weights"_a, "second_bias"_a, "output"_a,
                  "output_bias"_a, "share"_a, "A model of these parts.")
      .def("write", &JointModel::write, "path"_a, nb::call_guard<nb::gil_scoped_release>(), "Write the model's file.")
      .def_prop_ro(
          "facts",
          [](const JointModel& self) {
            std::map<std::string, std::uint32_t> out;
            std::apply(
                [&](const auto&... field) { ((out[std::string(field.name)] = self.facts().*field.member), ...); },
                kFields<JointFacts>);
            return out;
          },
          "Its dimensions, by name.")
      .def_prop_ro("bytes", &JointModel::bytes, "The size of its file.")
      .def(
          "source_ids", [](const JointModel& self, const Sentence& words) { return numbers(self.source(), words); },
          "words"_a, "The numbers of source words.")
      .def(
          "target_ids", [](const JointModel& self, const Sentence& words) { return numbers(self.target(), words); },
          "words"_a, "The numbers of target words.")
      .def(
          "source_words",
          [](const JointModel& self) {
            std::vector<std::string_view> out;
            for (std::uint32_t id = 0; id < self.source().size(); ++id) out.push_back(self.source().word(id));
            return out;
          },
          "The words of its source vocabulary.")
      .def(
          "target_words",
          [](const JointModel& self) {
            std::vector<std::string_view> out;
            for (std::uint32_t id = 0; id < self.target().size(); ++id) out.push_back(self.target().word(id));
            return out;
          },
          "The words of its target vocabulary.")
      .def(
          "values", [](const JointModel& self, std::string_view section) { return view(self.values(section)); },
          "section"_a, nb::rv_policy::reference_internal, "The numbers of a section.")
      .def("score", &score, "source"_a, "target"_a, "links"_a, "normalise"_a = false, "parse"_a = nb::none(),
           "tree"_a = nb::none(),
           "The log probability of each target word and of the sentence's end, and the logs of the sums over all words "
           "at each. A lexical model has one for each source word: that of its translation. Normalised probabilities "
           "are exact; others trust the model's self-normalisation and have no sums. A model that sees parses needs "
           "that of the source. A model over heads needs the dependency tree of the target, and scores no end.");
  m.def(
      "parse_context", [](const SourceParse& parse) { return to_context(parse).texts; }, "parse"_a,
      "What a joint model sees of a source parse: four texts for each word (docs/neural.md).");
  m.def(
      "affiliations",
      [](const Alignment& links, std::size_t target_words, std::uint32_t none) {
        if (target_words > kMostTargetWords)
          throw nb::value_error(("there are " + std::to_string(target_words) + " target words; expected at most " +
                                 std::to_string(kMostTargetWords))
                                    .c_str());
        for (const Link link : links.links())
          if (link.target >= target_words) throw nb::value_error("a link leads beyond the target words");
        return affiliations(links.links(), target_words, none);
      },
      "links"_a, "target_words"_a, "none"_a, "For each target word the position of its affiliated source word.");
}

}  // namespace treeglot
