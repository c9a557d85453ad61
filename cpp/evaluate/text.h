// Words and characters of a line, split as Python's str.split() does: sacreBLEU counts the same ones.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/symbols.h"

namespace treeglot {

// The words' numbers, given now to those that are new.
std::vector<Symbol> intern_words(Symbols& symbols, std::string_view line);
// The words' numbers; Symbols::kNone for those that have none.
std::vector<Symbol> find_words(const Symbols& symbols, std::string_view line);

// The code points, blanks left out.
std::vector<std::uint32_t> characters(std::string_view line);

// The words with one mark of ASCII punctuation split off: the last character of a word if it is one, else the first. A
// word of one character stays. This is how chrF++ counts words.
std::vector<std::string_view> words_and_marks(std::string_view line);

}  // namespace treeglot
