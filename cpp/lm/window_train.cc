#include "lm/window_train.h"

#include <algorithm>

#include "lm/special_words.h"

namespace treeglot {
namespace {

bool before(std::span<const Symbol> a, std::span<const Symbol> b) {
  return std::lexicographical_compare(a.rbegin(), a.rend(), b.rbegin(), b.rend());
}

// The n-grams of an order with their probabilities, and the contexts of the order above with their weights, as one list
// in order. The highest order has no contexts.
class OrderMerger {
 public:
  OrderMerger(unsigned order, bool highest) : highest_(highest) { batch_.order = order; }

  void merge(const NgramList& ngrams, std::span<const float> probability, const NgramList& contexts,
             std::span<const ContextWeight> weights) {
    std::size_t n = 0, c = 0;
    while (n < ngrams.size() || c < contexts.size()) {
      const bool ngram = n < ngrams.size() && (c == contexts.size() || !before(contexts[c], ngrams[n]));
      const bool context = c < contexts.size() && (n == ngrams.size() || !before(ngrams[n], contexts[c]));
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
