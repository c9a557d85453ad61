#include "rules/phrase_trees.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/symbol_lists.h"

namespace treeglot {
namespace {

std::string_view bytes_of(std::span<const Symbol> words) {
  return {reinterpret_cast<const char*>(words.data()), words.size_bytes()};
}

}  // namespace

PhraseTrees::PhraseTrees(const Bitext& bitext, std::span<const Dependency* const> trees) {
  Symbols words;
  intern_all(bitext.target_words(), words);
  std::vector<Symbol> phrase;
  for (const Dependency* const tree : trees) {
    if (tree->tags().empty() && tree->size() > 0)
      throw std::invalid_argument("the tree of a phrase, " + quoted(tree->words()[0]) + " first, has no tags");
    phrase.clear();
    for (std::size_t word = 0; word < tree->size(); ++word) phrase.push_back(words.find(tree->words()[word]));
    if (phrase.empty() || std::ranges::find(phrase, Symbols::kNone) != phrase.end()) continue;
    if (phrases_.intern(bytes_of(phrase)) == trees_.size()) trees_.append(*tree);
  }
}

std::optional<std::size_t> PhraseTrees::find(std::span<const Symbol> words) const {
  const Symbol found = phrases_.find(bytes_of(words));
  return found == Symbols::kNone ? std::nullopt : std::optional<std::size_t>(found);
}

}  // namespace treeglot
