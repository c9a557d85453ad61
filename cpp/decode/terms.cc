#include "decode/terms.h"

namespace treeglot {
namespace {

std::uint64_t key_of(std::uint32_t node, Symbol word) { return hash_number(std::uint64_t{node} << 32 | word); }

}  // namespace

std::uint32_t PhraseFinder::child(std::uint32_t node, Symbol word) const {
  return index_.find(key_of(node, word),
                     [&](std::uint32_t known) { return nodes_[known].parent == node && nodes_[known].word == word; });
}

void PhraseFinder::add(std::span<const std::string> words, std::uint32_t phrase) {
  if (words.empty()) return;
  std::uint32_t at = 0;
  for (const std::string& text : words) {
    const Symbol word = words_.intern(text);
    const auto next = static_cast<std::uint32_t>(nodes_.size());
    const std::uint32_t from = at;
    at = index_.intern(key_of(from, word), next,
                       [&](std::uint32_t known) { return nodes_[known].parent == from && nodes_[known].word == word; });
    if (at == next) nodes_.push_back({from, word, {}});
  }
  nodes_[at].phrases.push_back(phrase);
}

std::vector<PhraseFinder::Found> PhraseFinder::find(std::span<const std::string> words) const {
  std::vector<Symbol> symbols;
  for (const std::string& word : words) symbols.push_back(words_.find(word));
  std::vector<Found> out;
  for (std::uint32_t begin = 0; begin < symbols.size(); ++begin) {
    std::uint32_t at = 0;
    for (std::uint32_t end = begin; end < symbols.size() && symbols[end] != Symbols::kNone; ++end) {
      at = child(at, symbols[end]);
      if (at == HashIndex::kNone) break;
      for (const std::uint32_t phrase : nodes_[at].phrases) out.push_back({{begin, end + 1}, phrase});
    }
  }
  return out;
}

}  // namespace treeglot
