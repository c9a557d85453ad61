// How many phrase pairs are left when they must be constituents (Chiang 2010, table 1).
#pragma once

#include <cstdint>

#include "rules/bitext.h"
#include "rules/phrase.h"
#include "syntax/tree_batch.h"

namespace treeglot {

// Phrase pairs without unaligned words at their ends.
struct PhraseKinds {
  std::uint64_t pairs = 0;             // sentence pairs
  std::uint64_t string_to_string = 0;  // all of them
  std::uint64_t nested = 0;            // the most that do not cross each other
  std::uint64_t tree_to_string = 0;    // whose source side is a constituent
  std::uint64_t string_to_tree = 0;    // whose target side is
  std::uint64_t tree_to_tree = 0;      // both

  PhraseKinds& operator+=(const PhraseKinds& other);
};

// Phrases of up to `max_phrase` source words; a sentence takes time in the cube of that or of its length. Refuses
// batches whose size is not the bitext's.
PhraseKinds count_phrase_kinds(const Bitext& bitext, const TreeBatch& source, const TreeBatch& target,
                               std::uint32_t max_phrase, unsigned threads);

}  // namespace treeglot
