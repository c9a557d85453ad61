// An estimated model in memory, as plain tables: what a model file can be compiled from.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/symbols.h"
#include "lm/ngram.h"
#include "lm/ngram_build.h"

namespace treeglot {

// Some n-grams of one order, in the order of their words read backwards.
struct NgramBatch {
  unsigned order = 1;
  std::vector<Symbol> words;  // `order` for each n-gram
  std::vector<float> log10_probability;
  std::vector<float> log10_backoff;  // empty in the highest order

  std::size_t size() const { return log10_probability.size(); }
};

constexpr std::size_t kBatch = 1 << 14;  // n-grams handed on at a time

// Bytes that nobody has set before they are written.
struct Rendered {
  std::unique_ptr<char[]> bytes;
  std::size_t size = 0;

  std::string_view view() const { return {bytes.get(), size}; }
};

// Where estimates go: an ARPA file, or tables in memory.
class NgramSink {
 public:
  virtual ~NgramSink() = default;
  // The vocabulary stays as it is until end().
  virtual void begin(const Symbols& vocabulary, std::span<const std::uint64_t> sizes) = 0;
  virtual void begin_order(unsigned) {}
  // The part of the work on a batch that needs no order. Several threads call it.
  virtual Rendered render(const NgramBatch&) const { return {}; }
  // Takes batches in order, with the results of render().
  virtual void take(NgramBatch&& batch, Rendered&& rendered) = 0;
  virtual void end() {}
};

struct EstimatedNgrams {
  Symbols vocabulary;
  std::vector<NgramBatch> orders;  // all n-grams of an order in one batch

  // Passes the tables on to another sink, so that one estimate can also be written.
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

// From estimates to a compiled model, without a file in between.
class CompileSink final : public NgramSink {
 public:
  void begin(const Symbols& vocabulary, std::span<const std::uint64_t> sizes) override;
  void begin_order(unsigned order) override;
  void take(NgramBatch&& batch, Rendered&& rendered) override;
  void end() override;

  NgramModel finish(NgramLayout layout, const WordClasses* classes) {
    return NgramModel(builder_->finish(layout, classes));
  }

 private:
  const Symbols* vocabulary_ = nullptr;
  std::vector<WordId> ids_;  // by symbol
  std::optional<NgramBuilder> builder_;
  unsigned order_ = 0;
};

// With `classes`, the words of the estimate are their numbers.
NgramModel compile(const EstimatedNgrams& estimate, NgramLayout layout, const WordClasses* classes = nullptr);

}  // namespace treeglot
