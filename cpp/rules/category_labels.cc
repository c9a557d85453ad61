#include "rules/category_labels.h"

#include <cstring>

namespace treeglot {
namespace {

void append_number(std::string& out, std::uint32_t number) {
  char bytes[sizeof number];
  std::memcpy(bytes, &number, sizeof number);
  out.append(bytes, sizeof number);
}

std::uint32_t take_number(std::string_view& bytes) {
  std::uint32_t number;
  std::memcpy(&number, bytes.data(), sizeof number);
  bytes.remove_prefix(sizeof number);
  return number;
}

}  // namespace

TreeLabels::TreeLabels(const TreeBatch& source, const TreeBatch& target) {
  Symbols joint;
  const auto add = [&](const TreeBatch& batch, std::vector<Symbol>& numbers) {
    for (Symbol label = 0; label < batch.labels(); ++label) numbers.push_back(joint.intern(batch.label(label)));
  };
  add(source, source_);
  add(target, target_);
  for (Symbol label = 0; label < joint.size(); ++label) texts_.push_back(escaped_label(joint.text(label)));
}

// The number of labels, arguments on the left and on the right, then the labels: a key says where it ends.
void append_key(const Category& category, std::string& out) {
  append_number(out, static_cast<std::uint32_t>(category.labels.size()));
  append_number(out, category.left);
  append_number(out, category.right);
  for (const Symbol label : category.labels) append_number(out, label);
}

std::string key_text(std::string_view key, const TreeLabels& labels) {
  Category category;
  const std::uint32_t size = take_number(key);
  category.left = take_number(key);
  category.right = take_number(key);
  for (std::uint32_t i = 0; i < size; ++i) category.labels.push_back(take_number(key));
  return category_text(category, [&](Symbol label) { return labels.escaped(label); });
}

}  // namespace treeglot
