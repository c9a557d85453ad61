// Links that break constituents (after Fossum, Knight and Abney 2008).
//
// A constituent is broken if the words that it is linked to, with all between them, have links from outside it. Rules
// are extracted at constituents that are whole. Leaving out a link that is probably wrong may mend several.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "base/span.h"
#include "syntax/alignment.h"
#include "syntax/tree.h"

namespace treeglot {

// The spans of a tree's constituents with more than one word, the whole sentence left out; each once.
std::vector<Span> constituents(const Tree& tree);

// How many of the spans of one side links break; the link with number `without` does not count.
std::size_t count_broken(std::span<const Link> links, std::span<const Span> spans, bool target_side,
                         std::size_t without);

// The links without those that break constituents and are doubtful: link by link, the one with the highest gain is
// left out, as long as there is a gain. It is `cost` for each constituent of either side that is mended, less
// -log(1 - the link's probability).
Alignment mend(const Alignment& links, std::span<const Span> source, std::span<const Span> target, double cost,
               const std::function<double(Link)>& probability);

}  // namespace treeglot
