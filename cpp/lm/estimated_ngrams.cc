#include "lm/estimated_ngrams.h"

#include <algorithm>

namespace treeglot {

namespace {

template <class T>
void append(std::vector<T>& to, const std::vector<T>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

template <class T>
std::vector<T> slice(const std::vector<T>& from, std::size_t begin, std::size_t size) {
  const auto at = from.begin() + static_cast<std::ptrdiff_t>(begin);
  return {at, at + static_cast<std::ptrdiff_t>(size)};
}

}  // namespace

void EstimatedNgrams::give(NgramSink& sink) const {
  std::vector<std::uint64_t> sizes;
  for (const NgramBatch& order : orders) sizes.push_back(order.size());
  sink.begin(vocabulary, sizes);
  for (const NgramBatch& order : orders) {
    sink.begin_order(order.order);
    for (std::size_t begin = 0; begin < order.size(); begin += kBatch) {
      const std::size_t size = std::min(kBatch, order.size() - begin);
      NgramBatch batch{order.order,
                       slice(order.words, begin * order.order, size * order.order),
                       slice(order.log10_probability, begin, size),
                       {}};
      if (!order.log10_backoff.empty()) batch.log10_backoff = slice(order.log10_backoff, begin, size);
      Rendered rendered = sink.render(batch);
      sink.take(std::move(batch), std::move(rendered));
    }
  }
  sink.end();
}

void EstimateCollector::begin(const Symbols& vocabulary, std::span<const std::uint64_t> sizes) {
  for (Symbol word = 0; word < vocabulary.size(); ++word) estimate.vocabulary.intern(vocabulary.text(word));
  sizes_.assign(sizes.begin(), sizes.end());
}

void EstimateCollector::begin_order(unsigned order) {
  NgramBatch& table = estimate.orders.emplace_back();
  const std::size_t size = sizes_[order - 1];
  table.order = order;
  table.words.reserve(size * order);
  table.log10_probability.reserve(size);
  if (order < sizes_.size()) table.log10_backoff.reserve(size);
}

void EstimateCollector::take(NgramBatch&& batch, Rendered&&) {
  NgramBatch& table = estimate.orders.back();
  append(table.words, batch.words);
  append(table.log10_probability, batch.log10_probability);
  append(table.log10_backoff, batch.log10_backoff);
}

void CompileSink::begin(const Symbols& vocabulary, std::span<const std::uint64_t> sizes) {
  vocabulary_ = &vocabulary;
  builder_.emplace(sizes);
  ids_.assign(vocabulary.size(), 0);
}

void CompileSink::begin_order(unsigned order) {
  end();
  order_ = order;
}

void CompileSink::end() {
  if (order_ > 1) builder_->end_order();
}

void CompileSink::take(NgramBatch&& batch, Rendered&&) {
  const bool backoffs = !batch.log10_backoff.empty();
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const float log10 = batch.log10_probability[i], backoff = backoffs ? batch.log10_backoff[i] : 0.0f;
    const std::span<Symbol> words(batch.words.data() + i * batch.order, batch.order);
    if (batch.order == 1) {
      const std::string_view word = vocabulary_->text(words[0]);
      builder_->add_unigram(word, log10, backoff, i + 1);
      ids_[words[0]] = builder_->find(word).value_or(0);
    } else {
      for (Symbol& word : words) word = ids_[word];
      builder_->add(words, log10, backoff, i + 1);
    }
  }
}

NgramModel compile(const EstimatedNgrams& estimate, NgramLayout layout, const WordClasses* classes) {
  CompileSink sink;
  estimate.give(sink);
  return sink.finish(layout, classes);
}

}  // namespace treeglot
