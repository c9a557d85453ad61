#include <tuple>

#include "bind/core.h"
#include "bind/guarded.h"
#include "syntax/category.h"

namespace treeglot {
namespace {

using Categories = std::vector<std::tuple<std::uint32_t, std::uint32_t, std::string>>;

using Words = std::vector<std::string_view>;

}  // namespace

void bind_syntax_category(nb::module_& m) {
  m.def(
      "span_categories",
      [](const Tree& tree, std::uint32_t max_length) -> Categories {
        Categories out;
        for (const SpanCategory& found : span_categories(tree, max_length))
          out.emplace_back(found.span.begin, found.span.end, found.text);
        return out;
      },
      "tree"_a, "max_length"_a, "Begin, end and simplest category of every span up to a length.");
  m.def(
      "span_category",
      [](const Tree& tree, std::uint32_t begin, std::uint32_t end) { return span_category(tree, {begin, end}); },
      "tree"_a, "begin"_a, "end"_a, "The simplest category of a span.");
  m.def(
      "crossed_constituents",
      [](const Tree& tree, std::uint32_t begin, std::uint32_t end) { return crossed_constituents(tree, {begin, end}); },
      "tree"_a, "begin"_a, "end"_a, "How many constituents the span crosses; a unary chain is one.");
  m.def("escaped_label", &escaped_label, "label"_a, "A label as part of a category's text.");

  nb::class_<TreeBatch>(m, "TreeBatch", "Many constituency trees, as extractors read them.")
      .def(nb::init<>())
      .def("__len__", guarded(&TreeBatch::size))
      .def("append", guarded([](TreeBatch& batch, const Tree& tree, const Words& words, const Words& leaves) {
             batch.append(tree, words, leaves);
           }),
           "tree"_a, "words"_a, "leaves"_a,
           "Adds the tree of a sentence; refuses one whose leaves are not the sentence's words.");
}

}  // namespace treeglot
