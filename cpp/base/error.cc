#include "base/error.h"

namespace treeglot {

std::string quoted(std::string_view text) {
  constexpr std::size_t kLongest = 60;  // bytes shown; enough to recognise the place, short enough for one line
  std::string out = "'";
  std::size_t shown = 0;
  for (; shown < text.size() && shown < kLongest; ++shown) {
    const auto byte = static_cast<unsigned char>(text[shown]);
    if (byte < 0x20 || byte == 0x7f) {
      constexpr char kHex[] = "0123456789abcdef";
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      out += text[shown];
    }
  }
  if (shown < text.size()) {
    // Cut before a UTF-8 continuation byte, never inside a character.
    while (!out.empty() && (static_cast<unsigned char>(text[shown]) & 0xc0) == 0x80 && out.size() > 1) {
      out.pop_back();
      --shown;
    }
    out += "…";
  }
  return out + "'";
}

}  // namespace treeglot
