#include <tuple>

#include "bind/arrays.h"
#include "bind/core.h"
#include "bind/vocabulary.h"
#include "lm/dependency_lm.h"
#include "lm/dependency_piece.h"
#include "lm/dependency_rule.h"

namespace treeglot {
namespace {

using State = DependencyState;
using Sentences = Given<Dependency>;

std::pair<WordId, WordId> as_pair(const DependencySiblings& siblings) { return {siblings.last, siblings.before}; }
std::string as_text(const DependencySiblings& siblings) {
  return std::to_string(siblings.last) + " " + std::to_string(siblings.before);
}

void bind_states(nb::module_& m) {
  nb::class_<State>(m, "DependencyState", "A part of a dependency tree, as far as it matters to what it is put into.")
      .def(nb::init<>(), "That of an empty part.")
      .def_prop_ro_static(
          "MAX_ROOTS", [](nb::handle) { return State::kMaxRoots; }, "The most roots that can float.")
      .def_prop_ro(
          "roots", [](const State& s) { return std::vector<WordId>(s.roots.begin(), s.roots.begin() + s.count); },
          "The numbers of its roots, in order.")
      .def_prop_ro(
          "left", [](const State& s) { return as_pair(s.left); },
          "The outermost left child of the first root, and the next one inside: 1 is none, 0 one that does not matter.")
      .def_prop_ro(
          "right", [](const State& s) { return as_pair(s.right); },
          "The outermost right children of the first root, likewise.")
      .def_prop_ro("fixed", &State::fixed, "Whether it has one root.")
      .def_prop_ro("floating", &State::floating, "Whether it has several roots.")
      .def("__eq__", &equal<State>, "other"_a.none())
      .def("__hash__", [](const State& s) { return hash_bytes({reinterpret_cast<const char*>(&s), sizeof s}); })
      .def("__repr__", [](const State& s) {
        std::string out = "DependencyState(roots";
        for (unsigned i = 0; i < s.count; ++i) out += " " + std::to_string(s.roots[i]);
        if (s.count > 0) out += ", left " + as_text(s.left) + ", right " + as_text(s.right);
        return out + ")";
      });
  nb::class_<DependencyTally>(m, "DependencyTally", "What did not fit when a rule was put together.")
      .def_ro("ill_heads", &DependencyTally::ill_heads, "Floating pieces in head position.")
      .def_ro("overflows", &DependencyTally::overflows, "1 if more roots were left than can float.")
      .def("__eq__", &equal<DependencyTally>, "other"_a.none())
      .def("__hash__", [](const DependencyTally& t) { return (std::uint64_t{t.ill_heads} << 32) | t.overflows; })
      .def("__repr__", [](const DependencyTally& t) {
        return "DependencyTally(ill_heads=" + std::to_string(t.ill_heads) +
               ", overflows=" + std::to_string(t.overflows) + ")";
      });
  nb::class_<DependencyPiece>(m, "DependencyPiece",
                              "A part of a dependency tree: the heads of its words, and its roots.")
      .def_static("word", &DependencyPiece::word, "That of one word.")
      .def_ro("heads", &DependencyPiece::heads, "For each word a position in the piece; -1 for its roots.")
      .def_ro("roots", &DependencyPiece::roots, "The positions of its roots, in order.");
  m.def(
      "join_pieces",
      [](const std::vector<std::int32_t>& heads, const std::vector<std::optional<DependencyPiece>>& items) {
        std::vector<const DependencyPiece*> pieces;
        for (const auto& item : items) pieces.push_back(item ? &*item : nullptr);
        DependencyTally tally;
        DependencyPiece joined = join_pieces(heads, pieces, tally);
        return std::pair(std::move(joined), tally);
      },
      "heads"_a, "items"_a, "The tree that a rule makes of its items; None is a word.");
  m.def(
      "check_rule_heads", [](const std::vector<std::int32_t>& heads) { check_rule_heads(heads); }, "heads"_a,
      "Refuse what cannot be the heads of a rule's items: cycles, crossing arcs, heads outside the rule.");
}

template <double (DependencyModel::*Method)(const DependencyState&) const>
double of_state(const DependencyModel& self, const State& state) {
  check_state(self, state);
  return (self.*Method)(state);
}

void bind_model(nb::module_& m) {
  nb::class_<DependencyModel>(m, "DependencyModel", "A compiled dependency language model; all scores are log10.")
      .def_static("open", &DependencyModel::open, "path"_a, "verify"_a = true, nb::call_guard<nb::gil_scoped_release>(),
                  "Map a compiled file; one that is damaged is a FormatError.")
      .def("write", &DependencyModel::write, "path"_a, nb::call_guard<nb::gil_scoped_release>(),
           "Write the compiled file.")
      .def_prop_ro("unit", &DependencyModel::unit, "What it is over.")
      .def_prop_ro("conditioning", &DependencyModel::conditioning, "What a child is predicted from.")
      .def_prop_ro("bytes", &DependencyModel::bytes, "The size of its compiled file.")
      .def_prop_ro(
          "counts",
          [](const DependencyModel& self) {
            const auto& counts = self.facts().counts;
            std::vector<std::vector<std::uint64_t>> out;
            for (const auto& model : counts) out.emplace_back(model.begin(), model.end());
            out[2].resize(1);
            return out;
          },
          "The n-grams of the left, right and root model, by order.")
      .def_prop_ro("words", &word_count<DependencyModel>, "How many words it has.")
      .def("word", &word_of<DependencyModel>, "id"_a, "The word of a number.")
      .def("id", &DependencyModel::find, "word"_a, "The number of a word; 0, that of <unk>, when it is not known.")
      .def(
          "score_child",
          [](const DependencyModel& self, DependencySide side, std::pair<WordId, WordId> siblings, WordId head,
             WordId child) {
            const auto [last, before] = siblings;
            for (const WordId unit : {last, before, head, child}) check_unit(self, unit);
            const WordScore score = self.child(side, {last, before}, head, child);
            return std::pair(score.log10, score.length);
          },
          "side"_a, "siblings"_a, "head"_a, "child"_a,
          "The score of a child after the last sibling and the one before (1: none) and a head, and how many units "
          "were "
          "found together.")
      .def(
          "score_root",
          [](const DependencyModel& self, WordId unit) {
            check_unit(self, unit);
            return self.root(unit);
          },
          "root"_a, "The score of a root of the sentence.")
      .def(
          "score_sentences",
          [](const DependencyModel& self, const Sentences& sentences) {
            return as_array(without_gil([&] { return score_sentences(self, sentences.values); }));
          },
          "sentences"_a, "The score of each sentence.")
      .def(
          "score_words",
          [](const DependencyModel& self, const Sentences& sentences) {
            auto out = without_gil([&] { return score_words(self, sentences.values); });
            return std::tuple(as_array(std::move(out.log10)), as_array(std::move(out.length)),
                              as_array(std::move(out.unknown)));
          },
          "sentences"_a, "Of the words of all sentences: scores, how much was found, and whether they are unknown.")
      .def(
          "score_rule",
          [](const DependencyModel& self, const std::vector<std::int32_t>& heads,
             const std::vector<std::variant<WordId, State>>& parts) {
            State out;
            const DependencyStep step = score_parts(self, heads, parts, out);
            return std::tuple(step.log10, out, step.tally);
          },
          "heads"_a, "parts"_a, "The score of the arcs that a rule makes, the state of the whole, what did not fit.")
      .def("complete", of_state<&DependencyModel::complete>, "state"_a,
           "The score of the roots of a part as roots of the sentence.")
      .def("waiting", of_state<&DependencyModel::waiting>, "state"_a,
           "An estimate of what the roots of a part will score.");
  m.def("compile_dependency", &compile_dependency, "unit"_a, "conditioning"_a, "left"_a, "right"_a, "root"_a,
        nb::call_guard<nb::gil_scoped_release>(), "The compiled model of what training estimated.");
}

}  // namespace

void bind_lm_dependency(nb::module_& m) {
  nb::enum_<DependencySide>(m, "DependencySide", "On which side of its head a child is.")
      .value("left", DependencySide::left)
      .value("right", DependencySide::right);
  bind_states(m);
  bind_model(m);
}

}  // namespace treeglot
