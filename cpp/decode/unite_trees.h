// The union of the translation forests of several parses of one sentence.
#pragma once

#include <span>

#include "decode/translation_forest.h"

namespace treeglot {

// A forest with the derivations of all: they share the goal and nothing else. So each derivation uses one parse, and
// the feature has the value of that parse. Trees and notes are those of the first.
TranslationForest unite_trees(std::span<const TranslationForest> forests, std::span<const float> values,
                              FeatureId feature);

}  // namespace treeglot
