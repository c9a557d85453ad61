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
