#include "parse/signature.h"

#include <algorithm>
#include <array>

#include "base/utf8.h"

namespace treeglot {
namespace {

constexpr std::string_view kUnknown = "UNK";

// Letters are those of ASCII, and in German those of Latin-1, umlauts among them; other alphabets' words are told by
// the last characters alone.
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_letter(char c) { return is_upper(c) || is_lower(c); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
char lower(char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

// Of the two bytes of a character in UTF-8: À to Þ without ×, ß to ÿ without ÷.
bool is_upper_latin(char first, char second) {
  const auto byte = static_cast<unsigned char>(second);
  return first == '\xc3' && byte >= 0x80 && byte <= 0x9e && byte != 0x97;
}
bool is_lower_latin(char first, char second) {
  const auto byte = static_cast<unsigned char>(second);
  return first == '\xc3' && byte >= 0x9f && byte <= 0xbf && byte != 0xb7;
}

std::string lowered_word(SignatureKind kind, std::string_view word) {
  std::string out(word);
  std::transform(out.begin(), out.end(), out.begin(), lower);
  if (kind != SignatureKind::german) return out;
  for (std::size_t i = 0; i + 1 < out.size(); ++i) {
    if (is_upper_latin(out[i], out[i + 1])) out[i + 1] = static_cast<char>(out[i + 1] + 0x20);
  }
  return out;
}

// The word with A and a in place of other letters, for its shape.
std::string in_ascii(SignatureKind kind, std::string_view word) {
  std::string out;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const bool two = kind == SignatureKind::german && i + 1 < word.size();
    const bool upper = two && is_upper_latin(word[i], word[i + 1]);
    if (upper || (two && is_lower_latin(word[i], word[i + 1]))) {
      out += upper ? 'A' : 'a';
      ++i;
    } else {
      out += word[i];
    }
  }
  return out;
}

std::vector<std::string_view> characters(std::string_view word) {
  std::vector<std::string_view> out;
  const auto* bytes = reinterpret_cast<const unsigned char*>(word.data());
  for (std::size_t at = 0; at < word.size();) {
    const std::size_t size = std::max<std::size_t>(1, utf8_character(bytes + at, word.size() - at));
    out.push_back(word.substr(at, size));
    at += size;
  }
  return out;
}

std::string last_characters(std::string_view word, std::size_t number) {
  const std::vector<std::string_view> all = characters(word);
  std::string out;
  for (std::size_t i = all.size() - std::min(all.size(), number); i < all.size(); ++i) out += all[i];
  return out;
}

struct Shape {
  std::size_t capitals = 0;
  bool digit = false, dash = false, small = false;
};

Shape shape_of(std::string_view word) {
  Shape shape;
  for (const char c : word) {
    shape.capitals += is_upper(c);
    shape.digit |= is_digit(c);
    shape.dash |= c == '-';
    shape.small |= is_lower(c);
  }
  return shape;
}

std::string shape_name(std::string_view word, const Shape& shape, std::size_t position, bool known_lower) {
  std::string name(kUnknown);
  if (!word.empty() && is_upper(word[0])) {
    if (position == 0 && shape.capitals == 1) {
      name += known_lower ? "-INITC-KNOWNLC" : "-INITC";
    } else {
      name += "-CAPS";
    }
  } else if (!word.empty() && is_letter(word[0]) && shape.capitals > 0) {
    name += "-CAPS";
  } else if (shape.small) {
    name += "-LC";
  }
  if (shape.digit) name += "-NUM";
  if (shape.dash) name += "-DASH";
  return name;
}

// The suffix classes of the Berkeley parser's English grammars.
std::string_view english_suffix(std::string_view lowered, const Shape& shape) {
  const std::size_t size = lowered.size();
  if (size >= 3 && lowered.back() == 's') {
    const char before = lowered[size - 2];
    return before != 's' && before != 'i' && before != 'u' ? "s" : "";
  }
  if (size < 5 || shape.dash || (shape.digit && shape.capitals > 0)) return "";
  static constexpr std::array<std::string_view, 9> kSuffixes = {"ed", "ing", "ion", "er", "est",
                                                                "ly", "ity", "y",   "al"};
  for (const std::string_view suffix : kSuffixes) {
    if (lowered.ends_with(suffix)) return suffix;
  }
  return "";
}

bool is_ascii(std::string_view word) {
  return std::all_of(word.begin(), word.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace

std::string in_word_class(std::string_view signature, std::uint32_t number) {
  return std::string(signature) + "/" + std::to_string(number);
}

std::string lower_first(SignatureKind kind, std::string_view word) {
  const std::size_t size = word.empty() ? 0 : characters(word).front().size();
  return lowered_word(kind, word.substr(0, size)).append(word.substr(size));
}

std::vector<std::string> signatures(SignatureKind kind, std::string_view word, std::size_t position, bool known_lower) {
  const std::string plain = in_ascii(kind, word);
  const Shape shape = shape_of(plain);
  std::vector<std::string> out;
  if (kind == SignatureKind::chinese && !is_ascii(word)) {
    const std::string last = last_characters(word, 1);
    const std::size_t length = std::min<std::size_t>(characters(word).size(), 4);
    out.push_back("UNK-" + std::to_string(length) + "-" + last);
    out.push_back("UNK-" + last);
    out.push_back("UNK-" + std::to_string(length));
  } else {
    const std::string lowered = lowered_word(kind, word);
    const std::string name = shape_name(plain, shape, position, known_lower);
    if (kind == SignatureKind::german) {
      if (!shape.digit && characters(lowered).size() >= 5) {
        out.push_back(name + "-" + last_characters(lowered, 3));
        out.push_back(name + "-" + last_characters(lowered, 2));
      }
    } else if (const std::string_view suffix = english_suffix(lowered, shape); !suffix.empty()) {
      out.push_back(name + "-" + std::string(suffix));
    }
    if (name != kUnknown) out.push_back(name);
  }
  out.emplace_back(kUnknown);
  return out;
}

}  // namespace treeglot
