#include "lm/suffix_sorter.h"

#include "lm/special_words.h"

namespace treeglot {

SuffixSorter::SuffixSorter(std::span<const Symbol> words, std::size_t vocabulary)
    : words_(words), begins_(vocabulary + 1), positions_(words.size()), entries_(words.size()) {
  for (const Symbol word : words) ++begins_[word + 1];
  for (std::size_t word = 0; word < vocabulary; ++word) begins_[word + 1] += begins_[word];
  std::vector<std::uint32_t> next(begins_.begin(), begins_.end() - 1);
  for (std::uint32_t i = 0; i < words.size(); ++i) entries_[next[words[i]]++] = {i, kNone};
}

void SuffixSorter::deepen(const std::uint32_t* labels, bool last) {
  constexpr std::size_t kAhead = 24;  // entries; the words are read in no order that the processor could guess
  const std::size_t size = entries_.size();
  std::vector<std::uint32_t> next(begins_.begin(), begins_.end() - 1);
  for (std::size_t i = 0; i < size; ++i) positions_[i] = entries_[i].position;
  for (std::size_t i = 0; i < size; ++i) {
    if (i + kAhead < size) __builtin_prefetch(words_.data() + positions_[i + kAhead]);
    const std::uint32_t position = positions_[i] + 1;
    if (position == size || words_[position] == kSentenceBegin) continue;
    entries_[next[words_[position]]++] = {position, labels == nullptr ? kNone : labels[i]};
  }
  for (std::uint32_t i = begins_[kSentenceBegin]; i < begins_[kSentenceBegin + 1]; ++i) entries_[i].carried = kNone;
  if (last) positions_ = std::vector<std::uint32_t>();
}

}  // namespace treeglot
