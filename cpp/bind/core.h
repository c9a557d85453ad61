// The border to Python: one function per folder, no logic.
#pragma once

#include <nanobind/nanobind.h>

namespace treeglot {

void bind_base(nanobind::module_& m);
void bind_graph(nanobind::module_& m);
void bind_syntax(nanobind::module_& m);
void bind_syntax_tree(nanobind::module_& m);
void bind_syntax_forest(nanobind::module_& m);
void bind_syntax_dependency(nanobind::module_& m);  // after bind_syntax: adds to its Dependency
void bind_syntax_category(nanobind::module_& m);
void bind_syntax_formats(nanobind::module_& m);
void bind_text(nanobind::module_& m);
void bind_parse_split(nanobind::module_& m);
void bind_parse_train(nanobind::module_& m);
void bind_lm(nanobind::module_& m);
void bind_lm_train(nanobind::module_& m);
void bind_lm_dependency(nanobind::module_& m);  // after bind_lm_train: compiles what that estimates
void bind_evaluate(nanobind::module_& m);
void bind_align(nanobind::module_& m);  // after bind_syntax: gives its Alignment
void bind_rules(nanobind::module_& m);
void bind_rules_extract(nanobind::module_& m);
void bind_decode(nanobind::module_& m);
void bind_tune(nanobind::module_& m);
void bind_foreign(nanobind::module_& m);

}  // namespace treeglot
