// Translations that the input gives for parts of itself: <x translation="the house||house">das Haus</x>.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/span.h"

namespace treeglot {

struct MarkedSentence {
  struct Part {
    Span span;                              // of words
    std::vector<std::string> translations;  // tokens separated by blanks
  };
  std::vector<std::string> words;
  std::vector<Part> parts;  // in order, without overlap
};

// Splits at blanks. With `markup`, elements of any name carry the attribute `translation` alone, alternatives separated
// by ||; &lt; &gt; &amp; &quot; are decoded; a '<' that no name follows is text. Refuses (std::invalid_argument)
// control characters and markup that is not of that form.
MarkedSentence read_sentence(std::string_view line, bool markup);

}  // namespace treeglot
