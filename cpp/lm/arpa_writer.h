// The ARPA format, written.
#pragma once

#include <functional>
#include <string>

#include "lm/estimated_ngrams.h"

namespace treeglot {

class ArpaWriter final : public NgramSink {
 public:
  using Write = std::function<void(std::string_view)>;

  explicit ArpaWriter(Write write) : write_(std::move(write)) {}

  void begin(const Symbols& vocabulary, std::span<const std::uint64_t> sizes) override;
  void begin_order(unsigned order) override;
  Rendered render(const NgramBatch& batch) const override;
  void take(NgramBatch&& batch, Rendered&& rendered) override;
  void end() override;

 private:
  Write write_;
  std::string texts_;                // all words, one after the other
  std::vector<std::uint64_t> ends_;  // of each in texts_
  std::size_t longest_ = 0;
};

}  // namespace treeglot
