#include "base/error.h"

#include <system_error>
#include <utility>

#include "base/utf8.h"

namespace treeglot {

FileError::FileError(std::string file, int number)
    : std::runtime_error(file + ": " + std::generic_category().message(number)),
      file_(std::move(file)),
      number_(number) {}

std::string quoted(std::string_view text) {
  constexpr std::size_t kLongest = 60;  // bytes shown; enough to recognise the place, short enough for one line
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  std::string out = "'";
  std::size_t shown = 0;
  while (shown < text.size()) {
    const unsigned byte = bytes[shown];
    const std::size_t length = utf8_character(bytes + shown, text.size() - shown);
    if (shown + (length == 0 ? 1 : length) > kLongest) return out + "…'";
    if (length == 0 || byte < 0x20 || byte == 0x7f) {  // a message is text, whatever it speaks of
      constexpr char kHex[] = "0123456789abcdef";
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
      ++shown;
    } else {
      out += text.substr(shown, length);
      shown += length;
    }
  }
  return out + "'";
}

}  // namespace treeglot
