#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "bind/core.h"
#include "bind/guarded.h"
#include "parse/trainer.h"
#include "parse/treebank.h"

namespace treeglot {
namespace {

using RuleTuple = std::tuple<std::string, std::vector<std::string>, bool, double>;

// Rules of the level at hand as text: states are LABEL_0, words are themselves.
std::vector<RuleTuple> rules(const Trainer& trainer) {
  const TrainingLevel& level = trainer.level();
  const Treebank& bank = trainer.bank();
  const auto state = [&](Symbol label, std::size_t sub) {
    return std::string(bank.labels().text(label)) + "_" + std::to_string(sub);
  };
  std::vector<RuleTuple> out;
  for (const RuleKind kind : {RuleKind::lexical, RuleKind::unary, RuleKind::binary}) {
    const auto found = bank.rules(kind);
    for (std::size_t r = 0; r < found.size(); ++r) {
      const BankRule& rule = found[r];
      const std::size_t heads = level.states[rule.head];
      const std::size_t lefts = kind == RuleKind::lexical ? 1 : level.states[rule.left];
      const std::size_t rights = kind == RuleKind::binary ? level.states[rule.right] : 1;
      for (std::size_t i = 0; i < lefts * rights * heads; ++i) {
        std::vector<std::string> body;
        if (kind == RuleKind::lexical) {
          body.emplace_back(bank.words().text(rule.left));
        } else {
          body.push_back(state(rule.left, i / heads / rights));
          if (kind == RuleKind::binary) body.push_back(state(rule.right, i / heads % rights));
        }
        out.emplace_back(state(rule.head, i % heads), std::move(body), kind == RuleKind::lexical,
                         level.scores[level.at[static_cast<std::size_t>(kind)][r] + i]);
      }
    }
  }
  return out;
}

}  // namespace

void bind_parse_train(nb::module_& m) {
  using Release = nb::call_guard<nb::gil_scoped_release>;
  m.def(
      "clean_tree", [](const Tree& tree) { return std::make_shared<const Tree>(clean_tree(tree)); }, "tree"_a,
      "The tree without traces, functional tags, indices and unary rules of a label by itself; empty if nothing "
      "stays.");
  nb::class_<Treebank>(m, "Treebank", "Binarised trees, ready for training.")
      .def(
          "__init__",
          [](Treebank* self, std::uint32_t horizontal, std::uint32_t vertical, const std::string& root) {
            new (self) Treebank(BinarizeOptions{horizontal, vertical}, root);
          },
          "horizontal"_a = 0, "vertical"_a = 1, "root"_a = "ROOT")
      .def("add", guarded(&Treebank::add), "tree"_a,
           "Adds a tree; refuses the empty one and words beside other children.")
      .def("__len__", guarded(&Treebank::size))
      .def_prop_ro("unary_cycles", guarded(&Treebank::unary_cycles),
                   "Unary chains that came back to a label and were cut short.")
      .def_prop_ro("first_cycle", guarded(&Treebank::first_cycle), "The labels of the first of them.");
  nb::class_<Trainer>(m, "Trainer", "Trains split grammars, a step at a time.")
      .def(
          "__init__",
          [](Trainer* self, std::shared_ptr<Treebank> bank, SignatureKind signature,
             std::shared_ptr<WordClasses> classes) {
            new (self) Trainer(held<const Treebank>(std::move(bank)), signature, std::move(classes));
          },
          "bank"_a, "signature"_a, "classes"_a = nb::none())
      .def("log_likelihood", guarded(&Trainer::log_likelihood), "threads"_a = 1, Release(), "Of the trees.")
      .def("em", guarded(&Trainer::em), "threads"_a = 1, Release(),
           "One iteration of EM; the log likelihood before it.")
      .def("split", guarded(&Trainer::split), "seed"_a, "noise"_a = 0.01, Release(), "Splits every state in two.")
      .def("merge", guarded(&Trainer::merge), "share"_a = 0.5, "threads"_a = 1, Release(),
           "Undoes the splits that matter least; how many.")
      .def("smooth", guarded(&Trainer::smooth), "grammar"_a, "lexicon"_a, Release(),
           "Smooths towards the mean of a label's states.")
      .def(
          "finish_level", guarded(&Trainer::finish_level), "threads"_a = 1, "least"_a = 0.0, "lexicon"_a = 0.0,
          Release(),
          "Makes the level as it is the grammar's next: rules below `least` become 0, words are smoothed by `lexicon`.")
      .def_prop_ro("levels", guarded(&Trainer::levels), "Levels that are finished.")
      .def_prop_ro("states", guarded(&Trainer::total_states), "States of all labels at the level at hand.")
      .def_prop_ro("grammar", guarded([](const Trainer& t) {
                     if (t.grammar()->levels.empty())
                       throw std::invalid_argument("no level is finished; expected one before the grammar is taken");
                     return std::const_pointer_cast<SplitGrammar>(t.grammar());
                   }),
                   "The levels that are finished.")
      .def_prop_ro("rules", guarded(&rules),
                   "Head, children or word, whether it is a word, and probability, of states.")
      .def("state", guarded([](const Trainer& t) {
             const std::string bytes = t.state();
             return nb::bytes(bytes.data(), bytes.size());
           }),
           "All that further steps depend on.")
      .def("restore", guarded([](Trainer& t, const nb::bytes& bytes) { t.restore({bytes.c_str(), bytes.size()}); }),
           "state"_a, "Goes on from a state of the same treebank.");
}

}  // namespace treeglot
