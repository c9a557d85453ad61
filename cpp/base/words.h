// Words between blanks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace treeglot {

// How many words to make room for: exact for lines of a usual length whose words have one blank between them. A line
// may also be nothing but blanks, and those must not take memory.
inline std::size_t expected_words(std::string_view line) {
  constexpr std::ptrdiff_t kUsual = 255;
  return static_cast<std::size_t>(std::min(std::ranges::count(line, ' '), kUsual)) + 1;
}

// Calls visit(word) for the words of a text from left to right. `blanks` are characters with codes below 64: a test is
// one shift then, and words are too short for a search by memchr to pay.
template <class Visit>
void for_each_word(std::string_view text, std::string_view blanks, const Visit& visit) {
  std::uint64_t mask = 0;
  for (const char c : blanks) mask |= std::uint64_t{1} << c;
  const auto blank = [&](char c) {
    const auto code = static_cast<unsigned char>(c);
    return code < 64 && (mask >> code & 1) != 0;
  };
  for (std::size_t at = 0; at < text.size();) {
    if (blank(text[at])) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    while (++at < text.size() && !blank(text[at])) {
    }
    visit(text.substr(begin, at - begin));
  }
}

}  // namespace treeglot
