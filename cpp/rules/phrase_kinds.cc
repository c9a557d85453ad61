#include "rules/phrase_kinds.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "base/thread_pool.h"
#include "rules/frontier.h"
#include "syntax/category.h"

namespace treeglot {
namespace {

// The most phrases no two of which cross: of all ways to bracket the source side the one that brackets most of them.
// Tight phrase pairs that nest, or are apart, on the source side are so on the target side too.
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

PhraseKinds& PhraseKinds::operator+=(const PhraseKinds& other) {
  pairs += other.pairs;
  string_to_string += other.string_to_string;
  nested += other.nested;
  tree_to_string += other.tree_to_string;
  string_to_tree += other.string_to_tree;
  tree_to_tree += other.tree_to_tree;
  return *this;
}

PhraseKinds count_phrase_kinds(const Bitext& bitext, const TreeBatch& source, const TreeBatch& target,
                               std::uint32_t max_phrase, unsigned threads) {
  if (source.size() != bitext.size() || target.size() != bitext.size())
    throw std::invalid_argument("there must be a tree on both sides for each sentence pair");
  constexpr std::size_t kChunk = 64;
  PhraseKinds sum;
  ordered_map((bitext.size() + kChunk - 1) / kChunk, threads,
              [&](std::size_t chunk) {
                PhraseKinds out;
                Frontier frontier;
                CategoryFinder f, e;
                std::vector<PhrasePair> phrases;
                for (std::size_t pair = chunk * kChunk; pair < std::min(bitext.size(), (chunk + 1) * kChunk); ++pair) {
                  ++out.pairs;
                  const std::size_t words = bitext.source(pair).size(), target_words = bitext.target(pair).size();
                  frontier.assign(bitext.links(pair), words, target_words);
                  phrases.clear();
                  append_phrase_pairs(frontier, {max_phrase, kNoLimit, 0, 0}, phrases);
                  if (phrases.empty()) continue;
                  f.assign(source[pair], words);
                  e.assign(target[pair], target_words);
                  out.string_to_string += phrases.size();
                  out.nested += most_nested(phrases, words, max_phrase);
                  for (const PhrasePair& phrase : phrases) {
                    const bool from = !f.empty() && f.is_constituent(phrase.source);
                    const bool to = !e.empty() && e.is_constituent(phrase.target);
                    out.tree_to_string += from ? 1 : 0;
                    out.string_to_tree += to ? 1 : 0;
                    out.tree_to_tree += from && to ? 1 : 0;
                  }
                }
                return out;
              },
              [&](std::size_t, const PhraseKinds& found) { sum += found; });
  return sum;
}

}  // namespace treeglot
