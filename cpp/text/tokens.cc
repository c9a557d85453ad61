#include "text/tokens.h"

#include <algorithm>

#include "base/utf8.h"

namespace treeglot {

std::string Tokens::line() const {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += ' ';
    out += words[i];
  }
  return out;
}

Decoded::Decoded(std::string_view text) {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
  characters.reserve(text.size());
  offsets.reserve(text.size() + 1);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_character(bytes + at, text.size() - at);
    offsets.push_back(static_cast<std::uint32_t>(at));
    char32_t character = bytes[at];
    if (length == 0) character = 0xfffd;
    if (length > 1) character &= 0xffu >> (length + 1);
    for (std::size_t i = 1; i < length; ++i) character = (character << 6) | (bytes[at + i] & 0x3fu);
    characters.push_back(character);
    at += length == 0 ? 1 : length;
  }
  offsets.push_back(static_cast<std::uint32_t>(text.size()));
}

std::vector<BrokenLine> broken_lines(std::string_view text, std::span<const std::int32_t> ends) {
  std::vector<BrokenLine> out;
  std::int64_t units = 0;  // of UTF-16 before the character
  auto next = ends.begin();
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    BrokenLine& broken = out.emplace_back(line, Decoded(line));
    const std::u32string& characters = broken.decoded.characters;
    broken.ends.resize(characters.size() + 1);
    for (std::size_t i = 0; i <= characters.size(); ++i) {
      while (next != ends.end() && *next < units) ++next;
      broken.ends[i] = next != ends.end() && *next == units;
      units += i < characters.size() && characters[i] >= 0x10000 ? 2 : 1;  // or the end of the line
    }
    begin = end + 1;
  }
  return out;
}

void append_utf8(std::string& out, char32_t character) {
  const auto put = [&](char32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (character < 0x80) return put(character);
  if (character < 0x800) {
    put(0xc0 | (character >> 6));
  } else {
    if (character < 0x10000) {
      put(0xe0 | (character >> 12));
    } else {
      put(0xf0 | (character >> 18));
      put(0x80 | ((character >> 12) & 0x3f));
    }
    put(0x80 | ((character >> 6) & 0x3f));
  }
  put(0x80 | (character & 0x3f));
}

CharacterKind kind_of(char32_t c) {
  using enum CharacterKind;
  if (c < 0x80) {
    if (c >= 'a' && c <= 'z') return lower;
    if (c >= 'A' && c <= 'Z') return upper;
    if (c >= '0' && c <= '9') return digit;
    return c <= ' ' || c == 0x7f ? space : mark;
  }
  if (c <= 0xa0) return space;  // control characters and the no-break space
  if (c < 0xc0) return c == 0xaa || c == 0xb5 || c == 0xba || c == 0xad ? letter : mark;
  if (c == 0xd7 || c == 0xf7) return mark;
  if (c < 0x2000) return c == 0x1680 ? space : letter;
  if (c <= 0x200b || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0xfeff) return space;
  if (c == 0x3000) return space;
  if (c < 0x2070) return mark;
  if (c < 0x2190) return letter;  // super- and subscripts, currency, letter-like signs, number forms
  if (c < 0x2c00) return mark;
  if (c < 0x2e00) return letter;
  if (c < 0x2e80) return mark;
  if (c == 0x3005 || c == 0x3007) return han;
  if (c >= 0x3001 && c <= 0x3040) return wide_mark;
  if (c < 0x3000) return han;  // radicals
  if (c < 0x3100 || (c >= 0x31f0 && c < 0x3200)) return kana;
  if (c < 0x3400) return letter;
  if (c < 0xa000) return han;
  if (c < 0xf900) return letter;  // Yi to Hangul
  if (c < 0xfb00) return han;
  if (c >= 0xff10 && c <= 0xff19) return digit;
  if ((c >= 0xff21 && c <= 0xff3a) || (c >= 0xff41 && c <= 0xff5a)) return letter;
  if (c >= 0xff66 && c <= 0xff9f) return kana;
  if ((c >= 0xff01 && c <= 0xff65) || (c >= 0xfe30 && c < 0xfe50)) return wide_mark;
  if (c >= 0x20000 && c < 0x40000) return han;
  return c >= 0x1f000 && c < 0x20000 ? mark : letter;
}

}  // namespace treeglot
