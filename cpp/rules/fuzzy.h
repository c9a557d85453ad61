// Fuzzy tree-to-tree extraction: every phrase of Hiero's rules has a source and a target category, whatever its span
// (2.2 of the t2t page). With nesting phrases, only one of those that cross is used (2.3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/symbol_lists.h"
#include "rules/category_labels.h"
#include "rules/hiero.h"
#include "syntax/tree_batch.h"

namespace treeglot {

struct FuzzyOptions {
  bool nesting = false;
  bool hard = false;  // target categories are part of the rules (Zollmann and Venugopal 2006), nothing is noted
};

// Which words are punctuation, by number; nothing is where there are no flags.
struct Punctuation {
  std::vector<std::uint8_t> source, target;
};

class FuzzyLabels final : public PhraseLabels {
 public:
  // A tree for each pair of the bitext; refuses numbers that differ from it.
  FuzzyLabels(const Bitext& bitext, std::shared_ptr<const TreeBatch> source, std::shared_ptr<const TreeBatch> target,
              Punctuation punctuation, const FuzzyOptions& options);

  void prepare(const Bitext& bitext, std::size_t begin, std::size_t end, const PhraseLimits& limits,
               unsigned threads) override;
  View of(std::size_t pair, const Frontier& frontier, const PhraseLimits& limits, LabelledPhrases& room) const override;
  bool noted() const override { return !options_.hard; }
  Strings labels() const override;  // those given so far
  Strings keys() const override { return texts_of(keys_); }
  void number_keys(const Strings& keys) override {
    check_category_keys(keys, labels_);
    intern_all(keys, keys_);
  }

 private:
  struct Chunk;
  Chunk label_chunk(const Bitext& bitext, std::size_t begin, std::size_t end, const PhraseLimits& limits) const;

  std::shared_ptr<const TreeBatch> source_, target_;
  Punctuation punctuation_;
  FuzzyOptions options_;
  TreeLabels labels_;
  Symbols keys_;  // of categories; their numbers are one more
  // Of the pairs prepared.
  std::size_t first_ = 0;
  std::vector<std::size_t> ends_;
  LabelledPhrases prepared_;
};

// What the order of 2.3 asks of a phrase pair.
struct PhraseRank {
  std::uint32_t complex = 0;  // sides that are not constituents
  std::uint32_t crossed = 0;  // constituents that the two sides cross
  bool punctuated = false;    // a side begins or ends with punctuation
};

// Which phrases are accepted: those that cross no phrase accepted before, on either side. They are visited by rank.
// Equals are visited from right to left on the source side.
std::vector<std::uint8_t> select_nesting(std::span<const PhrasePair> phrases, std::span<const PhraseRank> ranks);

}  // namespace treeglot
