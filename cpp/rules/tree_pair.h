// Exact tree-to-tree extraction (2.1 of the t2t page): pairs of subtrees that are phrase pairs, and what is left of
// them when others are taken out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/strings.h"
#include "rules/bitext.h"
#include "rules/category_labels.h"
#include "rules/phrase.h"
#include "rules/tally.h"
#include "syntax/tree_batch.h"

namespace treeglot {

struct TreePairOptions {
  std::uint32_t max_frontier = 7;  // frontier nodes on the source side (Chiang 2010, 4.1)
  // Rules of one pair of nodes. One that has more gives only those with fewer frontier nodes: unary chains on both
  // sides multiply the labels that every substitution node can have.
  std::uint32_t max_rules = 100;
};

struct TreePairCounts {
  std::uint64_t pairs = 0;  // sentence pairs read
  std::uint64_t unlinked = 0;
  std::uint64_t unparsed = 0;  // of them without a tree on some side, which give nothing
  std::uint64_t nodes = 0;     // pairs of nodes
  std::uint64_t limited = 0;   // of them with more rules than max_rules
  std::uint64_t rules = 0;     // taken

  TreePairCounts& operator+=(const TreePairCounts& other);
};

// Rules are flat: a left-hand side and variables whose labels join a source and a target label, NP~NP. Noted beside
// them are the labels apart, Yf Ye X1f X1e …, and then both trees as tokens: "(NP" opens a node, ")" closes it, "*" is
// the next symbol of the rule's side.
class TreePairExtractor {
 public:
  TreePairExtractor(std::shared_ptr<const Bitext> bitext, std::shared_ptr<const TreeBatch> source,
                    std::shared_ptr<const TreeBatch> target, const TreePairOptions& options);

  // As extract_hiero does.
  std::size_t extract(std::size_t begin, Tally& tally, std::size_t memory, unsigned threads, TreePairCounts& counts);

  Strings texts() const;  // of the labels given so far, by number

 private:
  std::shared_ptr<const Bitext> bitext_;
  std::shared_ptr<const TreeBatch> source_, target_;
  TreePairOptions options_;
  TreeLabels labels_;
  Symbols joint_;  // pairs of labels, as bytes
};

}  // namespace treeglot
