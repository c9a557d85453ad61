#include "evaluate/text.h"

#include "base/utf8.h"

namespace treeglot {
namespace {

struct Character {
  std::uint32_t code;
  std::size_t bytes;
};

// A byte that is not UTF-8 stands for itself.
Character character_at(std::string_view line, std::size_t at) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(line.data()) + at;
  const std::size_t size = utf8_character(bytes, line.size() - at);
  switch (size) {
    case 2: return {(bytes[0] & 0x1fu) << 6 | (bytes[1] & 0x3fu), 2};
    case 3: return {(bytes[0] & 0x0fu) << 12 | (bytes[1] & 0x3fu) << 6 | (bytes[2] & 0x3fu), 3};
    case 4:
      return {(bytes[0] & 0x07u) << 18 | (bytes[1] & 0x3fu) << 12 | (bytes[2] & 0x3fu) << 6 | (bytes[3] & 0x3fu), 4};
    default: return {bytes[0], 1};
  }
}

// str.isspace(): the Unicode classes WS, B and S of bidirectional type, or category Zs.
bool is_blank(std::uint32_t code) {
  if (code < 0x80) return code == ' ' || (code >= 0x09 && code <= 0x0d) || (code >= 0x1c && code <= 0x1f);
  return code == 0x85 || code == 0xa0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200a) || code == 0x2028 ||
         code == 0x2029 || code == 0x202f || code == 0x205f || code == 0x3000;
}

template <class Take>
void for_each_word(std::string_view line, Take&& take) {
  std::size_t begin = 0;
  for (std::size_t at = 0; at < line.size();) {
    const Character character = character_at(line, at);
    if (is_blank(character.code)) {
      if (begin < at) take(line.substr(begin, at - begin));
      begin = at + character.bytes;
    }
    at += character.bytes;
  }
  if (begin < line.size()) take(line.substr(begin));
}

bool is_mark(char c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

}  // namespace

std::vector<Symbol> intern_words(Symbols& symbols, std::string_view line) {
  std::vector<Symbol> words;
  for_each_word(line, [&](std::string_view word) { words.push_back(symbols.intern(word)); });
  return words;
}

std::vector<Symbol> find_words(const Symbols& symbols, std::string_view line) {
  std::vector<Symbol> words;
  for_each_word(line, [&](std::string_view word) { words.push_back(symbols.find(word)); });
  return words;
}

std::vector<std::uint32_t> characters(std::string_view line) {
  std::vector<std::uint32_t> out;
  for (std::size_t at = 0; at < line.size();) {
    const Character character = character_at(line, at);
    if (!is_blank(character.code)) out.push_back(character.code);
    at += character.bytes;
  }
  return out;
}

std::vector<std::string_view> words_and_marks(std::string_view line) {
  std::vector<std::string_view> out;
  for_each_word(line, [&](std::string_view word) {
    if (character_at(word, 0).bytes == word.size()) {
      out.push_back(word);
    } else if (is_mark(word.back())) {
      out.push_back(word.substr(0, word.size() - 1));
      out.push_back(word.substr(word.size() - 1));
    } else if (is_mark(word.front())) {
      out.push_back(word.substr(0, 1));
      out.push_back(word.substr(1));
    } else {
      out.push_back(word);
    }
  });
  return out;
}

}  // namespace treeglot
