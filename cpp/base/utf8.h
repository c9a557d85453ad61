// What is UTF-8 and what is not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace treeglot {

inline bool utf8_continued(unsigned char byte, unsigned low = 0x80, unsigned high = 0xbf) {
  return byte >= low && byte <= high;
}

inline bool utf8_three(const unsigned char* at) {
  const unsigned lead = at[0];
  return utf8_continued(at[1], lead == 0xe0 ? 0xa0 : 0x80, lead == 0xed ? 0x9f : 0xbf) && utf8_continued(at[2]);
}

inline bool utf8_four(const unsigned char* at) {
  const unsigned lead = at[0];
  return utf8_continued(at[1], lead == 0xf0 ? 0x90 : 0x80, lead == 0xf4 ? 0x8f : 0xbf) && utf8_continued(at[2]) &&
         utf8_continued(at[3]);
}

// The length of the UTF-8 character at `at`, by table 3-7 of the Unicode standard; 0 when there is none.
inline std::size_t utf8_character(const unsigned char* at, std::size_t left) {
  if (left == 0) return 0;
  const unsigned lead = at[0];
  if (lead < 0x80) return 1;
  if (lead < 0xc2) return 0;
  if (lead <= 0xdf) return left > 1 && utf8_continued(at[1]) ? 2 : 0;
  if (lead <= 0xef) return left > 2 && utf8_three(at) ? 3 : 0;
  return lead <= 0xf4 && left > 3 && utf8_four(at) ? 4 : 0;
}

inline bool is_utf8(std::string_view text) {
  const auto* at = reinterpret_cast<const unsigned char*>(text.data());
  for (std::size_t left = text.size(); left > 0;) {
    std::uint64_t word = 0x80;  // eight bytes at once while they are ASCII
    if (left >= sizeof word) std::memcpy(&word, at, sizeof word);
    const std::size_t length = (word & 0x8080808080808080u) == 0 ? sizeof word : utf8_character(at, left);
    if (length == 0) return false;
    at += length;
    left -= length;
  }
  return true;
}

}  // namespace treeglot
