#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind/arrays.h"
#include "bind/core.h"
#include "foreign/grammar.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace treeglot {

void bind_foreign(nb::module_& m) {
  nb::enum_<GrammarFormat>(m, "GrammarFormat", "Text formats of grammars.")
      .value("cdec", GrammarFormat::cdec)
      .value("joshua", GrammarFormat::joshua)
      .value("moses", GrammarFormat::moses)
      .value("travatar", GrammarFormat::travatar);

  nb::class_<GrammarReader>(m, "GrammarReader", "Reads a grammar into a RuleTableBuilder.")
      .def(nb::init<std::string, bool, GrammarFormat, std::string, RuleTableBuilder&>(), "file"_a, "skip_bad"_a,
           "format"_a, "prefix"_a, "builder"_a, nb::keep_alive<1, 6>())
      .def(
          "feed",
          [](GrammarReader& reader, const nb::bytes& chunk) { without_gil([&] { reader.feed(bytes_view(chunk)); }); },
          "chunk"_a, "Takes the next bytes of the file.")
      .def("finish", &GrammarReader::finish, nb::call_guard<nb::gil_scoped_release>(), "Takes the end of the file.")
      .def_prop_ro("skipped", &GrammarReader::skipped, "Bad rules left out.")
      .def_prop_ro(
          "problems",
          [](const GrammarReader& reader) {
            std::vector<std::pair<std::size_t, std::string>> out;
            for (const FormatError& e : reader.problems()) out.emplace_back(e.line(), e.problem());
            return out;
          },
          "Lines and problems of the first hundred of them.");

  m.def(
      "write_rules",
      [](const RuleTable& table, GrammarFormat format, RuleId begin, RuleId end) {
        const std::string text = without_gil([&] {
          std::string out;
          for (RuleId rule = begin; rule < std::min<std::size_t>(end, table.rules()); ++rule)
            append_rule(table, rule, format, out);
          return out;
        });
        return nb::bytes(text.data(), text.size());
      },
      "table"_a, "format"_a, "begin"_a, "end"_a, "Some rules of a table as lines of a grammar.");
}

}  // namespace treeglot
