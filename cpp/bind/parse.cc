#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "bind/core.h"
#include "parse/pcfg.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace treeglot {
namespace {

using TreePtr = std::shared_ptr<const Tree>;
using RuleTuple = std::tuple<std::string, std::vector<std::string>, bool, double, double>;

std::vector<const Tree*> pointers(const std::vector<TreePtr>& trees) {
  std::vector<const Tree*> out;
  for (const TreePtr& tree : trees) out.push_back(tree.get());
  return out;
}

std::vector<std::shared_ptr<const ParseForest>> forests(const Pcfg& grammar,
                                                        const std::vector<std::vector<std::string>>& sentences) {
  const nb::gil_scoped_release release;
  std::vector<std::shared_ptr<const ParseForest>> out;
  for (const std::vector<std::string>& words : sentences)
    out.push_back(
        std::make_shared<const ParseForest>(grammar.forest(std::vector<std::string_view>(words.begin(), words.end()))));
  return out;
}

std::vector<RuleTuple> rules(const Pcfg& grammar) {
  std::vector<RuleTuple> out;
  for (const Pcfg::Rule& rule : grammar.rules()) {
    std::vector<std::string> body;
    for (const Symbol symbol : rule.body)
      body.emplace_back(rule.lexical ? grammar.word(symbol) : grammar.label(symbol));
    out.emplace_back(grammar.label(rule.head), std::move(body), rule.lexical, rule.count, rule.logprob);
  }
  return out;
}

}  // namespace

void bind_parse(nb::module_& m) {
  nb::class_<Pcfg>(m, "Pcfg", "A plain PCFG read off trees: relative frequencies of their productions.")
      .def(
          "__init__",
          [](Pcfg* self, const std::vector<TreePtr>& trees, const std::vector<TreePtr>& others, double unseen) {
            new (self) Pcfg(pointers(trees), pointers(others), unseen);
          },
          "trees"_a, "others"_a = std::vector<TreePtr>(), "unseen"_a = 0.5,
          "The productions of trees; one that only the others have counts as often as `unseen` says.")
      .def("forests", &forests, "sentences"_a, "The forest of all parses of each sentence, given as words.")
      .def_prop_ro("rules", &rules, "Head, body, whether the body is a word, count and log probability of each rule.");
}

}  // namespace treeglot
