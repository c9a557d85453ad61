#include "lm/ngram_counts.h"

#include <algorithm>

#include "lm/special_words.h"
#include "lm/suffix_sorter.h"

namespace treeglot {
namespace {

constexpr std::uint32_t kNone = SuffixSorter::kNone;

// A k-gram is the pair of its context and its last k − 1 words. Equal ones are neighbours.
struct Boundary {
  std::uint32_t context = kNone, lower = kNone;

  // Whether a new k-gram begins at an entry; false too where there is none, because the text begins there.
  bool step(std::uint32_t next_context, std::uint32_t next_lower) {
    const bool begins = next_context != kNone && (next_context != context || next_lower != lower);
    context = next_context;
    lower = next_lower;
    return begins;
  }
};

// The plain count of the last n-gram of an order, if the last position in sorting order ends one; 0 if not. The program
// lmplz enters that n-gram into the counts of counts with its plain count. It is one n-gram of an order, but in a small
// text it moves the discounts, and our estimates should agree with those of lmplz.
using LastCount = std::uint64_t;

LastCount count_unigrams(std::span<const Symbol> words, std::size_t vocabulary, std::uint64_t threshold,
                         NgramCounts& counts) {
  counts.unigrams.resize(vocabulary);
  for (const Symbol word : words) ++counts.unigrams[word];
  counts.unigrams[kSentenceBegin] = 0;
  if (threshold > 0) {
    counts.pruned_unigrams.resize(vocabulary);
    for (std::size_t word = std::size(kSpecialWords); word < vocabulary; ++word) {
      counts.pruned_unigrams[word] = counts.unigrams[word] <= threshold;
    }
  }
  return counts.unigrams.back();
}

// Adds the k-grams. In: the entries by k words, each with the number of its context; the numbers of the (k−1)-grams in
// `labels`. Out: those of the k-grams in `labels`.
LastCount count_order(std::span<const SuffixSorter::Entry> entries, std::vector<std::uint32_t>& labels,
                      std::uint64_t threshold, std::size_t contexts, NgramCounts& counts) {
  std::size_t size = 0;
  Boundary boundary;
  for (std::size_t i = 0; i < entries.size(); ++i) size += boundary.step(entries[i].carried, labels[i]);

  OrderCounts& order = counts.orders.emplace_back();
  std::vector<std::uint32_t>& positions = counts.positions.emplace_back();
  order.contexts = contexts;
  order.context.resize(size);
  order.lower.resize(size);
  order.count.resize(size);
  positions.resize(size);

  boundary = {};
  std::uint32_t number = kNone;  // of the current k-gram; the first is 0
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (boundary.step(entries[i].carried, labels[i])) {
      ++number;
      order.context[number] = boundary.context;
      order.lower[number] = boundary.lower;
      positions[number] = entries[i].position;
    }
    if (boundary.context == kNone) {
      labels[i] = kNone;
    } else {
      ++order.count[number];
      labels[i] = number;
    }
  }
  if (threshold > 0) {
    order.pruned.resize(size);
    for (std::size_t i = 0; i < size; ++i) order.pruned[i] = order.count[i] <= threshold;
  }
  return labels.back() == kNone ? 0 : order.count.back();
}

// Replaces plain counts by the number of n-grams of the order above that end in each; those that none extends begin
// with <s>.
template <class Count>
void adjust(std::vector<Count>& count, std::span<const std::uint32_t> extended) {
  std::uint32_t last = kNone;
  for (const std::uint32_t lower : extended) {
    if (lower == last) {
      ++count[lower];
    } else {
      count[lower] = 1;
      last = lower;
    }
  }
}

template <class Count>
CountsOfCounts histogram(const std::vector<Count>& count, LastCount last) {
  CountsOfCounts result;
  for (std::size_t i = 0; i + 1 < count.size(); ++i) result.add(count[i]);
  if (!count.empty()) result.add(last > 0 ? last : count.back());
  return result;
}

}  // namespace

NgramCounts count_ngrams(std::span<const Symbol> words, std::size_t vocabulary,
                         std::span<const std::uint64_t> thresholds) {
  NgramCounts counts;
  const std::size_t highest = thresholds.size();
  LastCount last = count_unigrams(words, vocabulary, thresholds[0], counts);
  if (highest > 1) {
    SuffixSorter sorter(words, vocabulary);
    std::vector<std::uint32_t> labels(words.size());
    std::size_t contexts = vocabulary;
    for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = words[sorter.entries()[i].position];
    for (std::size_t order = 2; order <= highest; ++order) {
      sorter.deepen(labels.data(), order == highest);
      const LastCount next_last = count_order(sorter.entries(), labels, thresholds[order - 1], contexts, counts);
      const std::vector<std::uint32_t>& extended = counts.orders.back().lower;
      if (order == 2) {
        adjust(counts.unigrams, extended);
        counts.counts_of_counts.push_back(histogram(counts.unigrams, last));
      } else {
        std::vector<std::uint32_t>& below = counts.orders[order - 3].count;
        adjust(below, extended);
        counts.counts_of_counts.push_back(histogram(below, last));
      }
      last = next_last;
      contexts = counts.orders.back().size();
    }
  }
  // Counts of the highest order are plain already.
  counts.counts_of_counts.push_back(highest == 1 ? histogram(counts.unigrams, 0)
                                                 : histogram(counts.orders.back().count, 0));
  return counts;
}

}  // namespace treeglot
