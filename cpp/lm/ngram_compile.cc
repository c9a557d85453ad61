#include "lm/ngram_compile.h"

namespace treeglot {

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

NgramModel compile(const EstimatedNgrams& estimate, NgramLayout layout) {
  CompileSink sink;
  estimate.give(sink);
  return sink.finish(layout);
}

}  // namespace treeglot
