// The border to Python: one function per folder, no logic.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace treeglot {

void bind_base(nb::module_& m);
void bind_graph(nb::module_& m);
void bind_syntax(nb::module_& m);
void bind_syntax_tree(nb::module_& m);
void bind_syntax_forest(nb::module_& m);
void bind_syntax_dependency(nb::module_& m);  // after bind_syntax: adds to its Dependency
void bind_syntax_category(nb::module_& m);
void bind_syntax_formats(nb::module_& m);
void bind_text(nb::module_& m);
void bind_parse_split(nb::module_& m);
void bind_parse_train(nb::module_& m);
void bind_lm(nb::module_& m);
void bind_lm_train(nb::module_& m);
void bind_lm_dependency(nb::module_& m);  // after bind_lm_train: compiles what that estimates
void bind_evaluate(nb::module_& m);
void bind_align(nb::module_& m);  // after bind_syntax: gives its Alignment
void bind_rules(nb::module_& m);
void bind_rules_extract(nb::module_& m);
void bind_decode(nb::module_& m);
void bind_decode_consensus(nb::module_& m);
void bind_tune(nb::module_& m);
void bind_foreign(nb::module_& m);

}  // namespace treeglot
