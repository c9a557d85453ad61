#include "lm/backoff_tables.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "lm/ngram_bulk.h"
#include "lm/ngram_list.h"
#include "lm/special_words.h"

namespace treeglot {
namespace {

std::uint64_t hash_of(std::span<const Symbol> words) {
  std::uint64_t hash = 0;
  for (const Symbol word : words) hash = hash_number(hash + word + 1);
  return hash;
}

// Logarithms as the model file has them. 0 is written −99 as ARPA files do.
float to_log10(double value, double most) {
  constexpr double kZero = -99.0;
  return value > 0 ? static_cast<float>(std::clamp(std::log10(value), kZero, most)) : static_cast<float>(kZero);
}

}  // namespace

std::uint32_t BackoffOrder::find(std::span<const Symbol> words) const {
  return index.find(hash_of(words), [&](std::uint32_t i) { return std::ranges::equal(ngrams[i], words); });
}

void BackoffOrder::make_index() {
  index.clear();
  for (std::uint32_t i = 0; i < ngrams.size(); ++i)
    index.intern(hash_of(ngrams[i]), i, [](std::uint32_t) { return false; });
}

double ContextMass::backoff() const {
  // Probabilities have been rounded to floats, so a sum of 1 is one within this.
  constexpr double kNothing = 1e-6;
  if (!context || lower < kNothing) return 1;
  return std::max(own, 0.0) / lower;
}

BackoffTables::BackoffTables() {
  for (const std::string_view word : kSpecialWords) vocabulary.intern(word);
}

double BackoffTables::probability(std::span<const Symbol> words) const {
  double weight = 1;
  for (; !words.empty(); words = words.subspan(1)) {
    const BackoffOrder& order = orders[words.size() - 1];
    if (const std::uint32_t found = order.find(words); found != HashIndex::kNone) {
      return weight * order.probability[found];
    }
    if (words.size() == 1) break;
    const BackoffOrder& below = orders[words.size() - 2];
    const std::uint32_t context = below.find(words.first(words.size() - 1));
    if (context != HashIndex::kNone) weight *= below.backoff[context];
  }
  return 0;
}

std::vector<ContextMass> BackoffTables::masses(std::size_t n) const {
  const BackoffOrder &order = orders[n - 1], &below = orders[n - 2];
  std::vector<ContextMass> out(below.ngrams.size());
  for (std::size_t i = 0; i < order.ngrams.size(); ++i) {
    const auto words = order.ngrams[i];
    if (words.back() == kSentenceBegin) continue;  // it is never predicted
    const std::uint32_t context = below.find(words.first(n - 1));
    if (context == HashIndex::kNone) {
      throw std::invalid_argument("has a " + std::to_string(n) + "-gram without the n-gram that it begins with");
    }
    ContextMass& mass = out[context];
    mass.own -= order.probability[i];
    mass.lower -= probability(words.subspan(1));
    mass.context = true;
  }
  return out;
}

void BackoffTables::renormalise() {
  for (std::size_t n = 2; n <= orders.size(); ++n) {
    const std::vector<ContextMass> sums = masses(n);
    std::vector<double>& backoff = orders[n - 2].backoff;
    std::ranges::transform(sums, backoff.begin(), &ContextMass::backoff);
  }
}

EstimatedNgrams BackoffTables::finish() && {
  EstimatedNgrams out;
  for (BackoffOrder& order : orders) {
    NgramBatch& batch = out.orders.emplace_back();
    batch.order = order.ngrams.length;
    batch.words = std::move(order.ngrams.words);
    for (const double probability : order.probability) batch.log10_probability.push_back(to_log10(probability, 0));
    if (out.orders.size() == orders.size()) continue;
    for (const double backoff : order.backoff) batch.log10_backoff.push_back(to_log10(backoff, 99));
  }
  out.vocabulary = std::move(vocabulary);
  return out;
}

BackoffTables unite(std::span<const NgramModel* const> models, std::vector<std::vector<WordId>>& ids) {
  BackoffTables out;
  std::size_t order = 0;
  std::vector<std::vector<Symbol>> symbols;  // by model and number
  for (const NgramModel* const model : models) {
    if (model->classed() > 0) throw std::invalid_argument("is a model over classes of words; expected one over words");
    order = std::max<std::size_t>(order, model->order());
    std::vector<Symbol>& own = symbols.emplace_back();
    for (WordId word = 0; word < model->vocabulary().size(); ++word)
      own.push_back(out.vocabulary.intern(model->vocabulary().word(word)));
  }
  ids.assign(models.size(), std::vector<WordId>(out.vocabulary.size(), 0));
  std::vector<NgramList> all(order);
  for (unsigned n = 1; n <= order; ++n) all[n - 1].length = n;
  for (std::size_t m = 0; m < models.size(); ++m) {
    for (WordId word = 0; word < symbols[m].size(); ++word) ids[m][symbols[m][word]] = word;
    const std::vector<std::vector<WordId>> listed = list_words(*models[m]);
    for (std::size_t n = 1; n <= listed.size(); ++n)
      for (const WordId word : listed[n - 1]) all[n - 1].words.push_back(symbols[m][word]);
  }
  for (NgramList& given : all) {
    BackoffOrder& made = out.orders.emplace_back();
    made.ngrams.length = given.length;
    for (const std::uint32_t i : sorted_backwards(given, given.length, out.vocabulary.size()))
      if (is_new(made.ngrams, given[i])) append(made.ngrams, given[i]);
    made.probability.resize(made.ngrams.size());
    made.backoff.assign(made.ngrams.size(), 1);
    made.make_index();
    given = {};
  }
  return out;
}

BackoffTables BackoffTables::of(const NgramModel& model) {
  const NgramModel* const models[] = {&model};
  std::vector<std::vector<WordId>> ids;
  BackoffTables out = unite(models, ids);
  for (BackoffOrder& order : out.orders) {
    std::vector<WordId> rows;
    for (const Symbol word : order.ngrams.words) rows.push_back(ids[0][word]);
    const std::vector<float> log10 = score_ngrams(model, rows, order.ngrams.length);
    std::ranges::transform(log10, order.probability.begin(), [](float value) { return std::pow(10, double{value}); });
  }
  out.renormalise();
  return out;
}

}  // namespace treeglot
