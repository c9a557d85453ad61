// Decimal numbers in text.
#pragma once

#include <optional>
#include <string_view>

namespace treeglot {

// The float nearest to the decimal number that `text` is, the whole of it; none when it is not a finite number.
// What is too small for a float is 0.
std::optional<float> parse_float(std::string_view text);

}  // namespace treeglot
