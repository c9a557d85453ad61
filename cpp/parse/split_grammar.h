// A PCFG whose labels are split into sub-states, at several levels from coarse to fine (Petrov et al. 2006).
//
// Rules are of labels; each has one block of scores, a probability for every combination of sub-states. Rules are
// unary, binary or lexical. Labels that begin with @ and have no words stand for parts of longer rules and are taken
// out of trees. Numbers of labels and words are the same at all levels. Those of states are not: state x of label A at
// a level is first[A] + x.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/symbols.h"
#include "lm/word_classes.h"
#include "parse/signature.h"

namespace treeglot {

struct BinaryRule {
  Symbol head = 0, left = 0, right = 0;
  std::size_t at = 0;  // scores[at + (l · right's states + r) · head's states + h]
};

struct UnaryRule {
  Symbol head = 0, child = 0;
  std::size_t at = 0;  // scores[at + c · head's states + h]
};

struct LexicalRule {
  Symbol tag = 0;
  std::size_t at = 0;  // scores[at + h]
};

struct Level {
  std::vector<std::uint32_t> states;  // how many each label has
  std::vector<std::uint32_t> first;   // labels + 1 offsets
  std::vector<BinaryRule> binary;
  std::vector<UnaryRule> unary;
  std::vector<std::uint32_t> first_tag;  // words + 1 offsets into tags
  std::vector<LexicalRule> tags;
  std::vector<double> scores;
  std::vector<std::uint32_t> coarse;  // state → the state one level below that it is a part of; empty at level 0
  // The unary rules are sums over chains already (Berkeley's), so at most one step is taken over a span.
  bool closed = false;

  std::uint32_t total_states() const { return first.back(); }
  // Sets `first` from `states`.
  void number_states();
};

struct SplitGrammar {
  Symbols labels, words;
  Symbol root = 0;
  SignatureKind signature = SignatureKind::english;
  std::shared_ptr<const WordClasses> classes;  // of words that the lexicon may lack; none: their forms alone decide
  std::vector<Level> levels;

  // Which labels stand for parts of rules: those that begin with @, except tags (Twitter's @) and the root.
  std::vector<std::uint8_t> parts() const;
  // The label in trees: without what stands behind ^, Egret's mark of phrases or ancestors' labels.
  std::string_view shown(Symbol label) const;
  // The word whose lexical rules hold for `word` at `position`: itself, or the first signature that has rules. If the
  // signature and the word's class have rules together, these hold.
  // Symbols::kNone when there is none.
  Symbol lookup(std::string_view word, std::size_t position) const;
};

}  // namespace treeglot
