// Links that break constituents (after Fossum, Knight and Abney 2008).
//
// A constituent is broken if the words that it is linked to, with all between them, have links from outside it. Rules
// are extracted at constituents that are whole. Leaving out a link that is probably wrong may mend several.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "base/span.h"
#include "syntax/alignment.h"
#include "syntax/forest.h"
#include "syntax/tree.h"

namespace treeglot {

struct Constituent {
  Span span;
  double probability = 1;  // that the sentence has it
};

// The spans of constituents with more than one word, without the whole sentence, each once. Those of a forest have the
// probabilities of its derivations, and improbable ones are left out.
std::vector<Constituent> constituents(const Tree& tree);
std::vector<Constituent> constituents(const ParseForest& forest);

// The links without the doubtful ones that break constituents. Each step removes the link with the highest gain, as
// long as there is a gain. It is `cost` times the probability of each constituent of either side that is mended, less
// -log(1 - the link's probability). A step takes time in proportion to links times constituents.
Alignment mend(const Alignment& links, std::span<const Constituent> source, std::span<const Constituent> target,
               double cost, const std::function<double(Link)>& probability);

}  // namespace treeglot
