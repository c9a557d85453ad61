#include "rules/phrase_kinds.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "rules/frontier.h"
#include "syntax/category.h"

namespace treeglot {
namespace {

// The largest set of phrases without a crossing pair. It is the way to bracket the source side that brackets most of
// them. Tight phrase pairs that nest, or are apart, on the source side are so on the target side too.
std::uint64_t most_nested(std::span<const PhrasePair> phrases, std::size_t words, std::uint32_t max_phrase) {
  const std::size_t width = std::min<std::size_t>(words, max_phrase);
  std::vector<std::uint32_t> best(words * (width + 1), 0);
  const auto at = [&](std::size_t begin, std::size_t size) -> std::uint32_t& {
    return best[begin * (width + 1) + size];
  };
  for (const PhrasePair& phrase : phrases) at(phrase.source.begin, phrase.source.size()) = 1;
  for (std::size_t size = 2; size <= width; ++size) {
    for (std::size_t begin = 0; begin + size <= words; ++begin) {
      std::uint32_t most = 0;
      for (std::size_t left = 1; left < size; ++left)
        most = std::max(most, at(begin, left) + at(begin + left, size - left));
      at(begin, size) += most;
    }
  }
  std::vector<std::uint64_t> whole(words + 1, 0);
  for (std::size_t end = 1; end <= words; ++end) {
    for (std::size_t size = 1; size <= std::min(width, end); ++size)
      whole[end] = std::max(whole[end], whole[end - size] + at(end - size, size));
  }
  return whole[words];
}

}  // namespace

PhraseKindCounter::PhraseKindCounter(std::shared_ptr<const Bitext> bitext, std::shared_ptr<const TreeBatch> source,
                                     std::shared_ptr<const TreeBatch> target, std::uint32_t max_phrase)
    : CountingExtractor(std::move(bitext)),
      source_(std::move(source)),
      target_(std::move(target)),
      max_phrase_(max_phrase) {
  this->bitext().check_size(source_->size(), "source trees");
  this->bitext().check_size(target_->size(), "target trees");
}

PhraseKindCounter::Worker PhraseKindCounter::worker() const {
  return [this, frontier = Frontier(), f = CategoryFinder(), e = CategoryFinder(), phrases = std::vector<PhrasePair>()](
             std::size_t pair, Occurrences&, PhraseKinds& counts) mutable {
    ++counts.pairs;
    const std::size_t words = bitext().source(pair).size(), target_words = bitext().target(pair).size();
    frontier.assign(bitext().links(pair), words, target_words);
    phrases.clear();
    append_phrase_pairs(frontier, {max_phrase_, kNoLimit, 0, 0}, phrases);
    if (phrases.empty()) return;
    f.assign((*source_)[pair], words);
    e.assign((*target_)[pair], target_words);
    counts.string_to_string += phrases.size();
    counts.nested += most_nested(phrases, words, max_phrase_);
    for (const PhrasePair& phrase : phrases) {
      const bool from = !f.empty() && f.is_constituent(phrase.source);
      const bool to = !e.empty() && e.is_constituent(phrase.target);
      counts.tree_to_string += from ? 1 : 0;
      counts.string_to_tree += to ? 1 : 0;
      counts.tree_to_tree += from && to ? 1 : 0;
    }
  };
}

}  // namespace treeglot
