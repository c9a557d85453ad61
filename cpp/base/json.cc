#include "base/json.h"

#include <optional>
#include <stdexcept>

#include "base/error.h"
#include "base/numbers.h"

namespace treeglot {
namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_of_number(char c) { return is_digit(c) || c == '+' || c == '-' || c == '.' || c == 'e' || c == 'E'; }
constexpr bool is_control(char c) { return static_cast<unsigned char>(c) < 32; }

void append_utf8(std::uint32_t code, std::string& out) {
  const auto byte = [&](std::uint32_t value) { out += static_cast<char>(value); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xc0 | code >> 6);
    byte(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    byte(0xe0 | code >> 12);
    byte(0x80 | (code >> 6 & 0x3f));
    byte(0x80 | (code & 0x3f));
  } else {
    byte(0xf0 | code >> 18);
    byte(0x80 | (code >> 12 & 0x3f));
    byte(0x80 | (code >> 6 & 0x3f));
    byte(0x80 | (code & 0x3f));
  }
}

}  // namespace

void JsonCursor::refuse(const std::string& expected) const {
  const std::string found = at_ < text_.size() ? quoted(text_.substr(at_)) : "the end";
  throw std::invalid_argument(found + " at byte " + std::to_string(at_ + 1) + "; expected " + expected);
}

void JsonCursor::blanks() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
    ++at_;
}

bool JsonCursor::skip(char c) {
  blanks();
  if (at_ >= text_.size() || text_[at_] != c) return false;
  ++at_;
  return true;
}

void JsonCursor::expect(char c) {
  if (!skip(c)) refuse(quoted(std::string_view(&c, 1)));
}

bool JsonCursor::next(char last) {
  if (skip(',')) return true;
  if (!skip(last)) refuse("',' or " + quoted(std::string_view(&last, 1)));
  return false;
}

void JsonCursor::key(std::string& out) {
  string(out);
  expect(':');
}

std::uint32_t JsonCursor::hex() {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i, ++at_) {
    const char c = at_ < text_.size() ? text_[at_] : ' ';
    if (is_digit(c)) {
      value = value * 16 + static_cast<std::uint32_t>(c - '0');
    } else if ((c | 32) >= 'a' && (c | 32) <= 'f') {
      value = value * 16 + static_cast<std::uint32_t>((c | 32) - 'a' + 10);
    } else {
      refuse("four hexadecimal digits");
    }
  }
  return value;
}

void JsonCursor::string(std::string& out) {
  out.clear();
  blanks();
  if (at_ >= text_.size() || text_[at_] != '"') refuse("a string");
  ++at_;
  while (true) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\' && !is_control(text_[at_])) ++at_;
    out.append(text_, begin, at_ - begin);
    if (at_ >= text_.size() || is_control(text_[at_])) refuse("the end of a string");
    if (text_[at_++] == '"') return;
    escape(out);
  }
}

void JsonCursor::escape(std::string& out) {
  constexpr std::string_view kShort = "\"\\/bfnrt";
  constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
  const char which = at_ < text_.size() ? text_[at_] : ' ';
  if (const std::size_t place = kShort.find(which); place != std::string_view::npos) {
    out += kMeant[place];
    ++at_;
    return;
  }
  if (which != 'u') refuse("an escape such as \\n or \\u00e9");
  const std::size_t before = at_ - 1;
  ++at_;
  std::uint32_t code = hex();
  if (code >= 0xd800 && code < 0xdc00 && text_.substr(at_).starts_with("\\u")) {  // a pair of surrogates
    at_ += 2;
    const std::uint32_t low = hex();
    if (low >= 0xdc00 && low < 0xe000) code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  }
  if (code >= 0xd800 && code < 0xe000) {
    at_ = before;
    refuse("a whole surrogate pair");
  }
  append_utf8(code, out);
}

std::string_view JsonCursor::number_text() {
  blanks();
  std::size_t end = at_;
  while (end < text_.size() && is_of_number(text_[end])) ++end;
  return text_.substr(at_, end - at_);
}

double JsonCursor::number() {
  const std::string_view text = number_text();
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  const bool padded = digits.size() > 1 && digits[0] == '0' && is_digit(digits[1]);
  const std::optional<double> value = padded ? std::nullopt : parse_double(text);
  if (!value) refuse("a number");
  at_ += text.size();
  return *value;
}

std::uint32_t JsonCursor::count() {
  const std::string_view text = number_text();
  const std::optional<std::uint32_t> value = parse_count(text);
  if (!value) refuse("an integer from 0 to 4294967295");
  at_ += text.size();
  return *value;
}

bool JsonCursor::skip_null() {
  blanks();
  if (!text_.substr(at_).starts_with("null")) return false;
  at_ += 4;
  return true;
}

void JsonCursor::end() {
  blanks();
  if (at_ != text_.size()) refuse("the end of the line");
}

void append_json(std::string_view text, std::string& out) {
  constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 32 || byte == 127) {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

}  // namespace treeglot
