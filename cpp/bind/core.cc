#include "bind/core.h"

#include "bind/rules.h"

NB_MODULE(_core, m) {
  m.doc() = "The C++ core of Treeglot.";
#ifdef NDEBUG
  // Values that live until the interpreter ends are no fault of a user's; the sanitizer build still reports them.
  nanobind::set_leak_warnings(false);
#endif
  treeglot::bind_base(m);
  treeglot::bind_graph(m);
  treeglot::bind_syntax_tree(m);
  treeglot::bind_syntax(m);
  treeglot::bind_syntax_forest(m);
  treeglot::bind_syntax_dependency(m);
  treeglot::bind_syntax_category(m);
  treeglot::bind_syntax_lattice(m);
  treeglot::bind_syntax_formats(m);
  treeglot::bind_text(m);
  treeglot::bind_parse_split(m);
  treeglot::bind_parse_train(m);
  treeglot::bind_lm(m);
  treeglot::bind_lm_train(m);
  treeglot::bind_lm_dependency(m);
  treeglot::bind_evaluate(m);
  treeglot::bind_align(m);
  treeglot::bind_rules(m);
  treeglot::bind_rules_extract(m);
  treeglot::bind_rules_on_demand(m);
  treeglot::bind_neural(m);  // which features of the search use
  treeglot::bind_decode(m);
  treeglot::bind_decode_consensus(m);
  treeglot::bind_tune(m);
  treeglot::bind_neural_train(m);
  treeglot::bind_foreign(m);
#ifdef TREEGLOT_COUNT
  treeglot::bind_counts(m);
#endif
}
