// A sentence in words: each knows the characters of the text that it stands for. Positions count code points, as
// Python's strings do.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/span.h"
#include "base/strings.h"

namespace treeglot {

struct Tokens {
  std::string text;
  Strings words;
  std::vector<Span> spans;  // by word, in order; they do not overlap

  std::string line() const;  // the words, separated by blanks
  friend bool operator==(const Tokens&, const Tokens&) = default;
};

// A text by its characters: `characters` and, with one more at the end, the byte where each begins.
// What is not UTF-8 becomes U+FFFD, one for each byte.
struct Decoded {
  std::u32string characters;
  std::vector<std::uint32_t> offsets;

  explicit Decoded(std::string_view text);
};

// A line of a text, and where ICU says that its words end: ends[i] is about the place before character i.
struct BrokenLine {
  std::string_view text;
  Decoded decoded;
  std::vector<bool> ends;
};

// The lines of `text`. `ends` are ICU's boundaries, counted in UTF-16 from the beginning of the text.
std::vector<BrokenLine> broken_lines(std::string_view text, std::span<const std::int32_t> ends);

void append_utf8(std::string& out, char32_t character);

// Coarse classes, enough to tell where words may end; no tables of Unicode.
enum class CharacterKind : std::uint8_t { space, lower, upper, letter, digit, mark, han, kana, wide_mark };
CharacterKind kind_of(char32_t character);

inline bool is_space(char32_t character) { return kind_of(character) == CharacterKind::space; }
inline bool is_wide(char32_t character) { return kind_of(character) >= CharacterKind::han; }

}  // namespace treeglot
