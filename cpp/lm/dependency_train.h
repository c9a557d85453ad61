// Training the dependency language model of Shen et al. (2008); see docs/lm.md for the events.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/exclusive.h"
#include "base/symbols.h"
#include "lm/dependency_connect.h"
#include "lm/window_train.h"
#include "syntax/dependency.h"

namespace treeglot {

// What stands before a word that is a head, so that it shares no counts with the same word as a child.
constexpr std::string_view kHeadMark = "<h>";

enum class DependencyUnit { words, tags };
enum class DependencySide : std::uint32_t { left = 0, right = 1 };

// What a child is predicted from. With `sibling`, it is the head and the last sibling; backing off drops the sibling
// first. With `trigram`, the head and its children on one side are a sequence, from the nearest outwards. A child is
// predicted from the two units before it. From the third child on, these are two siblings.
enum class DependencyConditioning : std::uint32_t { sibling = 0, trigram = 1 };

// The two units before a child, the nearer one second; kNoSibling for none. `head` is marked.
inline std::array<Symbol, 2> child_context(DependencyConditioning conditioning, Symbol head,
                                           DependencySiblings siblings) {
  if (conditioning == DependencyConditioning::sibling || siblings.last == kNoSibling) return {siblings.last, head};
  return {siblings.before == kNoSibling ? head : siblings.before, siblings.last};
}

// Calls child(word, siblings, side) for each word that has a head. On either side, the children of a head come from the
// nearest outwards. `siblings` are those before it, by units[word]. Calls root(word) for other words.
template <class Units, class Root, class Child>
void for_each_arc(const Dependency& sentence, const Units& units, const Root& root, const Child& child) {
  std::vector<DependencySiblings> children(sentence.size(), kNoSiblings);  // by head: the last ones so far
  const auto visit = [&](std::size_t word, DependencySide side) {
    DependencySiblings& siblings = children[static_cast<std::size_t>(sentence.head(word))];
    child(word, siblings, side);
    siblings = siblings.then(units[word]);
  };
  for (std::size_t word = 0; word < sentence.size(); ++word) {
    if (sentence.head(word) < 0) {
      root(word);
    } else if (static_cast<std::size_t>(sentence.head(word)) < word) {
      visit(word, DependencySide::right);
    }
  }
  children.assign(sentence.size(), kNoSiblings);
  for (std::size_t word = sentence.size(); word-- > 0;) {
    if (sentence.head(word) >= 0 && static_cast<std::size_t>(sentence.head(word)) > word)
      visit(word, DependencySide::left);
  }
}

struct DependencyEstimate {
  WindowModel left, right;  // over child_context() and the child
  WindowModel root;         // over single words
};

class DependencyTrainer : public Exclusive {
 public:
  DependencyTrainer(DependencyUnit unit, const FallbackDiscounts& fallback, DependencyConditioning conditioning);

  // Adds each child and root of a sentence as an event. A word without a head is none, but its children are. Throws
  // std::invalid_argument for a missing tag if the model is over tags, and for special words such as <s>.
  void add(const Dependency& sentence);

  std::uint64_t sentences() const { return sentences_; }
  std::uint64_t events(std::size_t side) const { return counts_[side].total(); }  // left, right, root

  DependencyEstimate finish();  // once

 private:
  DependencyUnit unit_;
  DependencyConditioning conditioning_;
  FallbackDiscounts fallback_;
  Symbols vocabulary_;
  std::vector<bool> predicted_;  // by symbol
  std::vector<WindowCounts> counts_;
  std::uint64_t sentences_ = 0;
};

}  // namespace treeglot
