// Categories of phrases as numbers of labels: one vocabulary for an extraction, 0 is X.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "base/symbols.h"
#include "syntax/category.h"
#include "syntax/tree_batch.h"

namespace treeglot {

// The labels of two batches of trees in one numbering: what categories are made of.
class TreeLabels {
 public:
  TreeLabels(const TreeBatch& source, const TreeBatch& target);

  Symbol source(Symbol label) const { return source_[label]; }
  Symbol target(Symbol label) const { return target_[label]; }
  std::size_t size() const { return texts_.size(); }
  std::string_view escaped(Symbol label) const { return texts_[label]; }

 private:
  std::vector<Symbol> source_, target_;
  std::vector<std::string> texts_;
};

// Appends the category's key: bytes that are equal when the categories are.
void append_key(const Category& category, std::string& out);
std::string key_text(std::string_view key, const TreeLabels& labels);

// Refuse keys that cannot come from another extractor with these labels: of categories, or pairs of labels.
void check_category_keys(const Strings& keys, const TreeLabels& labels);
void check_pair_keys(const Strings& keys, const TreeLabels& labels);

}  // namespace treeglot
