#include "align/cells.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace treeglot {
namespace {

// The tokens of a text, grouped by word.
struct Occurrences {
  std::vector<std::size_t> begin;     // of each word's
  std::vector<std::uint32_t> pairs;   // where they are
  std::vector<std::uint16_t> places;  // within the sentence
};

Occurrences source_occurrences(const SentencePairs& pairs) {
  Occurrences out;
  out.begin.resize(pairs.source_words().size() + 2);
  for (std::size_t pair = 0; pair < pairs.size(); ++pair)
    for (const Symbol word : pairs.source(pair)) ++out.begin[word + 2];
  std::partial_sum(out.begin.begin(), out.begin.end(), out.begin.begin());
  out.pairs.resize(pairs.source_tokens());
  out.places.resize(pairs.source_tokens());
  for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
    const std::span<const Symbol> words = pairs.source(pair);
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::size_t at = out.begin[words[i] + 1]++;
      out.pairs[at] = static_cast<std::uint32_t>(pair);
      out.places[at] = static_cast<std::uint16_t>(i);
    }
  }
  out.begin.pop_back();
  return out;
}

// What is known of a target word beside the current source word.
struct Seen {
  std::uint32_t count = 0, number = Cells::kNone;
};

// Counts the target words of the pairs that a source word occurs in. New ones go to `found`.
void count_targets(const SentencePairs& pairs, const Occurrences& at, Symbol source, std::vector<Seen>& seen,
                   std::vector<Symbol>& found) {
  for (std::size_t k = at.begin[source]; k < at.begin[source + 1]; ++k)
    for (const Symbol target : pairs.target(at.pairs[k]))
      if (seen[target].count++ == 0) found.push_back(target);
}

void number_row(std::span<const Symbol> targets, const std::vector<Seen>& seen, std::uint32_t* cells, std::size_t row) {
  cells += row * targets.size();
  for (std::size_t j = 0; j < targets.size(); ++j) cells[j] = seen[targets[j]].number;
}

}  // namespace

Cells::Cells(const SentencePairs& pairs, bool singles, const Others& others, const Wanted& wanted,
             const std::atomic<bool>* stop)
    : pairs_(pairs) {
  begin_.push_back(0);
  for (std::size_t pair = 0; pair < pairs.size(); ++pair)
    begin_.push_back(begin_.back() + pairs.source(pair).size() * pairs.target(pair).size());
  cells_.resize(begin_.back());
  const Occurrences at = source_occurrences(pairs);
  std::vector<Seen> seen(pairs.target_words().size());
  std::vector<Symbol> found;
  for (Symbol source = 0; source < pairs.source_words().size(); ++source) {
    if (stop != nullptr && *stop) return;
    first_.push_back(static_cast<std::uint32_t>(targets_.size()));
    const std::span<const Symbol> more = others ? others(source) : std::span<const Symbol>();
    found.assign(more.begin(), more.end());
    for (const Symbol target : more) seen[target].count = 2;
    count_targets(pairs, at, source, seen, found);
    const auto numbered = std::ranges::partition(
        found, [&](Symbol t) { return singles || seen[t].count > 1 || (wanted && wanted(source, t)); });
    const std::span<Symbol> kept(found.begin(), numbered.begin());
    std::ranges::sort(kept);
    if (targets_.size() + kept.size() > std::numeric_limits<std::uint32_t>::max())
      throw std::invalid_argument("the corpus has more than 2^32 different pairs of words");
    for (const Symbol target : kept) {
      seen[target].number = static_cast<std::uint32_t>(targets_.size());
      targets_.push_back(target);
    }
    for (std::size_t k = at.begin[source]; k < at.begin[source + 1]; ++k)
      number_row(pairs.target(at.pairs[k]), seen, cells_.data() + begin_[at.pairs[k]], at.places[k]);
    for (const Symbol target : found) seen[target] = {};
  }
  first_.push_back(static_cast<std::uint32_t>(targets_.size()));
}

DirectedPair Cells::forward(std::size_t pair) const {
  const std::span<const Symbol> source = pairs_.source(pair), target = pairs_.target(pair);
  return {source, target, cells_.data() + begin_[pair], target.size(), 1};
}

DirectedPair Cells::backward(std::size_t pair) const {
  const std::span<const Symbol> source = pairs_.source(pair), target = pairs_.target(pair);
  return {target, source, cells_.data() + begin_[pair], 1, target.size()};
}

}  // namespace treeglot
