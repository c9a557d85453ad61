// Rules' codes as text, as the rule table's columns have it: words and variables separated by blanks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/strings.h"
#include "rules/tally.h"

namespace treeglot {

// A variable is [LABEL,INDEX] with the index from 1; a node of a fragment is LABEL( … ). A word that begins with a
// backslash or looks like a variable, […], or a bracket, …( or ), is written with a backslash before it.
std::string escaped(std::string_view word);

// Codes in the memory of an Arrow binary array.
struct Codes {
  Codes() = default;
  // Refuses offsets that decrease or lead outside of the bytes.
  Codes(std::span<const std::int32_t> offsets, std::span<const char> bytes);

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
  // The target sides of rules with these source sides: a variable without a label of its own has that of its source.
  Target target(const Codes& sources, const Codes& codes) const;
  BinaryColumn labels(const Codes& codes) const;      // of the rule, then of its variables
  static BinaryColumn alignment(const Codes& codes);  // 0-0 1-2

 private:
  // Appends the symbols of a side up to its structure, which is left in `code`. A variable's label is its own, or else
  // that of the same variable among `labels`.
  void append_symbols(std::string& out, std::string_view& code, const Strings& words,
                      std::span<const std::uint32_t> labels) const;
  std::string_view label(std::uint32_t number) const;

  Strings source_words_, target_words_, labels_;  // words are escaped
};

}  // namespace treeglot
