// From the boundaries that ICU finds to words: what belongs together is joined, clitics and elisions are parted.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/tokens.h"

namespace treeglot {

struct WordRules {
  std::vector<std::string> clitics;   // ends of words that are words of their own: n't 's; in lower case
  std::vector<std::string> elisions;  // beginnings that are, before an apostrophe: l d qu; * is any
};

Tokens split_words(const BrokenLine& line, const WordRules& rules);

// A character as rules have it: in lower case if it is ASCII, and apostrophes are straight.
char32_t plain_character(char32_t character);

// A word as the model has it: spaces and control characters, which part words there, become no-break spaces. Tags alone
// have them.
std::string without_blanks(std::u32string_view word);

}  // namespace treeglot
