#include "align/sentence_pairs.h"

#include <algorithm>

namespace treeglot {

void SentencePairs::append(std::span<const std::string_view> source, std::span<const std::string_view> target) {
  if (source.empty() || target.empty()) {
    ++empty_;
  } else if (std::max(source.size(), target.size()) > longest_) {
    ++long_pairs_;
  } else {
    for (const std::string_view word : source) source_.push_back(source_words_.intern(word));
    for (const std::string_view word : target) target_.push_back(target_words_.intern(word));
  }
  source_begin_.push_back(source_.size());
  target_begin_.push_back(target_.size());
}

std::uint64_t SentencePairs::checksum() const {
  std::uint64_t sum = 0;
  for (const Symbols* words : {&source_words_, &target_words_})
    for (Symbol word = 0; word < words->size(); ++word) sum = hash_bytes(words->text(word), sum);
  for (const auto* words : {&source_, &target_}) sum = hash_values(std::span<const Symbol>(*words), sum);
  for (const auto* begin : {&source_begin_, &target_begin_})
    sum = hash_values(std::span<const std::uint64_t>(*begin), sum);
  return sum;
}

}  // namespace treeglot
