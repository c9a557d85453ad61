#include "lm/ngram_prune.h"

#include <cmath>
#include <span>
#include <stdexcept>
#include <utility>

#include "lm/backoff_tables.h"
#include "lm/special_words.h"

namespace treeglot {
namespace {

// The probability of a context by itself.
double history(const BackoffTables& tables, std::span<const Symbol> words) {
  double product = 1;
  for (std::size_t n = 1; n <= words.size(); ++n) {
    const bool begins = n == 1 && words[0] == kSentenceBegin;
    product *= tables.probability(begins ? std::span(&kSentenceEnd, 1) : words.first(n));
  }
  return product;
}

// How much the perplexity grows, as a share, when an n-gram with probability `own` is left out. Without it, its word
// has the probability `lower` times the back-off weight.
double growth(double context, double own, double lower, const ContextMass& mass) {
  const double rest = std::max(mass.own, 0.0);
  const double after = std::log(ContextMass{rest + own, mass.lower + lower, true}.backoff());
  double change = own > 0 ? own * (std::log(lower) + after - std::log(own)) : 0;
  if (rest > 0) change += rest * (after - std::log(mass.backoff()));
  return std::expm1(-context * change);
}

// Which n-grams of an order stay; `needed` are those that a longer one begins with.
std::vector<bool> chosen(const BackoffTables& tables, std::size_t n, std::vector<bool> needed, double threshold) {
  const BackoffOrder &order = tables.orders[n - 1], &below = tables.orders[n - 2];
  const std::vector<ContextMass> masses = tables.masses(n);
  std::vector<double> histories(below.ngrams.size(), -1);
  for (std::size_t i = 0; i < order.ngrams.size(); ++i) {
    const auto words = order.ngrams[i];
    if (words.back() == kSentenceBegin) needed[i] = true;  // it has no probability that could change
    if (needed[i]) continue;
    const std::uint32_t context = below.find(words.first(n - 1));
    if (histories[context] < 0) histories[context] = history(tables, words.first(n - 1));
    const double lower = tables.probability(words.subspan(1));
    needed[i] = growth(histories[context], order.probability[i], lower, masses[context]) >= threshold;
  }
  return needed;
}

void keep(BackoffOrder& order, const std::vector<bool>& kept) {
  NgramList ngrams{order.ngrams.length, {}};
  std::vector<double> probability;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (!kept[i]) continue;
    append(ngrams, order.ngrams[i]);
    probability.push_back(order.probability[i]);
  }
  order.ngrams = std::move(ngrams);
  order.probability = std::move(probability);
  order.backoff.assign(order.ngrams.size(), 1);
  order.make_index();
}

}  // namespace

PrunedNgrams prune_ngrams(const NgramModel& model, double threshold) {
  if (!(threshold >= 0)) {
    throw std::invalid_argument("the threshold is " + std::to_string(threshold) + "; expected a number of at least 0");
  }
  BackoffTables tables = BackoffTables::of(model);
  PrunedNgrams out;
  std::vector<std::vector<bool>> kept;
  for (const BackoffOrder& order : tables.orders) {
    out.counted.push_back(order.ngrams.size());
    kept.emplace_back(order.ngrams.size(), threshold == 0);
  }
  for (std::size_t n = tables.orders.size(); n > 1; --n) {
    kept[n - 1] = chosen(tables, n, std::move(kept[n - 1]), threshold);
    for (std::size_t i = 0; i < kept[n - 1].size(); ++i) {
      if (kept[n - 1][i]) kept[n - 2][tables.orders[n - 2].find(tables.orders[n - 1].ngrams[i].first(n - 1))] = true;
    }
  }
  for (std::size_t n = 2; n <= tables.orders.size(); ++n) keep(tables.orders[n - 1], kept[n - 1]);
  while (tables.orders.size() > 1 && tables.orders.back().ngrams.size() == 0) tables.orders.pop_back();
  tables.renormalise();
  out.ngrams = std::move(tables).finish();
  return out;
}

}  // namespace treeglot
