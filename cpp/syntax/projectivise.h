// Projective heads from any: words are lifted until no arc passes over a word that it should not.
#pragma once

#include <cstdint>
#include <vector>

#include "syntax/dependency_checks.h"

namespace treeglot {

struct Projectivised {
  std::vector<std::int32_t> heads;
  std::uint32_t lifts = 0;  // steps, of which each gives a word its head's head
};

// The lifting of Nivre and Nilsson (2005): while there is an arc that is not projective, the dependent of the shortest
// (of equally short ones the leftmost) gets its head's head. Refuses a cycle.
Projectivised projectivise(Heads heads);

}  // namespace treeglot
