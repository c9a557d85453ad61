// What is UTF-8 and what is not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace treeglot {

// The length of the UTF-8 character at `at`, by table 3-7 of the Unicode standard; 0 when there is none.
inline std::size_t utf8_character(const unsigned char* at, std::size_t left) {
  const auto continued = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xbf) {
    return i < left && at[i] >= low && at[i] <= high;
  };
  if (left == 0) return 0;
  const unsigned lead = at[0];
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return continued(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    return continued(1, lead == 0xe0 ? 0xa0 : 0x80, lead == 0xed ? 0x9f : 0xbf) && continued(2) ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    return continued(1, lead == 0xf0 ? 0x90 : 0x80, lead == 0xf4 ? 0x8f : 0xbf) && continued(2) && continued(3) ? 4 : 0;
  }
  return 0;
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
