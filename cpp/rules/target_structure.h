// The dependency structure of a rule's target side, as its code has it.
#pragma once

#include <span>
#include <string>

#include "base/span.h"
#include "syntax/dependency_checks.h"

namespace treeglot {

// Appends the structure of a target side to its code: for each of its symbols 0 if it is a root, else 1 + the place of
// its head. The side is the words of `target`, with a variable for each of `holes`, which are in order and apart. A
// variable hangs where the words of its hole that have a head outside hang, and is in head position for the words
// outside that have a head in its hole; in a well-formed structure each of these is one place.
void append_structure(std::string& code, Span target, std::span<const Span> holes, Heads heads);

}  // namespace treeglot
