#include "lm/suffix_sorter.h"

#include "lm/special_words.h"

namespace treeglot {

SuffixSorter::SuffixSorter(std::span<const Symbol> words, std::size_t vocabulary)
    : words_(words), begins_(vocabulary + 1), entries_(words.size()), spare_(words.size()) {
  for (const Symbol word : words) ++begins_[word + 1];
  for (std::size_t word = 0; word < vocabulary; ++word) begins_[word + 1] += begins_[word];
  std::vector<std::uint32_t> next(begins_.begin(), begins_.end() - 1);
  for (std::uint32_t i = 0; i < words.size(); ++i) entries_[next[words[i]]++] = {i, kNone};
}

void SuffixSorter::deepen(const std::uint32_t* labels) {
  constexpr std::size_t kAhead = 24;  // entries; the words are read in no order that the processor could guess
  const std::size_t size = entries_.size();
  std::vector<std::uint32_t> next(begins_.begin(), begins_.end() - 1);
  for (std::size_t i = 0; i < size; ++i) {
    if (i + kAhead < size) __builtin_prefetch(words_.data() + entries_[i + kAhead].position);
    const std::uint32_t position = entries_[i].position + 1;
    if (position == size || words_[position] == kSentenceBegin) continue;
    spare_[next[words_[position]]++] = {position, labels == nullptr ? kNone : labels[i]};
  }
  for (std::uint32_t i = begins_[kSentenceBegin]; i < begins_[kSentenceBegin + 1]; ++i) {
    spare_[i] = {entries_[i].position, kNone};
  }
  entries_.swap(spare_);
}

}  // namespace treeglot
