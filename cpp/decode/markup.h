// Translations that the input gives for parts of itself: <x translation="the house||house">das Haus</x>, and
// <x translate="no">Haus</x>.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "decode/terms.h"

namespace treeglot {

struct MarkedSentence {
  std::vector<std::string> words;
  std::vector<Mark> marks;  // in order, without overlap
};

// Splits at blanks. With `markup`, elements of any name carry one attribute. `translation` has alternatives separated
// by ||, and translate="no" keeps the words as they are. Entities (&lt; &gt; &amp; &quot;) are decoded; a '<' that no
// name follows is text. Refuses (std::invalid_argument) control characters and markup that is not of that form.
MarkedSentence read_sentence(std::string_view line, bool markup);

}  // namespace treeglot
