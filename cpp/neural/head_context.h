// What a word of a dependency tree is predicted from, as the history of a joint model. First come its head and the side
// of the head where it stands. Then come the two siblings before it, counted from the head outwards (Shen et al. 2008).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "lm/dependency_train.h"
#include "neural/joint_model.h"

namespace treeglot {

using HeadContext = std::array<std::uint32_t, kHeadContext>;  // what matters most comes first

// <s> stands for what is not there, and for the left side. A root has nothing.
constexpr HeadContext kRootContext = {JointVocabulary::kBegin, JointVocabulary::kBegin, JointVocabulary::kBegin,
                                      JointVocabulary::kBegin};
static_assert(kNoSibling == JointVocabulary::kBegin);

inline HeadContext head_context(std::uint32_t head, DependencySide side, DependencySiblings siblings) {
  return {head, side == DependencySide::left ? JointVocabulary::kBegin : JointVocabulary::kEnd, siblings.last,
          siblings.before};
}

}  // namespace treeglot
