// From estimates to a compiled model, without a file in between.
#pragma once

#include <optional>
#include <vector>

#include "lm/estimated_ngrams.h"
#include "lm/ngram.h"
#include "lm/ngram_build.h"
#include "lm/ngram_sink.h"

namespace treeglot {

class CompileSink final : public NgramSink {
 public:
  void begin(const Symbols& vocabulary, std::span<const std::uint64_t> sizes) override;
  void begin_order(unsigned order) override;
  void take(NgramBatch&& batch, Rendered&& rendered) override;
  void end() override;

  NgramModel finish(NgramLayout layout) { return NgramModel(builder_->finish(layout)); }

 private:
  const Symbols* vocabulary_ = nullptr;
  std::vector<WordId> ids_;  // by symbol
  std::optional<NgramBuilder> builder_;
  unsigned order_ = 0;
};

NgramModel compile(const EstimatedNgrams& estimate, NgramLayout layout);

}  // namespace treeglot
