#include "bind/core.h"

namespace nb = nanobind;

namespace treeglot {

void bind_graph(nb::module_&) {}

}  // namespace treeglot
