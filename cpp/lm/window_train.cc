#include "lm/window_train.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "lm/special_words.h"

namespace treeglot {

namespace {

// The contexts of n-grams, and for each n-gram the number of its own.
std::vector<std::uint32_t> number_contexts(const NgramList& ngrams, std::size_t vocabulary, NgramList& contexts) {
  contexts.length = ngrams.length - 1;
  std::vector<std::uint32_t> numbers(ngrams.size());
  for (const std::uint32_t i : sorted_backwards(ngrams, contexts.length, vocabulary)) {
    const auto context = ngrams[i].first(contexts.length);
    if (is_new(contexts, context)) append(contexts, context);
    numbers[i] = static_cast<std::uint32_t>(contexts.size() - 1);
  }
  return numbers;
}

}  // namespace

void WindowCounts::add(std::span<const Symbol> window, std::uint32_t count) {
  if (window.empty() || window.size() > rows_.size()) {
    throw std::invalid_argument("a window of " + std::to_string(window.size()) + " words; expected 1 to " +
                                std::to_string(rows_.size()));
  }
  Rows& rows = rows_[window.size() - 1];
  if (rows.counts.size() == rows.limit) {
    combine(rows, std::size_t{*std::ranges::max_element(rows.list.words)} + 1);
    if (rows.counts.size() > rows.limit / 2) rows.limit *= 2;
  }
  append(rows.list, window);
  rows.counts.push_back(count);
  total_ += count;
}

// Puts the windows in order and adds up equal ones.
void WindowCounts::combine(Rows& rows, std::size_t vocabulary) {
  const NgramList& list = rows.list;
  NgramList different{list.length, {}};
  std::vector<std::uint32_t> counts;
  for (const std::uint32_t i : sorted_backwards(list, list.length, vocabulary)) {
    if (is_new(different, list[i])) {
      append(different, list[i]);
      counts.push_back(rows.counts[i]);
    } else if (counts.back() > std::numeric_limits<std::uint32_t>::max() - rows.counts[i]) {
      throw std::invalid_argument("a window is counted more than 4294967295 times");
    } else {
      counts.back() += rows.counts[i];
    }
  }
  rows.list = std::move(different);
  rows.counts = std::move(counts);
}

namespace {

// Adds n-grams to a sorted list with counts; all are new. Gives the new place of each n-gram that was there.
std::vector<std::uint32_t> merge_into(NgramList& list, std::vector<std::uint32_t>& counts, const NgramList& more,
                                      std::span<const std::uint32_t> more_counts) {
  NgramList merged{list.length, {}};
  std::vector<std::uint32_t> merged_counts, places;
  std::size_t i = 0, k = 0;
  while (i < list.size() || k < more.size()) {
    const bool old = k == more.size() || (i < list.size() && before_backwards(list[i], more[k]));
    if (!old && i < list.size() && !before_backwards(more[k], list[i])) {
      throw std::invalid_argument(
          "a longer window ends in a shorter one; expected none to stand before its first word");
    }
    if (old) places.push_back(static_cast<std::uint32_t>(merged.size()));
    append(merged, old ? list[i] : more[k]);
    merged_counts.push_back(old ? counts[i] : more_counts[k]);
    ++(old ? i : k);
  }
  list = std::move(merged);
  counts = std::move(merged_counts);
  return places;
}

}  // namespace

WindowTables WindowCounts::tables(std::size_t vocabulary) {
  for (Rows& rows : rows_) combine(rows, vocabulary);
  const std::size_t length = rows_.size();
  WindowTables tables;
  tables.ngrams.resize(length);
  tables.contexts.resize(length - 1);
  tables.orders.resize(length - 1);
  tables.counts_of_counts.resize(length);
  tables.ngrams.back() = std::move(rows_.back().list);
  std::vector<std::uint32_t> count = std::move(rows_.back().counts);
  for (std::size_t order = length; order > 1; --order) {
    const NgramList& ngrams = tables.ngrams[order - 1];
    OrderCounts& here = tables.orders[order - 2];
    NgramList& below = tables.ngrams[order - 2];
    below.length = ngrams.length - 1;
    std::vector<std::uint32_t> extensions;
    here.lower.reserve(ngrams.size());
    for (std::size_t i = 0; i < ngrams.size(); ++i) {
      const auto lower = ngrams[i].last(below.length);
      if (is_new(below, lower)) {
        append(below, lower);
        extensions.push_back(0);
      }
      ++extensions.back();
      here.lower.push_back(static_cast<std::uint32_t>(below.size() - 1));
    }
    const Rows& shorter = rows_[order - 2];
    if (!shorter.counts.empty()) {
      const auto places = merge_into(below, extensions, shorter.list, shorter.counts);
      for (std::uint32_t& lower : here.lower) lower = places[lower];
    }
    here.context = number_contexts(ngrams, vocabulary, tables.contexts[order - 2]);
    here.contexts = tables.contexts[order - 2].size();
    for (const std::uint32_t c : count) tables.counts_of_counts[order - 1].add(c);
    here.count = std::exchange(count, std::move(extensions));
  }
  tables.unigrams.resize(vocabulary);
  for (std::size_t i = 0; i < count.size(); ++i) {
    tables.unigrams[tables.ngrams[0][i][0]] = count[i];
    tables.counts_of_counts[0].add(count[i]);
  }
  // From places in the list to words: the lower n-grams of bigrams are words.
  if (length > 1) {
    for (std::uint32_t& lower : tables.orders[0].lower) lower = tables.ngrams[0][lower][0];
  }
  return tables;
}

namespace {

// The n-grams of an order with their probabilities, and the contexts of the order above with their weights, as one list
// in order. The highest order has no contexts.
class OrderMerger {
 public:
  OrderMerger(unsigned order, bool highest) : highest_(highest) { batch_.order = order; }

  void merge(const NgramList& ngrams, std::span<const float> probability, const NgramList& contexts,
             std::span<const ContextWeight> weights) {
    std::size_t n = 0, c = 0;
    while (n < ngrams.size() || c < contexts.size()) {
      const bool ngram = n < ngrams.size() && (c == contexts.size() || !before_backwards(contexts[c], ngrams[n]));
      const bool context = c < contexts.size() && (n == ngrams.size() || !before_backwards(ngrams[n], contexts[c]));
      add(ngram ? ngrams[n] : contexts[c], ngram ? probability[n] : 0.0f, context ? weights[c].backoff : 1.0f);
      n += ngram;
      c += context;
    }
  }

  void add(std::span<const Symbol> words, float probability, float backoff) {
    batch_.words.insert(batch_.words.end(), words.begin(), words.end());
    batch_.log10_probability.push_back(log10_of(probability));
    if (!highest_) batch_.log10_backoff.push_back(log10_of(backoff));
  }

  NgramBatch done() { return std::move(batch_); }

 private:
  bool highest_;
  NgramBatch batch_;
};

}  // namespace

WindowModel estimate_windows(WindowTables tables, const Symbols& vocabulary, const std::vector<bool>& predicted,
                             const FallbackDiscounts& fallback) {
  WindowModel model;
  const auto highest = static_cast<unsigned>(tables.ngrams.size());
  for (unsigned order = 1; order <= highest; ++order) {
    model.discounts.push_back(estimate_discounts(tables.counts_of_counts[order - 1], order, fallback));
  }
  for (Symbol word = 0; word < vocabulary.size(); ++word) model.ngrams.vocabulary.intern(vocabulary.text(word));

  // Every word that can be predicted is a unigram, seen or not; the special words are always there.
  const auto events = static_cast<std::size_t>(std::count(predicted.begin(), predicted.end(), true));
  std::vector<float> below = estimate_unigrams(tables.unigrams, {}, events, model.discounts[0]);
  NgramList words{1, {}};
  std::vector<float> probability;
  for (Symbol word = 0; word < vocabulary.size(); ++word) {
    if (!predicted[word] && word >= std::size(kSpecialWords)) continue;
    words.words.push_back(word);
    probability.push_back(predicted[word] ? below[word] : 0.0f);
  }
  tables.ngrams[0] = std::move(words);

  for (unsigned order = 1; order <= highest; ++order) {
    OrderEstimate above;
    NgramList no_contexts;
    if (order < highest) above = estimate_order(tables.orders[order - 1], model.discounts[order], below);
    OrderMerger merger(order, order == highest);
    merger.merge(tables.ngrams[order - 1], probability, order < highest ? tables.contexts[order - 1] : no_contexts,
                 above.weights);
    model.ngrams.orders.push_back(merger.done());
    below = above.probability;
    probability = std::move(above.probability);
  }
  return model;
}

}  // namespace treeglot
