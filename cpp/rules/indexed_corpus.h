// Indexes of sentence pairs, one after the other, as one corpus: later ones hold pairs that were added.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/symbols.h"
#include "rules/pair_index.h"

namespace treeglot {

// Calls take(i) for at most `most` of the numbers below `size`, at even distances. 0 means all. Returns how many.
template <class Take>
std::uint64_t visit_evenly(std::uint64_t size, std::uint32_t most, const Take& take) {
  const std::uint64_t number = most == 0 || size <= most ? size : most;
  for (std::uint64_t i = 0; i < number; ++i) take(number == size ? i : i * size / number);
  return number;
}

class IndexedCorpus {
 public:
  // The words of one side: numbers of the corpus, and of each index. The first index keeps its numbers.
  class Words {
   public:
    void add(const IndexedText& text, Symbols& all);
    Symbol to_corpus(std::size_t index, Symbol word) const { return index == 0 ? word : to_corpus_[index][word]; }
    // kNone for a word that the index does not have.
    Symbol to_index(std::size_t index, Symbol word) const {
      return word < to_index_[index].size() ? to_index_[index][word] : index == 0 && word < first_ ? word : kNone;
    }

   private:
    std::vector<std::vector<Symbol>> to_corpus_, to_index_;
    Symbol first_ = 0;  // words of the first index
  };
  static constexpr Symbol kNone = Symbols::kNone;

  // Refuses an empty list, and indexes with different options.
  explicit IndexedCorpus(std::vector<std::shared_ptr<const PairIndex>> indexes);

  std::size_t size() const { return indexes_.size(); }
  const PairIndex& operator[](std::size_t index) const { return *indexes_[index]; }
  const PairIndex::Options& options() const { return indexes_.front()->options(); }
  std::uint64_t pairs() const;

  const Words& source() const { return source_; }
  const Words& target() const { return target_; }
  const Symbols& source_texts() const { return source_texts_; }  // by the corpus's numbers
  const Symbols& target_texts() const { return target_texts_; }

  // A phrase's number among those of all indexes: in the order in which extraction would take them.
  std::uint32_t phrase(std::size_t index, std::uint32_t number) const { return first_phrase_[index] + number; }

  // Of words by the corpus's numbers, as LexicalTable has it.
  LexicalTable::Both weight(Symbol source, Symbol target) const;

 private:
  std::vector<std::shared_ptr<const PairIndex>> indexes_;
  Symbols source_texts_, target_texts_;
  Words source_, target_;
  std::vector<std::uint32_t> first_phrase_;
  std::vector<std::uint64_t> source_totals_, target_totals_;  // links by word; NULL is the last
};

// Suffixes of all indexes that begin with the same words.
struct CorpusRange {
  std::vector<IndexedText::Range> ranges;  // by index

  std::uint64_t size() const {
    std::uint64_t sum = 0;
    for (const IndexedText::Range& range : ranges) sum += range.size();
    return sum;
  }
  // The index of the i-th suffix, and its number there.
  std::pair<std::size_t, std::uint32_t> at(std::uint64_t i) const {
    std::size_t index = 0;
    for (; i >= ranges[index].size(); ++index) i -= ranges[index].size();
    return {index, ranges[index].begin + static_cast<std::uint32_t>(i)};
  }
};

// A variable of a rule where it was found.
struct IndexedHole {
  std::uint32_t begin = 0, end = 0;  // source words
  std::uint32_t number = 0;          // of its phrase in the index
};

// The units of a rule whose phrase and holes, in source order, are given; 0 if they give no rule.
std::uint32_t rule_units(const PairIndex& index, std::uint32_t begin, const IndexedPhrase& phrase,
                         std::span<const IndexedHole> holes);

}  // namespace treeglot
