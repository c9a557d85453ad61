#include "base/number.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>
#include <system_error>
#include <version>

namespace treeglot {

std::optional<float> parse_float(std::string_view text) {
  // Words that from_chars and strtof take for numbers (inf, nan, hexadecimals) are none here.
  if (text.empty() || text.find_first_not_of("0123456789+-.eE") != std::string_view::npos) return {};
  float value = 0;
#ifdef __cpp_lib_to_chars
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, value);
  if (last == end && error == std::errc()) return value;
  if (last != end || error != std::errc::result_out_of_range) return {};
#endif
  // Too large or too small, or a library without from_chars.
  const std::string copy(text);
  char* stop = nullptr;
  value = std::strtof(copy.c_str(), &stop);
  if (stop != copy.c_str() + copy.size() || !std::isfinite(value)) return {};
  return value;
}

}  // namespace treeglot
