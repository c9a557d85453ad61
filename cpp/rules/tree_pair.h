// Exact tree-to-tree extraction (2.1 of the t2t page): pairs of subtrees that are phrase pairs, and their remainders
// when others are taken out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/symbol_lists.h"
#include "rules/category_labels.h"
#include "rules/extractor.h"
#include "rules/frontier.h"
#include "syntax/tree_batch.h"

namespace treeglot {

// Declared, with defaults, help and ranges, in treeglot.rules.tree_pair.
struct TreePairOptions {
  Limit max_frontier;  // frontier nodes on the source side
  // Rules of one pair of nodes. One that has more gives only those with fewer frontier nodes: unary chains on both
  // sides multiply the labels that every substitution node can have.
  Limit max_rules;
};

struct TreePairCounts {
  static constexpr auto kNames =
      std::to_array<std::string_view>({"pairs", "unlinked", "unparsed", "nodes", "limited", "rules"});
  std::uint64_t pairs = 0;  // sentence pairs read
  std::uint64_t unlinked = 0;
  std::uint64_t unparsed = 0;  // of them without a tree on some side, which give nothing
  std::uint64_t nodes = 0;     // pairs of nodes
  std::uint64_t limited = 0;   // of them with more rules than max_rules
  std::uint64_t rules = 0;     // taken
};

// Rules are flat: a left-hand side and variables whose labels join a source and a target label, NP~NP. The notes have
// the labels apart, Yf Ye X1f X1e …, and then both trees as tokens. A token "(NP" opens a node, ")" closes it, and "*"
// is the next symbol of the rule's side.
class TreePairExtractor final : public CountingExtractor<TreePairCounts> {
 public:
  TreePairExtractor(std::shared_ptr<const Bitext> bitext, std::shared_ptr<const TreeBatch> source,
                    std::shared_ptr<const TreeBatch> target, const TreePairOptions& options);
  ~TreePairExtractor() override;

  Strings labels() const override;  // those given so far
  Strings keys() const override { return texts_of(joint_); }
  void number_keys(const Strings& keys) override {
    check_pair_keys(keys, labels_);
    intern_all(keys, joint_);
  }

  struct PairTrees;  // the trees of a pair, and the pairs of nodes that rules may begin and end at

 private:
  Worker worker() const override;
  // Finds the pairs of nodes, so that joint labels are numbered in the order of the sentences.
  void prepare(std::size_t begin, std::size_t end, unsigned threads) override;
  PairTrees find_pairs(std::size_t pair, Symbols& joint) const;

  std::shared_ptr<const TreeBatch> source_, target_;
  TreePairOptions options_;
  TreeLabels labels_;
  Symbols joint_;  // pairs of labels, as bytes
  // Of the pairs prepared.
  std::size_t first_ = 0;
  std::vector<PairTrees> trees_;
};

}  // namespace treeglot
