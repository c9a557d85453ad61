// Sentences that come from Python: every value that is no sentence is refused in our own words.
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "decode/decoder.h"

namespace treeglot {

// A string, a list or tuple of tokens, a ParseForest or a Dependency. Throws TypeError for anything else, ValueError
// for text with a lone surrogate.
Source to_source(nanobind::handle value);
std::vector<Source> to_sources(nanobind::handle values);

}  // namespace treeglot
