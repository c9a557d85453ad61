// One alignment from those of the two directions (Och and Ney 2003; Koehn et al. 2003).
#pragma once

#include <cstdint>

#include "syntax/alignment.h"

namespace treeglot {

enum class Symmetrization : std::uint8_t {
  intersection,
  union_,               // all links of either
  grow_diag,            // the intersection, grown by neighbouring links of the union to words that have none
  grow_diag_and,        // likewise, but both words must have none
  grow_diag_final,      // grown, then other links where a word has none, forward first
  grow_diag_final_and,  // likewise, but both words must have none
};

// Both alignments run from source to target. Growing visits the links in the order of source, then target, until a pass
// adds nothing. A link that was added is itself grown from in the same pass when it comes later.
Alignment symmetrize(const Alignment& forward, const Alignment& backward, Symmetrization method);

}  // namespace treeglot
