// The tree of a forest whose spans are the likeliest to be right, whatever their labels (Goodman 1996).
#pragma once

#include "syntax/forest.h"
#include "syntax/tree.h"

namespace treeglot {

// The tree with the fewest expected errors: spans that it has and the true tree has not, and the other way round. The
// forest's trees, by their conditional probabilities, say what may be true. So a span is worth its posterior less one
// half. Spans of one word do not count. Of the trees with the same errors the most probable one is taken. The empty
// tree without a parse.
Tree fewest_span_errors(const ParseForest& forest);

}  // namespace treeglot
