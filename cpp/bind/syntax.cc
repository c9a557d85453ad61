#include "bind/core.h"

namespace nb = nanobind;

namespace treeglot {

void bind_syntax(nb::module_&) {}

}  // namespace treeglot
