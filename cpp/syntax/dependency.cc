#include "syntax/dependency.h"

#include <stdexcept>
#include <string>
#include <utility>

namespace treeglot {
namespace {

void check_length(const char* name, const Strings& strings, std::size_t words) {
  if (!strings.empty() && strings.size() != words) {
    throw std::invalid_argument(std::to_string(strings.size()) + " " + name + " for " + std::to_string(words) +
                                " words");
  }
}

}  // namespace

Dependency::Dependency(Strings words, std::vector<std::int32_t> heads, Strings tags, Strings relations)
    : words_(std::move(words)), tags_(std::move(tags)), relations_(std::move(relations)), heads_(std::move(heads)) {
  if (heads_.size() != words_.size()) {
    throw std::invalid_argument(std::to_string(heads_.size()) + " heads for " + std::to_string(words_.size()) +
                                " words");
  }
  check_length("tags", tags_, words_.size());
  check_length("relations", relations_, words_.size());
  for (std::size_t word = 0; word < words_.size(); ++word) {
    if (words_[word].empty()) throw std::invalid_argument("word " + std::to_string(word) + " is empty");
    const std::int64_t head = heads_[word];
    if (head < kNoHead || head >= static_cast<std::int64_t>(words_.size())) {
      throw std::invalid_argument("word " + std::to_string(word) + " has head " + std::to_string(head) +
                                  "; expected a position below " + std::to_string(words_.size()) +
                                  ", -1 (root) or -2 (none)");
    }
    if (head == static_cast<std::int64_t>(word))
      throw std::invalid_argument("word " + std::to_string(word) + " is its own head");
  }
}

}  // namespace treeglot
