// Head tables learnt from constituents and dependencies of the same sentences.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/exclusive.h"
#include "base/strings.h"
#include "base/symbols.h"
#include "syntax/dependency.h"
#include "syntax/tree.h"

namespace treeglot {

// A table in the text format of docs/formats.md, and how many of the constituents it was learnt from it gets right.
struct LearntHeads {
  std::string text;
  std::uint64_t constituents = 0, right = 0;
};

// Counts which child of each constituent has the head word: the one word whose head is outside the constituent. A rule
// of the table is a decision list (Rivest 1987). Each step is the largest set of labels that makes no mistake on the
// constituents that earlier steps leave. So if some table makes no mistake, the learnt one makes none. If every set
// makes mistakes, the share of mistakes that a label may make rises by steps.
class HeadLearner : public Exclusive {
 public:
  // Refuses a dependency structure with another number of words. Functional tags of labels are cut.
  void add(const Tree& tree, const Dependency& dependency);

  // Different words, by number.
  const Symbols& words() const { return words_; }
  // Constituents with two children or more whose words have several heads outside, or none: nothing is learnt of them.
  std::uint64_t without_head() const { return without_head_; }

  // `punctuation` says of each word whether it is punctuation. Labels of such words are passed over.
  LearntHeads learn(std::span<const std::uint8_t> punctuation) const;

 private:
  void add_constituent(const Tree& tree, std::uint32_t node, std::span<const std::int32_t> heads);

  Symbols labels_, words_;
  Symbols events_;                     // parent, children and the place of the head, as bytes
  std::vector<std::uint64_t> counts_;  // by event
  Symbols tagged_;                     // tag and word, as bytes
  std::vector<std::uint64_t> tag_counts_;
  std::vector<Symbol> event_;  // memory that is used again
  std::uint64_t without_head_ = 0;
};

}  // namespace treeglot
