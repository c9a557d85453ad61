// How many phrase pairs are left when they must be constituents (Chiang 2010, table 1).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include "rules/extractor.h"
#include "syntax/tree_batch.h"

namespace treeglot {

// Phrase pairs without unaligned words at their ends.
struct PhraseKinds {
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"pairs", "string_to_string", "nested", "tree_to_string", "string_to_tree", "tree_to_tree"});
  std::uint64_t pairs = 0;             // sentence pairs
  std::uint64_t string_to_string = 0;  // all of them
  std::uint64_t nested = 0;            // the most that do not cross each other
  std::uint64_t tree_to_string = 0;    // whose source side is a constituent
  std::uint64_t string_to_tree = 0;    // whose target side is
  std::uint64_t tree_to_tree = 0;      // both
};

// Counts phrases of up to `max_phrase` source words, and takes no rules. A sentence takes time in the cube of that or
// of its length.
class PhraseKindCounter final : public CountingExtractor<PhraseKinds> {
 public:
  // Refuses batches whose size is not the bitext's.
  PhraseKindCounter(std::shared_ptr<const Bitext> bitext, std::shared_ptr<const TreeBatch> source,
                    std::shared_ptr<const TreeBatch> target, std::uint32_t max_phrase);

 private:
  Worker worker() const override;

  std::shared_ptr<const TreeBatch> source_, target_;
  std::uint32_t max_phrase_;
};

}  // namespace treeglot
