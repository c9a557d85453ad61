#include "bind/core.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "rules/table.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace treeglot {
namespace {

std::vector<std::string_view> texts(const MappedSymbols& symbols) {
  std::vector<std::string_view> out;
  for (Symbol symbol = 0; symbol < symbols.size(); ++symbol) out.push_back(symbols.text(symbol));
  return out;
}

using Links = std::vector<std::pair<std::uint8_t, std::uint8_t>>;

}  // namespace

void bind_rules(nb::module_& m) {
  nb::class_<RuleTable>(m, "RuleTable", "A compiled rule table: rules, and a trie over their source sides.")
      .def_static("open", [](const std::string& path, bool verify) { return std::make_shared<RuleTable>(RuleTable::open(path, verify)); },
                  "path"_a, "verify"_a = true, nb::call_guard<nb::gil_scoped_release>(),
                  "Maps a file; one that is damaged is a FormatError. Without `verify` its bytes are trusted.")
      .def("write", &RuleTable::write, "path"_a, nb::call_guard<nb::gil_scoped_release>(),
           "Writes the table aside, then renames it to `path`.")
      .def_prop_ro("file_size", &RuleTable::file_size, "In bytes.")
      .def("__len__", &RuleTable::rules)
      .def_prop_ro("source_words", [](const RuleTable& t) { return texts(t.source_words()); }, "By number.")
      .def_prop_ro("target_words", [](const RuleTable& t) { return texts(t.target_words()); }, "By number.")
      .def_prop_ro("labels", [](const RuleTable& t) { return texts(t.labels()); }, "Nonterminals, by number.")
      .def_prop_ro("features", [](const RuleTable& t) { return texts(t.feature_names()); }, "Names, in order.")
      .def(
          "rule",
          [](const RuleTable& t, RuleId id) {
            if (id >= t.rules()) throw nb::index_error("no such rule");
            const Rule rule = t.rule(id);
            Links links;
            for (const RuleLink link : rule.alignment) links.emplace_back(link.source, link.target);
            return std::tuple(rule.lhs, rule.source, rule.target, rule.features, links);
          },
          "rule"_a, "Left-hand side, source symbols, target symbols, feature values and links of one rule.");

  nb::class_<RuleTableBuilder>(m, "RuleTableBuilder", "Rules in any order in, a RuleTable out.")
      .def(nb::init<std::vector<std::string>>(), "features"_a)
      .def("source_word", &RuleTableBuilder::source_word, "text"_a, "The number of a source word.")
      .def("target_word", &RuleTableBuilder::target_word, "text"_a, "The number of a target word.")
      .def("label", &RuleTableBuilder::label, "text"_a, "The number of a nonterminal.")
      .def(
          "add",
          [](RuleTableBuilder& b, Symbol lhs, const std::vector<Symbol>& source, const std::vector<std::int32_t>& target,
             const std::vector<float>& features, const Links& links) {
            std::vector<RuleLink> alignment;
            for (const auto& [s, t] : links) alignment.push_back({s, t});
            b.add(lhs, source, target, features, alignment);
          },
          "lhs"_a, "source"_a, "target"_a, "features"_a, "alignment"_a,
          "Adds a rule; a nonterminal of the source side is its label with the top bit set, variable k of the target "
          "side is -1 - k.")
      .def("finish", [](RuleTableBuilder& b) { return std::make_shared<RuleTable>(b.finish()); },
           nb::call_guard<nb::gil_scoped_release>(), "The table; the builder is empty afterwards.");
}

}  // namespace treeglot
