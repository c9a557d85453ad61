#include "bind/core.h"

namespace nb = nanobind;

namespace treeglot {

void bind_lm(nb::module_&) {}

}  // namespace treeglot
