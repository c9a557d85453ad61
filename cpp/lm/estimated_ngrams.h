// An estimated model in memory, as plain tables: what a model file can be compiled from.
#pragma once

#include "lm/ngram_sink.h"

namespace treeglot {

struct EstimatedNgrams {
  Symbols vocabulary;
  std::vector<NgramBatch> orders;  // all n-grams of an order in one batch

  // Hands the tables on, so that what was estimated once can be written as well.
  void give(NgramSink& sink) const;
};

class EstimateCollector final : public NgramSink {
 public:
  void begin(const Symbols& vocabulary, std::span<const std::uint64_t> sizes) override;
  void begin_order(unsigned order) override;
  void take(NgramBatch&& batch, Rendered&& rendered) override;

  EstimatedNgrams estimate;

 private:
  std::vector<std::uint64_t> sizes_;
};

}  // namespace treeglot
