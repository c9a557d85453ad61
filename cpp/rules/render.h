// Rules' codes as text, as the rule table's columns have it: words and variables separated by blanks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/strings.h"
#include "rules/tally.h"

namespace treeglot {

// A variable is [LABEL,INDEX] with the index from 1. A word that begins with a backslash or looks like a variable, […],
// is written with a backslash before it.
std::string escaped(std::string_view word);

// Codes in the memory of an Arrow binary array.
struct Codes {
  std::span<const std::int32_t> offsets;  // one more than rows
  std::span<const char> bytes;

  std::size_t rows() const { return offsets.empty() ? 0 : offsets.size() - 1; }
  std::string_view operator[](std::size_t row) const {
    return {bytes.data() + offsets[row], static_cast<std::size_t>(offsets[row + 1] - offsets[row])};
  }
};

class Renderer {
 public:
  // The words by number, and the labels: label 0 is X.
  Renderer(const Strings& source_words, const Strings& target_words, Strings labels);

  struct Source {
    BinaryColumn lhs, symbols;
  };
  struct Target {
    BinaryColumn symbols, structure;  // a structure is numbers; what they mean is the extractor's business
  };
  Source source(const Codes& codes) const;
  Target target(const Codes& codes) const;
  BinaryColumn labels(const Codes& codes) const;      // of the rule, then of its variables
  static BinaryColumn alignment(const Codes& codes);  // 0-0 1-2

 private:
  // Appends the symbols of a side up to its structure, which is left in `code`.
  void append_symbols(std::string& out, std::string_view& code, const Strings& words) const;
  std::string_view label(std::uint32_t number) const;

  Strings source_words_, target_words_, labels_;  // words are escaped
};

}  // namespace treeglot
