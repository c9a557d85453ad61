#include "lm/ngram_mix.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "lm/backoff_tables.h"
#include "lm/ngram_bulk.h"
#include "lm/special_words.h"

namespace treeglot {
namespace {

void check_weights(std::size_t models, std::span<const double> weights) {
  double sum = 0;
  for (const double weight : weights) sum += weight;
  if (models == 0 || weights.size() != models)
    throw std::invalid_argument(std::to_string(weights.size()) + " weights for " + std::to_string(models) +
                                " models; expected one for each, and a model at least");
  if (std::ranges::any_of(weights, [](double weight) { return !(weight >= 0); }) || !(std::abs(sum - 1) < 1e-6))
    throw std::invalid_argument("the weights sum to " + std::to_string(sum) +
                                "; expected weights of at least 0 that sum to 1");
}

// Adds weight · P(w | h) for the n-grams of an order. `ids` are the model's numbers of words.
void add_model(const NgramModel& model, std::span<const WordId> ids, double weight, BackoffOrder& order) {
  const unsigned n = order.ngrams.length, width = std::min(n, model.order());
  std::vector<WordId> rows;
  for (std::size_t begin = 0; begin < order.ngrams.size(); begin += kBatch) {
    const std::size_t end = std::min(order.ngrams.size(), begin + kBatch);
    rows.clear();
    for (std::size_t i = begin; i < end; ++i)
      for (const Symbol word : order.ngrams[i].last(width)) rows.push_back(ids[word]);
    const std::vector<float> log10 = score_ngrams(model, rows, width);
    for (std::size_t i = begin; i < end; ++i) {
      const Symbol word = order.ngrams[i].back();
      if (word != kUnknownWord && ids[word] == 0) continue;
      order.probability[i] += weight * std::pow(10, double{log10[i - begin]});
    }
  }
}

}  // namespace

EstimatedNgrams mix_ngrams(std::span<const NgramModel* const> models, std::span<const double> weights) {
  check_weights(models.size(), weights);
  std::vector<std::vector<WordId>> ids;
  BackoffTables tables = unite(models, ids);
  for (BackoffOrder& order : tables.orders)
    for (std::size_t m = 0; m < models.size(); ++m) add_model(*models[m], ids[m], weights[m], order);
  BackoffOrder& words = tables.orders[0];
  words.probability[words.find(std::span(&kSentenceBegin, 1))] = 1;  // never asked for; as training writes it
  tables.renormalise();
  return std::move(tables).finish();
}

}  // namespace treeglot
