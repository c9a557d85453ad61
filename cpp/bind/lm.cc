#include <memory>
#include <tuple>
#include <variant>

#include "bind/arrays.h"
#include "bind/core.h"
#include "bind/guarded.h"
#include "bind/vocabulary.h"
#include "lm/arpa.h"
#include "lm/estimated_ngrams.h"
#include "lm/ngram.h"
#include "lm/ngram_bulk.h"
#include "lm/ngram_list.h"

namespace treeglot {
namespace {

using State = NgramModel::State;
using Chart = NgramModel::Chart;
using Ids = std::span<const WordId>;
using Offsets = std::span<const std::uint64_t>;
using IdRows = nb::ndarray<const WordId, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
std::uint64_t hash_of_state(const T& state) {
  return hash_bytes({reinterpret_cast<const char*>(&state), sizeof state});
}

template <auto kField>
auto by_order(const NgramModel& model) {
  const auto& values = model.facts().*kField;
  return std::vector(values.begin(), values.begin() + model.order());
}

void bind_ngram_states(nb::module_& m) {
  nb::class_<State>(m, "NgramState", "The last words of a text, as far as they matter to what comes after it.")
      .def(nb::init<>(), "That of an empty text without <s>.")
      .def_prop_ro(
          "words", [](const State& s) { return std::vector<WordId>(s.words.begin(), s.words.begin() + s.length); },
          "Their numbers, newest first.")
      .def("__len__", [](const State& s) { return s.length; })
      .def("__eq__", &equal<State>, "other"_a.none())
      .def("__hash__", &hash_of_state<State>)
      .def("__repr__", [](const State& s) {
        std::string out = "NgramState(";
        for (unsigned i = s.length; i > 0; --i) out += std::to_string(s.words[i - 1]) + (i > 1 ? " " : "");
        return out + ")";
      });
  nb::class_<Chart>(m, "ChartState", "A piece of text, as far as it matters to what comes before and after it.")
      .def(nb::init<>(), "That of an empty text.")
      .def_prop_ro(
          "left", [](const Chart& s) { return std::vector<WordId>(s.left.begin(), s.left.begin() + s.left_length); },
          "The numbers of its first words, whose scores may still change.")
      .def_prop_ro(
          "right", [](const Chart& s) { return s.right; }, "The state after it.")
      .def_prop_ro(
          "full", [](const Chart& s) { return s.full != 0; },
          "Whether no word after `left` depends on what comes before.")
      .def("__eq__", &equal<Chart>, "other"_a.none())
      .def("__hash__", &hash_of_state<Chart>);
}

// The model, all of whose file is verified. That may take long the first time; then other threads go on.
const NgramModel& verified(const NgramModel& model) {
  if (!model.is_sound()) without_gil([&] { model.verify(); });
  return model;
}

void bind_ngram_model(nb::module_& m) {
  nb::enum_<NgramLayout>(m, "NgramLayout", "How a compiled n-gram model lies in memory.")
      .value("fast", NgramLayout::fast, "Hashed, exact.")
      .value("small", NgramLayout::small, "Hashed, with fingerprints and quantised values.");
  nb::class_<NgramModel>(m, "NgramModel", "A compiled n-gram model; all scores are log10.")
      .def_static("open", &NgramModel::open, "path"_a, "how"_a = Opening::verified,
                  nb::call_guard<nb::gil_scoped_release>(),
                  "Map a compiled file; damage is a FormatError when it is met.")
      .def("verify", &NgramModel::verify, nb::call_guard<nb::gil_scoped_release>(),
           "Verify all of its file, if it is not verified yet; damage is a FormatError.")
      .def("write", &NgramModel::write, "path"_a, nb::call_guard<nb::gil_scoped_release>(), "Write the compiled file.")
      .def(
          "arpa",
          [](const NgramModel& self) {
            std::vector<std::string> pieces;
            without_gil([&] { write_arpa(self, [&](std::string_view piece) { pieces.emplace_back(piece); }); });
            std::vector<nb::bytes> out;
            for (const std::string& piece : pieces) out.emplace_back(piece.data(), piece.size());
            return out;
          },
          "The model as the pieces of an ARPA file.")
      .def_prop_ro("order", &NgramModel::order, "The length of its longest n-grams.")
      .def_prop_ro(
          "layout", [](const NgramModel& self) { return self.facts().layout; }, "How it lies in memory.")
      .def_prop_ro("bytes", &NgramModel::bytes, "The size of its compiled file.")
      .def_prop_ro("counts", &by_order<&NgramFacts::counts>, "The n-grams given, by order.")
      .def_prop_ro("blanks", &by_order<&NgramFacts::blanks>,
                   "The n-grams put in because longer ones end in them, by order.")
      .def_prop_ro(
          "unknown_added", [](const NgramModel& self) { return self.facts().unknown_added != 0; },
          "Whether <unk> was not given.")
      .def_prop_ro("prob_error", &by_order<&NgramFacts::prob_error>,
                   "How far a stored probability is from the given one at most, by order.")
      .def_prop_ro("backoff_error", &by_order<&NgramFacts::backoff_error>,
                   "How far a stored backoff is from the given one at most, by order.")
      .def_prop_ro("shadowed", &by_order<&NgramFacts::shadowed>,
                   "The n-grams that another one with the same fingerprint hides, by order.")
      .def_prop_ro("words", &word_count<NgramModel>, "How many words it has.")
      .def("word", &word_of<NgramModel>, "id"_a, "The word of a number.")
      .def(
          "id", [](const NgramModel& self, std::string_view word) { return self.find(word); }, "word"_a,
          "The number of a word, or of its class; 0, that of <unk>, when it is not known.")
      .def_prop_ro("classed", &NgramModel::classed, "How many words its own are classes of; 0: they are words.")
      .def(
          "encode",
          [](const NgramModel& self, const std::vector<std::string_view>& texts) {
            auto [ids, offsets] = self.encode(texts);
            return std::pair(as_array(std::move(ids)), as_array(std::move(offsets)));
          },
          "texts"_a, "The numbers of the words of texts, and where each text begins and ends in them.")
      .def_prop_ro("has_rests", &NgramModel::has_rests, "Whether it has rest costs, without a look at them.")
      .def_prop_ro(
          "rests", [](const NgramModel& self) { return view(verified(self).rests()); },
          nb::rv_policy::reference_internal,
          "The rest cost of each word: what it is likely to score, whatever stands before it. Empty if it has none.")
      .def(
          "begin_state", [](const NgramModel& self) { return verified(self).begin_state(); }, "The state after <s>.")
      .def(
          "score_word",
          [](const NgramModel& self, const State& state, WordId word) {
            State after;
            const WordScore score = verified(self).score(state, word, after);
            return std::tuple(score.log10, score.length, after);
          },
          "state"_a, "word"_a, "A word's log10 probability, the length of the n-gram found, and the state after it.")
      .def(
          "score_rule",
          [](const NgramModel& self, const std::vector<std::variant<WordId, Chart>>& parts, bool begins) {
            Chart out;
            const double score = verified(self).score_rule(parts, begins, out);
            return std::pair(score, out);
          },
          "parts"_a, "begins_sentence"_a = false,
          "The log10 score of words and pieces from left to right, less what the pieces have, and the state of the "
          "whole.")
      .def(
          "score_texts",
          [](const NgramModel& self, Ids ids, Offsets offsets, bool begin, bool end) {
            return as_array(without_gil([&] { return score_texts(self, ids, offsets, {begin, end}); }));
          },
          "ids"_a, "offsets"_a, "begin"_a = true, "end"_a = true, "The log10 score of each text.")
      .def(
          "score_words",
          [](const NgramModel& self, Ids ids, Offsets offsets, bool begin, bool end) {
            WordScores out = without_gil([&] { return score_words(self, ids, offsets, {begin, end}); });
            return std::pair(as_array(std::move(out.log10)), as_array(std::move(out.length)));
          },
          "ids"_a, "offsets"_a, "begin"_a = true, "end"_a = true,
          "The log10 score of each word, and the length of the n-gram found for it.")
      .def(
          "score_ngrams",
          [](const NgramModel& self, const IdRows& rows) {
            return as_array(without_gil([&] { return score_ngrams(self, {rows.data(), rows.size()}, rows.shape(1)); }));
          },
          "rows"_a.noconvert(), "The log10 score of each row's last word after the others.");
  m.def("compile_ngrams", &compile, "estimate"_a, "layout"_a, "classes"_a = nb::none(),
        nb::call_guard<nb::gil_scoped_release>(), "A compiled model of what training estimated.");
  nb::class_<ArpaReader>(m, "ArpaReader", "Reads an ARPA file that is fed to it.")
      .def(nb::init<std::string, std::uint64_t, std::uint64_t, std::string>(), "file"_a, "bytes"_a = 0, "memory"_a = 0,
           "folder"_a = "", "Tables of more than `memory` bytes are in files in `folder`; 0: in memory.")
      .def("feed", guarded([](ArpaReader& self, const nb::bytes& chunk) {
             const std::string_view text = bytes_view(chunk);
             without_gil([&] { self.feed(text); });
           }),
           "chunk"_a, "The next bytes.")
      .def("finish", guarded(&ArpaReader::finish), "layout"_a, "classes"_a = nb::none(),
           nb::call_guard<nb::gil_scoped_release>(), "The end: the compiled model, in memory.")
      .def_prop_ro("spills", guarded(&ArpaReader::spills),
                   "Whether the tables are in files: then write ends the reading.")
      .def("write", guarded(&ArpaReader::write), "path"_a, "layout"_a, "classes"_a = nb::none(),
           nb::call_guard<nb::gil_scoped_release>(), "The end: the compiled model, as a file.");
}

}  // namespace

void bind_lm(nb::module_& m) {
  bind_ngram_states(m);
  bind_ngram_model(m);
}

}  // namespace treeglot
