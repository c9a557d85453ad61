// Words between blanks.
#pragma once

#include <algorithm>
#include <string_view>

namespace treeglot {

// Calls visit(word) for the words of a text from left to right. `blanks` are characters, or one, which is faster.
template <class Blanks, class Visit>
void for_each_word(std::string_view text, Blanks blanks, const Visit& visit) {
  for (std::size_t at = 0; (at = text.find_first_not_of(blanks, at)) != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(blanks, at), text.size());
    visit(text.substr(at, end - at));
    at = end;
  }
}

}  // namespace treeglot
