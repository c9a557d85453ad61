#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "base/thread_pool.h"
#include "bind/arrays.h"
#include "bind/core.h"
#include "text/caser.h"
#include "text/segmenter.h"
#include "text/spacer.h"
#include "text/tokens.h"
#include "text/word_rules.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace treeglot {
namespace {

using Lines = std::vector<std::string>;
using Words = std::vector<std::vector<std::string>>;
constexpr std::size_t kPiece = 64;  // sentences that a thread takes at a time

// make(i) for all i, in threads and without the GIL.
template <class Make>
auto in_threads(std::size_t count, unsigned threads, const Make& make) {
  std::vector<std::invoke_result_t<const Make&, std::size_t>> out;
  without_gil([&] {
    out.reserve(count);
    ordered_map((count + kPiece - 1) / kPiece, threads,
                [&](std::size_t piece) {
                  decltype(out) made;
                  for (std::size_t i = piece * kPiece; i < std::min(count, (piece + 1) * kPiece); ++i)
                    made.push_back(make(i));
                  return made;
                },
                [&](std::size_t, decltype(out) made) { std::ranges::move(made, std::back_inserter(out)); });
  });
  return out;
}

void bind_tokens(nb::module_& m) {
  nb::class_<Tokens>(m, "Tokens", "A sentence in words, each with the characters of the text that it stands for.")
      .def(
          "__init__",
          [](Tokens* self, std::string text, const std::vector<std::string_view>& words,
             const std::vector<SpanPair>& spans) {
            if (words.size() != spans.size())
              throw std::invalid_argument("there are " + std::to_string(words.size()) + " words and " +
                                          std::to_string(spans.size()) + " spans; expected a span for each word");
            const std::size_t size = Decoded(text).characters.size();
            std::vector<Span> checked;
            std::uint32_t last = 0;
            for (const auto& [begin, end] : spans) {
              if (begin < last || end < begin || end > size)
                throw std::invalid_argument("word " + std::to_string(checked.size()) + " has the span " +
                                            std::to_string(begin) + "-" + std::to_string(end) +
                                            "; expected spans in order, within the text of " + std::to_string(size) +
                                            " characters");
              checked.push_back({begin, last = end});
            }
            new (self) Tokens{std::move(text), to_strings(words), std::move(checked)};
          },
          "text"_a, "words"_a, "spans"_a)
      .def_ro("text", &Tokens::text, "The sentence as it was given.")
      .def_prop_ro(
          "words", [](const Tokens& self) { return nb::typed<nb::list, nb::str>(to_list(self.words)); },
          "The words, as text has them.")
      .def_prop_ro(
          "spans", [](const Tokens& self) { return to_pairs(self.spans); },
          "The characters of the text that each word stands for, half open.")
      .def_prop_ro("line", &Tokens::line, "The words, separated by blanks.")
      .def("__len__", [](const Tokens& self) { return self.words.size(); })
      .def("__eq__", &equal<Tokens>, "other"_a.none())
      .def("__hash__", [](const Tokens& self) { return hash_of(self.words, hash_bytes(self.text)); })
      .def("__repr__", [](const Tokens& self) { return "<Tokens: " + self.line() + ">"; })
      .def("__reduce__", [](nb::handle_t<Tokens> self) {
        const auto fields = nb::make_tuple(self.attr("text"), self.attr("words"), self.attr("spans"));
        return nb::typed<nb::tuple, nb::object, nb::ellipsis>(nb::make_tuple(self.type(), fields));
      });
}

void bind_word_rules(nb::module_& m) {
  m.def(
      "split_words",
      [](std::string_view text, std::span<const std::int32_t> ends, Lines clitics, Lines elisions, unsigned threads) {
        const WordRules rules{std::move(clitics), std::move(elisions)};
        const std::vector<BrokenLine> lines = without_gil([&] { return broken_lines(text, ends); });
        return in_threads(lines.size(), threads, [&](std::size_t i) { return split_words(lines[i], rules); });
      },
      "text"_a, "ends"_a, "clitics"_a, "elisions"_a, "threads"_a = 1,
      "The words of each line, from ICU's boundaries, which count UTF-16.");
  m.def(
      "join_by_rules",
      [](const Words& sentences, Lines clitics, Lines elisions, bool spaces, unsigned threads) {
        const WordRules rules{std::move(clitics), std::move(elisions)};
        return in_threads(sentences.size(), threads,
                          [&](std::size_t i) { return join_by_rules(sentences[i], rules, spaces); });
      },
      "sentences"_a, "clitics"_a, "elisions"_a, "spaces"_a, "threads"_a = 1,
      "The texts of words, by rules that suit most languages.");
}

}  // namespace

void bind_text(nb::module_& m) {
  bind_tokens(m);
  bind_word_rules(m);
  nb::class_<Segmenter>(m, "Segmenter", "A tokeniser learnt from text and its words.")
      .def_static("open", &Segmenter::open, "path"_a, nb::call_guard<nb::gil_scoped_release>(),
                  "Map a file; one that is damaged is a FormatError.")
      .def_static(
          "train",
          [](std::string_view text, std::span<const std::int32_t> ends, const Lines& lines) {
            SegmenterCounts counts;
            Segmenter made = without_gil([&] { return Segmenter::train(broken_lines(text, ends), lines, counts); });
            return std::pair(std::move(made), counts.unaligned);
          },
          "text"_a, "ends"_a, "lines"_a,
          "Learn from lines, with ICU's boundaries, and their words, separated by blanks; and how many lines have "
          "other characters than their words.")
      .def("write", &Segmenter::write, "path"_a, nb::call_guard<nb::gil_scoped_release>(), "Write the file.")
      .def(
          "segment",
          [](const Segmenter& self, std::string_view text, std::span<const std::int32_t> ends, unsigned threads) {
            const std::vector<BrokenLine> lines = without_gil([&] { return broken_lines(text, ends); });
            return in_threads(lines.size(), threads, [&](std::size_t i) { return self.segment(lines[i]); });
          },
          "text"_a, "ends"_a, "threads"_a = 1, "The words of each line, with ICU's boundaries.");
  nb::class_<Spacer>(m, "Spacer", "What stands between words, learnt from text.")
      .def_static("open", &Spacer::open, "path"_a, nb::call_guard<nb::gil_scoped_release>(),
                  "Map a file; one that is damaged is a FormatError.")
      .def_static(
          "train",
          [](const Given<Tokens>& sentences) { return without_gil([&] { return Spacer::train(sentences.values); }); },
          "sentences"_a, "Learn from sentences.")
      .def("write", &Spacer::write, "path"_a, nb::call_guard<nb::gil_scoped_release>(), "Write the file.")
      .def(
          "join",
          [](const Spacer& self, const Words& sentences, unsigned threads) {
            return in_threads(sentences.size(), threads, [&](std::size_t i) { return self.join(sentences[i]); });
          },
          "sentences"_a, "threads"_a = 1, "The texts of words.");
  nb::class_<Caser>(m, "Caser", "The case of words, learnt from text.")
      .def_static("open", &Caser::open, "path"_a, nb::call_guard<nb::gil_scoped_release>(),
                  "Map a file; one that is damaged is a FormatError.")
      .def_static(
          "train",
          [](std::vector<std::vector<std::string>> words, std::vector<std::vector<std::string>> lower,
             const std::vector<std::pair<std::uint32_t, std::uint32_t>>& upper) {
            const CasedText text{std::move(words), std::move(lower)};
            return without_gil([&] { return Caser::train(text, upper); });
          },
          "words"_a, "lower"_a, "upper"_a,
          "Learn from sentences, the same in lower case, and pairs of lower and upper characters.")
      .def("write", &Caser::write, "path"_a, nb::call_guard<nb::gil_scoped_release>(), "Write the file.")
      .def(
          "restore",
          [](const Caser& self, const Words& sentences, unsigned threads) {
            const std::vector<Strings> made =
                in_threads(sentences.size(), threads, [&](std::size_t i) { return self.restore(sentences[i]); });
            nb::typed<nb::list, nb::typed<nb::list, nb::str>> out;
            for (const Strings& words : made) out.append(to_list(words));
            return out;
          },
          "sentences"_a, "threads"_a = 1, "Words in lower case, with the case they have in text.");
}

}  // namespace treeglot
