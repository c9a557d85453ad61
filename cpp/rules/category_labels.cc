#include "rules/category_labels.h"

#include <cstring>
#include <stdexcept>

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

// The numbers of a key; the last ones, after `first`, are labels.
std::vector<std::uint32_t> checked_numbers(std::string_view key, std::size_t first, const TreeLabels& labels) {
  std::vector<std::uint32_t> out;
  if (key.size() % sizeof(std::uint32_t) != 0 || key.size() / sizeof(std::uint32_t) <= first)
    throw std::invalid_argument("a key has " + std::to_string(key.size()) + " bytes; expected one that keys gives");
  while (!key.empty()) out.push_back(take_number(key));
  for (std::size_t i = first; i < out.size(); ++i)
    if (out[i] >= labels.size())
      throw std::invalid_argument("a key has label " + std::to_string(out[i]) + " of " + std::to_string(labels.size()) +
                                  "; expected one that keys gives");
  return out;
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

void check_category_keys(const Strings& keys, const TreeLabels& labels) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::vector<std::uint32_t> numbers = checked_numbers(keys[i], 3, labels);
    const std::size_t size = numbers.size() - 3;
    if (numbers[0] != size || std::size_t{numbers[1]} + numbers[2] >= size)
      throw std::invalid_argument("a key has " + std::to_string(size) + " labels and says " +
                                  std::to_string(numbers[0]) + "; expected one that keys gives");
  }
}

void check_pair_keys(const Strings& keys, const TreeLabels& labels) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::size_t size = checked_numbers(keys[i], 0, labels).size();
    if (size != 2) throw std::invalid_argument("a key has " + std::to_string(size) + " labels; expected 2");
  }
}

}  // namespace treeglot
