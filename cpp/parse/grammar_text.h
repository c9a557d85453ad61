// Split grammars as the Berkeley parser's text export and Egret have them, three files for each level:
//
// - level1.stateInfo: a label, its number, its sub-states, and how they split from level to level,
//   `NP^g	5	2 [0 [0 …] [1 …]]`;
// - level1.grammar: the probability of a rule for sub-states, `NP^g_1 -> DT_0 NN_1 0.0125`;
// - level1.lexicon: the probability of a word for each sub-state of a tag, `NN time [1.2E-4, 0.0]`.
//
// The label with number 0 is the root. In others' grammars, unary rules of a label by itself say that unary chains are
// summed up already.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "parse/split_grammar.h"

namespace treeglot {

struct TextFile {
  std::string name;  // for messages
  std::string text;
};

struct LevelFiles {
  TextFile states, grammar, lexicon;
};

// Levels from the coarsest on. Bad content is a FormatError; so are labels without rules, as in files cut short.
// With `steps` unary rules are single steps, and a rule of a label by itself is bad content.
SplitGrammar read_grammar(const std::vector<LevelFiles>& files, SignatureKind signature, bool steps = false);

// The texts of one level, such that reading them gives the same doubles.
struct LevelTexts {
  std::string states, grammar, lexicon;
};
LevelTexts write_level(const SplitGrammar& grammar, std::size_t level);

}  // namespace treeglot
