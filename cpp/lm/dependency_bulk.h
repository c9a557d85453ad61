// Many sentences scored at once.
#pragma once

#include <span>
#include <vector>

#include "lm/dependency_lm.h"

namespace treeglot {

// Sentences by pointer. One that cannot be scored is refused with std::invalid_argument, which says which, from 1 on.
DependencyModel::Scores score_words(const DependencyModel& model, std::span<const Dependency* const> sentences);
std::vector<double> score_sentences(const DependencyModel& model, std::span<const Dependency* const> sentences);

}  // namespace treeglot
