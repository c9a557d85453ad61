// What has to be remembered of a part of a dependency tree to score what it is put into (the c2d page, "Decoding").
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "lm/ngram_table.h"
#include "lm/special_words.h"

namespace treeglot {

// The roots of a piece: words whose head is not in it. One root is a *fixed* structure, on which more may hang; several
// *float*: they wait for one head, on either side, and their scores with them; none is an empty piece. Numbers
// are those of the model's vocabulary. Equal states are equal bytes: what is unused is zero.
struct DependencyState {
  static constexpr unsigned kMaxRoots = 8;  // what comes to more is settled, see dependency_connect.h

  std::uint32_t count = 0;  // of the roots
  // The outermost children of the first root, kNoSibling where there is none. A child that no later score can depend on
  // counts as <unk>, 0. Of floating roots they are needed when these are settled.
  WordId left = 0, right = 0;
  std::array<WordId, kMaxRoots> roots{};

  bool fixed() const { return count == 1; }
  bool floating() const { return count > 1; }
  friend bool operator==(const DependencyState&, const DependencyState&) = default;
};

constexpr WordId kNoSibling = kSentenceBegin;

static_assert(std::has_unique_object_representations_v<DependencyState>);

}  // namespace treeglot
