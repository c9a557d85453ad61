#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/lanes.h"
#include "base/thread_pool.h"
#include "bind/core.h"
#include "bind/options.h"
#include "parse/bracket_score.h"
#include "parse/grammar_text.h"
#include "parse/parser.h"
#include "parse/product_parser.h"

namespace treeglot {

template <>
inline constexpr auto kNames<ScoreKind> =
    std::array{OptionName{"posterior", ScoreKind::posterior}, OptionName{"probability", ScoreKind::conditional}};
template <>
inline constexpr auto kFields<ParseOptions> = std::tuple{
    OptionField{"coarse", &ParseOptions::margins},      OptionField{"most_states", &ParseOptions::most_states},
    OptionField{"prune", &ParseOptions::forest_margin}, OptionField{"most_edges", &ParseOptions::most_edges},
    OptionField{"longest", &ParseOptions::longest},     OptionField{"time_limit", &ParseOptions::seconds},
    OptionField{"memory_limit", &ParseOptions::memory}, OptionField{"scores", &ParseOptions::scores},
    OptionField{"missing", &ParseOptions::missing}};

namespace {

using TreePtr = std::shared_ptr<const Tree>;
using ForestPtr = std::shared_ptr<const ParseForest>;
using GrammarPtr = std::shared_ptr<SplitGrammar>;
using Sentences = std::vector<std::vector<std::string>>;
using FilePair = std::pair<std::string, nb::bytes>;

TextFile to_file(const FilePair& file) { return {file.first, std::string(file.second.c_str(), file.second.size())}; }

GrammarPtr read(const std::vector<std::tuple<FilePair, FilePair, FilePair>>& levels, SignatureKind signature,
                bool steps, std::shared_ptr<WordClasses> classes) {
  std::vector<LevelFiles> files;
  for (const auto& [states, grammar, lexicon] : levels)
    files.push_back({to_file(states), to_file(grammar), to_file(lexicon)});
  const nb::gil_scoped_release release;
  const auto out = std::make_shared<SplitGrammar>(read_grammar(files, signature, steps));
  out->classes = std::move(classes);
  return out;
}

std::tuple<nb::bytes, nb::bytes, nb::bytes> texts(const SplitGrammar& grammar, std::size_t level) {
  if (level >= grammar.levels.size()) throw std::invalid_argument("the grammar has no such level");
  const LevelTexts out = write_level(grammar, level);
  return {nb::bytes(out.states.data(), out.states.size()), nb::bytes(out.grammar.data(), out.grammar.size()),
          nb::bytes(out.lexicon.data(), out.lexicon.size())};
}

// Parses all sentences by a method of the parser; `keep` makes the value of one result.
template <class Result, class Parser, class Parse, class Keep>
std::vector<Result> all(const Parser& parser, Parse parse, const Sentences& sentences, nb::handle given,
                        unsigned threads, Keep keep) {
  const auto options = read_options<ParseOptions>(given);
  const nb::gil_scoped_release release;
  std::vector<Result> out;
  ordered_map(
      sentences.size(), threads,
      [&](std::size_t i) {
        const std::vector<std::string_view> words(sentences[i].begin(), sentences[i].end());
        return (parser.*parse)(words, options);
      },
      [&](std::size_t, auto parsed) { out.push_back(keep(std::move(parsed))); });
  return out;
}

using TreeResult = std::tuple<TreePtr, ParseStatus, double, std::vector<ParseStatus>>;
template <class Parser>
std::vector<TreeResult> trees(const Parser& parser, const Sentences& sentences, nb::handle given, unsigned threads) {
  return all<TreeResult>(parser, &Parser::tree, sentences, given, threads, [](ParsedTree parsed) {
    return TreeResult{std::make_shared<const Tree>(std::move(parsed.tree)), parsed.status, parsed.log_probability,
                      std::move(parsed.each)};
  });
}

using ForestResult = std::tuple<ForestPtr, ParseStatus, double, std::size_t, std::vector<ParseStatus>>;
template <class Parser>
std::vector<ForestResult> forests(const Parser& parser, const Sentences& sentences, nb::handle given,
                                  unsigned threads) {
  return all<ForestResult>(parser, &Parser::forest, sentences, given, threads, [](ParsedForest parsed) {
    return ForestResult{std::make_shared<const ParseForest>(std::move(parsed.forest)), parsed.status,
                        parsed.log_probability, parsed.cut, std::move(parsed.each)};
  });
}

template <class Value, auto kCount>
BracketCounts sum_counts(const std::vector<std::pair<TreePtr, Value>>& pairs, const BracketOptions& options) {
  BracketCounts out;
  for (const auto& [gold, value] : pairs) {
    if (!gold || !value) throw std::invalid_argument("found None in a pair; expected trees or forests alone");
    out += kCount(*gold, *value, options);
  }
  return out;
}

void bind_scores(nb::module_& m) {
  nb::class_<BracketCounts>(m, "BracketCounts", "Labelled brackets in common: statistics that add up.")
      .def(nb::init<>())
      .def_ro("matched", &BracketCounts::matched, "Brackets in both trees.")
      .def_ro("gold", &BracketCounts::gold, "Brackets of the gold trees.")
      .def_ro("test", &BracketCounts::test, "Brackets of the trees under test.")
      .def_ro("exact", &BracketCounts::exact, "Sentences whose brackets are all the same.")
      .def_ro("sentences", &BracketCounts::sentences, "Sentences in all.")
      .def_ro("right_tags", &BracketCounts::right_tags, "Words with the gold tag.")
      .def_ro("words", &BracketCounts::words, "Words that count.")
      .def_ro("missing", &BracketCounts::missing, "Sentences without a tree: nothing matched.")
      .def_prop_ro("precision", &BracketCounts::precision, "Matched brackets among those of the test.")
      .def_prop_ro("recall", &BracketCounts::recall, "Matched brackets among the gold ones.")
      .def_prop_ro("f1", &BracketCounts::f1, "The harmonic mean of both.")
      .def("__add__", [](BracketCounts a, const BracketCounts& b) { return a += b; }, "other"_a, nb::is_operator());

  nb::class_<BracketOptions>(m, "BracketOptions", "Which labels count, and which are taken for others.")
      .def(
          "__init__",
          [](BracketOptions* self, std::vector<std::string> left_out,
             std::vector<std::pair<std::string, std::string>> equal) {
            new (self) BracketOptions{std::move(left_out), std::move(equal)};
          },
          "left_out"_a, "equal"_a);
  m.def("count_brackets", &sum_counts<TreePtr, count_brackets>, "pairs"_a, "options"_a,
        nb::call_guard<nb::gil_scoped_release>(),
        "The brackets in common of gold trees and others, as EVALB counts them.");
  m.def("count_oracle", &sum_counts<ForestPtr, count_oracle>, "pairs"_a, "options"_a,
        nb::call_guard<nb::gil_scoped_release>(), "The same for the tree of each forest that has the best F1.");
}

}  // namespace

void bind_parse_split(nb::module_& m) {
  nb::enum_<SignatureKind>(m, "SignatureKind", "How unknown words are put into classes.")
      .value("english", SignatureKind::english)
      .value("german", SignatureKind::german)
      .value("chinese", SignatureKind::chinese);
  nb::enum_<ParseStatus>(m, "ParseStatus", "How a sentence was parsed.")
      .value("parsed", ParseStatus::parsed, "With the finest grammar.")
      .value("narrowed", ParseStatus::narrowed, "With the finest, though the first pass kept only the best states.")
      .value("coarser", ParseStatus::coarser, "With a coarser one: the finest has no parse.")
      .value("narrowed_coarser", ParseStatus::narrowed_coarser,
             "With a coarser one, though the first pass kept only the best states.")
      .value("fewer", ParseStatus::fewer, "With some of several grammars: the others have no parse.")
      .value("flat", ParseStatus::flat, "Without a parse: a flat tree over tags.")
      .value("narrowed_flat", ParseStatus::narrowed_flat, "The same, and the first pass kept only the best states.")
      .value("late", ParseStatus::late, "The same, because time was up.")
      .value("too_long", ParseStatus::too_long, "The same, because it has too many words.")
      .value("too_large", ParseStatus::too_large, "The same, because its chart would take too much memory.")
      .value("no_words", ParseStatus::no_words, "An empty sentence: no tree.");

  nb::class_<SplitGrammar>(m, "SplitGrammar", "A PCFG whose labels are split into sub-states, from coarse to fine.")
      .def_static("read", &read, "levels"_a, "signature"_a = SignatureKind::english, "steps"_a = false,
                  "classes"_a = nb::none(),
                  "From the names and bytes of each level's stateInfo, grammar and lexicon files; steps: unary rules "
                  "are single ones; classes: of words that the lexicon may lack.")
      .def("texts", &texts, "level"_a, "The same three files of one level.")
      .def_prop_ro(
          "labels",
          [](const SplitGrammar& g) {
            std::vector<std::string> out;
            for (Symbol label = 0; label < g.labels.size(); ++label) out.emplace_back(g.labels.text(label));
            return out;
          },
          "Labels by number; the first is the root.")
      .def_prop_ro(
          "states",
          [](const SplitGrammar& g) {
            std::vector<std::vector<std::uint32_t>> out;
            for (const Level& level : g.levels) out.push_back(level.states);
            return out;
          },
          "Sub-states of each label, for each level.")
      .def_prop_ro(
          "words", [](const SplitGrammar& g) { return g.words.size(); }, "Words and classes of unknown ones.")
      .def_ro("signature", &SplitGrammar::signature, "How unknown words are put into classes.")
      .def(
          "lookup",
          [](const SplitGrammar& g, std::string_view word, std::size_t position) {
            const Symbol found = g.lookup(word, position);
            return found == Symbols::kNone ? std::string() : std::string(g.words.text(found));
          },
          "word"_a, "position"_a, "The word of the lexicon that stands for a word; empty when there is none.");
  m.def("signatures", &signatures, "kind"_a, "word"_a, "position"_a = 1, "known_lower"_a = false,
        "The classes of an unknown word, from the narrowest on.");

  nb::class_<SplitParser>(m, "SplitParser", "Parses with a split grammar, from coarse to fine.")
      .def(
          "__init__",
          [](SplitParser* self, GrammarPtr grammar, std::size_t finest) {
            new (self) SplitParser(std::move(grammar), finest);
          },
          "grammar"_a, "finest"_a)
      .def("trees", &trees<SplitParser>, "sentences"_a, "options"_a, "threads"_a = 1,
           "The best tree of each sentence, how it was found, the sentence's log probability, and an empty list.")
      .def("forests", &forests<SplitParser>, "sentences"_a, "options"_a, "threads"_a = 1,
           "The same with forests, and after the log probability how many nodes have more edges than stay.")
      .def(
          "first_pass",
          [](const SplitParser& parser, const std::vector<std::string>& words, double margin, std::size_t most,
             std::optional<unsigned> width) {
            if (width.value_or(0) > register_width()) throw nb::value_error("this processor has no such registers");
            const SplitParser::FirstPass out =
                parser.first_pass(std::vector<std::string_view>(words.begin(), words.end()), margin, most,
                                  width.value_or(register_width()));
            return std::make_pair(out.best, out.kept);
          },
          "words"_a, "margin"_a, "most"_a = 0, "width"_a = nb::none(),
          "The best derivation's log probability at level 0, and the states that it keeps: begin, end, state. Of more "
          "than `most` states the best; 0: all. For "
          "tests; registers have `width` floats.");

  nb::class_<ProductParser>(m, "ProductParser", "Parses with several grammars together: products of their posteriors.")
      .def(
          "__init__",
          [](ProductParser* self, const std::vector<GrammarPtr>& grammars, const std::vector<std::size_t>& finest) {
            const std::vector<std::shared_ptr<const SplitGrammar>> given(grammars.begin(), grammars.end());
            if (std::find(given.begin(), given.end(), nullptr) != given.end())
              throw std::invalid_argument("found None among the grammars");
            new (self) ProductParser(given, finest);
          },
          "grammars"_a, "finest"_a)
      .def("trees", &trees<ProductParser>, "sentences"_a, "options"_a, "threads"_a = 1,
           "The best tree of each sentence, how it was found, its mean log probability, and each grammar's status.")
      .def("forests", &forests<ProductParser>, "sentences"_a, "options"_a, "threads"_a = 1,
           "The same with forests, and after the log probability how many nodes have more edges than stay.")
      .def("lacking", &ProductParser::lacking, "Of each grammar the labels in trees that it lacks and another has.");
  bind_scores(m);
}

}  // namespace treeglot
