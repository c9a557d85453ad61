// The dependency trees of one side of a bitext, kept small: heads, and tags by number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/exclusive.h"
#include "base/symbols.h"
#include "syntax/dependency.h"
#include "syntax/dependency_checks.h"

namespace treeglot {

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
