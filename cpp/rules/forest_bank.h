// The forests of one side of a bitext, pruned as extraction reads them.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/exclusive.h"
#include "base/symbols.h"
#include "syntax/forest.h"

namespace treeglot {

class ForestBank : public Exclusive {
 public:
  explicit ForestBank(double margin) : margin_(margin) {}  // of pruning

  // Adds the forests of the next sentences, pruned, with conditional probabilities. A null one, or one without a parse,
  // is none. The result is the same for any number of threads.
  void append(std::span<const ParseForest* const> forests, unsigned threads);

  std::size_t size() const { return forests_.size(); }
  const ParseForest* operator[](std::size_t sentence) const {
    return forests_[sentence] ? &*forests_[sentence] : nullptr;
  }
  // Of nodes, in the order in which they came, before pruning.
  const Symbols& labels() const { return labels_; }

 private:
  double margin_;
  std::vector<std::optional<ParseForest>> forests_;
  Symbols labels_;
};

}  // namespace treeglot
