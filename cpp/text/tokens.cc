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

CharacterKind kind_of(char32_t character) {
  using enum CharacterKind;
  struct Range {
    char32_t first;  // up to the next range
    CharacterKind kind;
  };
  // Digits are those of ASCII, Arabic, Persian, India, Thai, Lao, Tibetan, Burmese and Khmer, and full-width ones.
  static constexpr Range kRanges[] = {
      {0, space},          {'!', mark},         {'0', digit},        {':', mark},         {'A', upper},
      {'[', mark},         {'a', lower},        {'{', mark},         {0x7f, space},  // and control characters
      {0xa1, mark},        {0xaa, letter},      {0xab, mark},        {0xad, letter},      {0xae, mark},
      {0xb5, letter},      {0xb6, mark},        {0xba, letter},      {0xbb, mark},        {0xc0, letter},
      {0xd7, mark},        {0xd8, letter},      {0xf7, mark},        {0xf8, letter},      {0x660, digit},
      {0x66a, letter},     {0x6f0, digit},      {0x6fa, letter},     {0x966, digit},      {0x970, letter},
      {0x9e6, digit},      {0x9f0, letter},     {0xa66, digit},      {0xa70, letter},     {0xae6, digit},
      {0xaf0, letter},     {0xb66, digit},      {0xb70, letter},     {0xbe6, digit},      {0xbf0, letter},
      {0xc66, digit},      {0xc70, letter},     {0xce6, digit},      {0xcf0, letter},     {0xd66, digit},
      {0xd70, letter},     {0xe50, digit},      {0xe5a, letter},     {0xed0, digit},      {0xeda, letter},
      {0xf20, digit},      {0xf2a, letter},     {0x1040, digit},     {0x104a, letter},    {0x1680, space},
      {0x1681, letter},    {0x17e0, digit},     {0x17ea, letter},    {0x2000, space},     {0x200c, mark},
      {0x2028, space},     {0x202a, mark},      {0x202f, space},     {0x2030, mark},      {0x205f, space},
      {0x2060, mark},      {0x2070, letter},    {0x2190, mark},      {0x2c00, letter},    {0x2e00, mark},
      {0x2e80, han},       {0x3000, space},     {0x3001, wide_mark}, {0x3005, han},       {0x3006, wide_mark},
      {0x3007, han},       {0x3008, wide_mark}, {0x3041, kana},      {0x3100, letter},    {0x31f0, kana},
      {0x3200, letter},    {0x3400, han},       {0xa000, letter},    {0xf900, han},       {0xfb00, letter},
      {0xfe30, wide_mark}, {0xfe50, letter},    {0xfeff, space},     {0xff00, wide_mark}, {0xff10, digit},
      {0xff1a, wide_mark}, {0xff21, letter},    {0xff3b, wide_mark}, {0xff41, letter},    {0xff5b, wide_mark},
      {0xff66, kana},      {0xffa0, letter},    {0x1f000, mark},     {0x20000, han},      {0x40000, letter}};
  static_assert(std::ranges::is_sorted(kRanges, {}, &Range::first));
  return std::prev(std::ranges::upper_bound(kRanges, character, {}, &Range::first))->kind;
}

}  // namespace treeglot
