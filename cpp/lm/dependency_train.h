// Training the dependency language model of Shen et al. (2008); see docs/lm.md for the events.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/exclusive.h"
#include "base/symbols.h"
#include "lm/window_train.h"
#include "syntax/dependency.h"

namespace treeglot {

// What stands before a word that is a head, so that it shares no counts with the same word as a child.
constexpr std::string_view kHeadMark = "<h>";

enum class DependencyUnit { words, tags };
enum class DependencySide : std::uint32_t { left = 0, right = 1 };

// Calls child(word, sibling, side) for each word that has a head. On either side, the children of a head come from the
// nearest outwards. `sibling` is the child before it, or the word itself for the nearest. Calls root(word) for other
// words.
template <class Root, class Child>
void for_each_arc(const Dependency& sentence, const Root& root, const Child& child) {
  std::vector<std::size_t> last(sentence.size(), sentence.size());  // by head: its last child so far
  const auto visit = [&](std::size_t word, DependencySide side) {
    std::size_t& before = last[static_cast<std::size_t>(sentence.head(word))];
    child(word, before == sentence.size() ? word : before, side);
    before = word;
  };
  for (std::size_t word = 0; word < sentence.size(); ++word) {
    if (sentence.head(word) < 0) {
      root(word);
    } else if (static_cast<std::size_t>(sentence.head(word)) < word) {
      visit(word, DependencySide::right);
    }
  }
  last.assign(sentence.size(), sentence.size());
  for (std::size_t word = sentence.size(); word-- > 0;) {
    if (sentence.head(word) >= 0 && static_cast<std::size_t>(sentence.head(word)) > word)
      visit(word, DependencySide::left);
  }
}

struct DependencyEstimate {
  WindowModel left, right;  // over (the sibling before or <s>, the head, marked, the child)
  WindowModel root;         // over single words
};

class DependencyTrainer : public Exclusive {
 public:
  DependencyTrainer(DependencyUnit unit, const FallbackDiscounts& fallback);

  // A word without a head is no event, but its children are; so are the words of a cycle. Throws std::invalid_argument
  // for a sentence without tags when tags are asked for, and for words that belong to the model.
  void add(const Dependency& sentence);

  std::uint64_t sentences() const { return sentences_; }
  std::uint64_t events(std::size_t side) const { return counts_[side].total(); }  // left, right, root

  DependencyEstimate finish();  // once

 private:
  struct Unit {
    Symbol child, head;
  };

  DependencyUnit unit_;
  FallbackDiscounts fallback_;
  Symbols vocabulary_;
  std::vector<bool> predicted_;  // by symbol
  std::vector<WindowCounts> counts_;
  std::uint64_t sentences_ = 0;
};

}  // namespace treeglot
