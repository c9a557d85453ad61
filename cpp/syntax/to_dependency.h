// Dependencies from constituents: every word depends on the head word of the smallest constituent that it does not head.
#pragma once

#include <span>
#include <vector>

#include "syntax/dependency.h"
#include "syntax/head_table.h"
#include "syntax/tree.h"

namespace treeglot {

// One root, projective. A word's tag is the base of its parent's label. The tree without nodes (a failed parse) gives the
// dependency structure without words.
Dependency to_dependency(const Tree& tree, const HeadTable& heads);
std::vector<Dependency> to_dependency(std::span<const Tree* const> trees, const HeadTable& heads);

}  // namespace treeglot
