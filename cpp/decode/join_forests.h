// The union of the translation forests that several grammars make of one sentence (Liu et al. 2009).
#pragma once

#include <vector>

#include "decode/translation_forest.h"

namespace treeglot {

// A rule's match stays as its grammar found it. But any derivation of the words below a variable may fill it, whichever
// grammar it is from. Labels of the source side play no part: they were needed to find the match, and mean nothing to
// target strings. So the nodes of a span become one.
//
// A match of all words of its node below one variable would make the node lead to itself. Each grammar orders its nodes
// over a span, without circles. The height of a node is the number of such matches that lie upon each other below it.
// The span has as many nodes as there are heights. The node of height h takes all matches that are not of this kind.
// Matches of this kind upon nodes below h stand on the node of their height. Rules of other spans take the highest. No
// derivation of a grammar is lost, and none is there twice.
//
// Two kinds of nodes are not for all:
// - what begins or ends the sentence, for its state does. Only its like shares it;
// - what is kept apart, since it is no whole translation.
TranslationForest join_forests(std::vector<TranslationForest> parts);

}  // namespace treeglot
