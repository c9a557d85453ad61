// The bindings to Python: one function per folder, without logic.
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

using Binder = void(nb::module_& m);

// bind_syntax_dependency adds to the Dependency of bind_syntax, whose Alignment bind_align gives; bind_lm_dependency
// compiles what bind_lm_train estimates.
Binder bind_base, bind_graph, bind_syntax, bind_syntax_tree, bind_syntax_forest, bind_syntax_dependency,
    bind_syntax_category, bind_syntax_lattice, bind_syntax_formats, bind_text, bind_parse_split, bind_parse_train,
    bind_lm, bind_lm_train, bind_lm_dependency, bind_evaluate, bind_align, bind_rules, bind_rules_extract, bind_decode,
    bind_decode_consensus, bind_tune, bind_neural, bind_neural_train, bind_foreign, bind_counts;

}  // namespace treeglot
