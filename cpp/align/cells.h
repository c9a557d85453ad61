// The word pairs that occur together in a corpus, by number, and the numbers of all cells of its sentence pairs.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "align/sentence_pairs.h"

namespace treeglot {

class Cells {
 public:
  static constexpr std::uint32_t kNone = 0;  // the number of word pairs without one

  // Word pairs that occur in one cell alone have a number only with `singles`. A sampler needs none for them: when the
  // link of the cell is drawn, the pair has no other link. Two kinds of pairs always have a number: a source word with
  // the targets that `others` gives, in rising order, and those that are `wanted`. `stop`, if any, ends the work early;
  // the cells are of no use then.
  using Others = std::function<std::span<const Symbol>(Symbol source)>;
  using Wanted = std::function<bool(Symbol source, Symbol target)>;
  Cells(const SentencePairs& pairs, bool singles, const Others& others = {}, const Wanted& wanted = {},
        const std::atomic<bool>* stop = nullptr);

  std::size_t size() const { return targets_.size(); }  // numbers, kNone among them
  // The numbers of a source word's pairs are first(source) to first(source + 1), in the order of their target words.
  std::uint32_t first(Symbol source) const { return first_[source]; }
  Symbol target(std::uint32_t number) const { return targets_[number]; }

  DirectedPair forward(std::size_t pair) const;   // the source words are given
  DirectedPair backward(std::size_t pair) const;  // the target words are given
  DirectedPair pair(std::size_t pair, bool backwards) const { return backwards ? backward(pair) : forward(pair); }
  const SentencePairs& pairs() const { return pairs_; }

 private:
  const SentencePairs& pairs_;
  std::vector<std::uint64_t> begin_;  // of a pair's cells; row by row, a row for each source word
  std::vector<std::uint32_t> cells_;
  std::vector<std::uint32_t> first_;
  std::vector<Symbol> targets_ = {Symbols::kNone};
};

}  // namespace treeglot
