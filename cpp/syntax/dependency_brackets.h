// Dependency trees in the brackets of the papers: `(Bush) held ((a) talk) (with (Sharon))`. A word's dependents stand
// in brackets on its two sides, in sentence order; the root has none. Several roots all stand in brackets: `(Hello)
// (you)`.
#pragma once

#include <string>
#include <string_view>

#include "syntax/dependency.h"

namespace treeglot {

// Brackets in words are escaped as in trees: -LRB- for (.
std::string to_brackets(const Dependency& dependency);  // refuses what is not projective, or lacks a head
Dependency from_brackets(std::string_view text);

}  // namespace treeglot
