#include "base/numbers.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <clocale>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <system_error>
#include <version>

namespace treeglot {
namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                              1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// The C library's conversion, which wants the locale's decimal point.
double slow_parse(std::string_view text) {
  std::string copy;
  for (const char c : text) {
    if (c == '.') {
      copy += std::localeconv()->decimal_point;
    } else {
      copy += c;
    }
  }
  return std::strtod(copy.c_str(), nullptr);
}

// A number as it is written: digits times a power of ten.
struct Decimal {
  std::uint64_t digits = 0;  // the significant ones as an integer, exact while there are at most 19
  int kept = 0, exponent = 0;
  bool negative = false, valid = false;

  // Both numbers are exact doubles and one operation rounds once (Clinger 1990); all else is rare.
  bool exact() const { return kept <= 19 && digits < (std::uint64_t{1} << 53) && exponent >= -22 && exponent <= 22; }
  double value() const {
    const auto number = static_cast<double>(digits);
    const double size = exponent < 0 ? number / kPowers[-exponent] : number * kPowers[exponent];
    return negative ? -size : size;
  }
};

// Reads the power of ten after the e of a number; false if there is none.
bool read_power(const char*& at, const char* end, int& power) {
  const bool below = at != end && *at == '-';
  if (at != end && (*at == '-' || *at == '+')) ++at;
  const char* const begin = at;
  for (power = 0; at != end && is_digit(*at); ++at) power = std::min(power * 10 + (*at - '0'), 100000);
  if (below) power = -power;
  return at != begin;
}

Decimal read_decimal(std::string_view text) {
  Decimal out;
  const char* at = text.data();
  const char* const end = at + text.size();
  out.negative = at != end && *at == '-';
  at += out.negative;
  const auto take = [&](int shift) {
    const char* const begin = at;
    for (; at != end && is_digit(*at); ++at) {
      if (out.kept < 19) {
        out.digits = out.digits * 10 + static_cast<std::uint64_t>(*at - '0');
        out.kept += out.digits != 0;
        out.exponent += shift;
      } else {
        ++out.kept;
      }
    }
    return at != begin;
  };
  if (!take(0)) return out;
  if (at != end && *at == '.') {
    ++at;
    if (!take(-1)) return out;
  }
  if (at != end && (*at == 'e' || *at == 'E')) {
    ++at;
    int power = 0;
    if (!read_power(at, end, power)) return out;
    out.exponent += power;
  }
  out.valid = at == end;
  return out;
}

// Whether the float nearest to `value` is also the one nearest to the number that was rounded to `value`. This fails
// only if `value` lies halfway between two floats.
bool rounds_to_float(double value) {
  const double size = std::abs(value);
  if (size == 0) return true;
  constexpr std::uint64_t kBelowFloat = (std::uint64_t{1} << 29) - 1, kHalf = std::uint64_t{1} << 28;
  return size >= std::numeric_limits<float>::min() && size < std::numeric_limits<float>::max() &&
         (std::bit_cast<std::uint64_t>(value) & kBelowFloat) != kHalf;
}

}  // namespace

std::optional<double> parse_double(std::string_view text) {
  const Decimal decimal = read_decimal(text);
  if (!decimal.valid) return std::nullopt;
  if (decimal.exact()) return decimal.value();
  const double value = slow_parse(text);
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::optional<double> parse_loose_double(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  if (const std::optional<double> value = parse_double(text)) return value;
  const std::size_t point = text.find('.');
  if (point == std::string_view::npos) return std::nullopt;
  const bool before = point > 0 && is_digit(text[point - 1]);
  const bool after = point + 1 < text.size() && is_digit(text[point + 1]);
  if (!before && !after) return std::nullopt;
  std::string whole(text.substr(0, point));
  whole.append(before ? "." : "0.").append(after ? "" : "0").append(text.substr(point + 1));
  return parse_double(whole);
}

std::optional<std::uint32_t> parse_count(std::string_view text) {
  constexpr std::size_t kMostDigits = 10;
  if (text.empty() || text.size() > kMostDigits || (text.size() > 1 && text[0] == '0')) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : text) {
    if (!is_digit(c)) return std::nullopt;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  if (value > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  return static_cast<std::uint32_t>(value);
}

void append_double(double value, std::string& out) {
  char buffer[40];
  if (value == std::trunc(value) && std::abs(value) < 1e15) {
    const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, static_cast<std::int64_t>(value));
    out.append(buffer, end);
    return;
  }
  for (int precision = 15; precision <= 17; ++precision) {
    const int size = std::snprintf(buffer, sizeof buffer, "%.*g", precision, value);
    if (precision < 17 && std::strtod(buffer, nullptr) != value) continue;
    const std::string_view text(buffer, static_cast<std::size_t>(size));
    const std::string_view point = std::localeconv()->decimal_point;
    const std::size_t found = text.find(point);
    out += text.substr(0, found);
    if (found == std::string_view::npos) return;
    out += '.';
    out += text.substr(found + point.size());
    return;
  }
}

std::optional<float> parse_float(std::string_view text) {
  if (const Decimal decimal = read_decimal(text); decimal.valid && decimal.exact()) {
    const double value = decimal.value();
    if (rounds_to_float(value)) return static_cast<float>(value);
  }
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
