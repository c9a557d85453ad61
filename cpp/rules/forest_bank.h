// The forests of one side of a bitext, pruned as extraction reads them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/exclusive.h"
#include "base/symbols.h"
#include "syntax/dependency.h"
#include "syntax/dependency_checks.h"
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

// The dependency trees of one side of a bitext, kept small: heads, and tags by number.
class DependencyBank : public Exclusive {
 public:
  void append(const Dependency& dependency);

  std::size_t size() const { return ends_.size() - 1; }
  Heads heads(std::size_t sentence) const { return slice(heads_, sentence); }
  // As many as heads; kNone for a word without a tag.
  std::span<const Symbol> tags(std::size_t sentence) const { return slice(tags_, sentence); }
  const Symbols& tag_names() const { return tag_names_; }

 private:
  template <class T>
  std::span<const T> slice(const std::vector<T>& values, std::size_t i) const {
    return std::span<const T>(values).subspan(ends_[i], ends_[i + 1] - ends_[i]);
  }

  std::vector<std::int32_t> heads_;
  std::vector<Symbol> tags_;
  std::vector<std::size_t> ends_ = {0};
  Symbols tag_names_;
};

}  // namespace treeglot
