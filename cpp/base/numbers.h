// Numbers as text, the same in every locale and with every standard library (libc++ has no from_chars for doubles).
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace treeglot {

// The whole of `text` as a decimal number such as 12, -0.5 or 3e-7, without blanks, +, nan and infinity: the double
// nearest to it. Nothing when it is not one, or is too large.
std::optional<double> parse_double(std::string_view text);

// Like parse_double, but accepts what C and Python also write: a +, 1. and .5.
std::optional<double> parse_loose_double(std::string_view text);

// The float nearest to it; + may lead, and what is too small for a float is 0.
std::optional<float> parse_float(std::string_view text);

// Parses `text` as digits without leading zeros. Returns nothing for other text, and for numbers that do not fit.
std::optional<std::uint32_t> parse_count(std::string_view text);

// The shortest of 15 to 17 digits that parse_double takes back to `value`, which is finite.
void append_double(double value, std::string& out);

// 1 for infinite numbers and those that are none, 0 for others: a value to add up over arrays, without jumps.
inline std::uint32_t infinite(float value) {
  return (std::bit_cast<std::uint32_t>(value) & 0x7f800000u) == 0x7f800000u ? 1u : 0u;
}

}  // namespace treeglot
