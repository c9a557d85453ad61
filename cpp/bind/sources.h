// Sentences that come from Python: every value that is no sentence is refused in our own words.
#pragma once

#include <vector>

#include "bind/core.h"
#include "bind/options.h"
#include "decode/decoder.h"
#include "decode/match_chart.h"

namespace treeglot {

TREEGLOT_OPTIONS(ChartOptions, span_limit, label_limit, match_limit, unknown_labels);

// A string, a list or tuple of tokens, a ParseForest, a Dependency, a Lattice or a LatticeForest. Throws TypeError for
// anything else, ValueError for text with a lone surrogate.
Source to_source(nb::handle value);
std::vector<Source> to_sources(nb::handle values);

}  // namespace treeglot
