// The sides of a rule as bytes, short enough to sort, hash and group them by the million. With the words of the bitext
// they are self-contained. Frequent words have low numbers, and low numbers few bytes. The order of the bytes is the
// order of the numbers, symbol by symbol. So sorting by bytes brings together what a trie shares.
//
//   0 … 7      the variables 1 … 8 with the label X
//   8 i l      variable i + 1 with the label l
//   9 …        a target side's structure, up to its end (what it says is the extractor's business)
//   10 l       a left-hand side other than X, before the source side
//   11 l       opens a node labelled l of a tree fragment; a fragment's left-hand side is its root's label, without 10
//   12         closes the node that was opened last
//   16 …       words
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace treeglot {

namespace code {

constexpr std::uint32_t kShortVariables = 8;
constexpr std::uint32_t kVariable = 8;
constexpr std::uint32_t kStructure = 9;
constexpr std::uint32_t kLeftHandSide = 10;
constexpr std::uint32_t kOpen = 11;
constexpr std::uint32_t kClose = 12;
constexpr std::uint32_t kFirstWord = 16;
constexpr std::uint32_t kEnd = 1u << 28;  // numbers are below
constexpr std::size_t kLongest = 4;       // bytes of a number

// Writes `number` at `at`, which has room for kLongest bytes, and returns the end.
inline char* put(char* at, std::uint32_t number) {
  if (number < 1u << 7) {
    *at++ = static_cast<char>(number);
  } else if (number < 1u << 14) {
    *at++ = static_cast<char>(0x80 | number >> 8);
    *at++ = static_cast<char>(number);
  } else if (number < 1u << 21) {
    *at++ = static_cast<char>(0xc0 | number >> 16);
    *at++ = static_cast<char>(number >> 8);
    *at++ = static_cast<char>(number);
  } else {
    *at++ = static_cast<char>(0xe0 | number >> 24);
    *at++ = static_cast<char>(number >> 16);
    *at++ = static_cast<char>(number >> 8);
    *at++ = static_cast<char>(number);
  }
  return at;
}

inline void append(std::string& out, std::uint32_t number) {
  char bytes[kLongest];
  out.append(bytes, put(bytes, number));
}

// Takes a number from the front of `bytes`; refuses one that is cut short.
inline std::uint32_t take(std::string_view& bytes) {
  const auto byte = [&](std::size_t i) -> std::uint32_t { return static_cast<unsigned char>(bytes[i]); };
  if (bytes.empty()) throw std::invalid_argument("a rule's code ends too early");
  const std::uint32_t first = byte(0);
  const std::size_t size = first < 0x80 ? 1 : first < 0xc0 ? 2 : first < 0xe0 ? 3 : first < 0xf0 ? 4 : 0;
  if (size == 0 || bytes.size() < size) throw std::invalid_argument("a rule's code ends too early or is damaged");
  constexpr std::uint32_t kMask[] = {0, 0x7f, 0x3f, 0x1f, 0x0f};
  std::uint32_t number = first & kMask[size];
  for (std::size_t i = 1; i < size; ++i) number = number << 8 | byte(i);
  bytes.remove_prefix(size);
  return number;
}

// Writes a variable; `index` counts from 0, label 0 is X. There is room for three numbers.
inline char* put_variable(char* at, std::uint32_t index, std::uint32_t label) {
  if (index < kShortVariables && label == 0) return put(at, index);
  return put(put(put(at, kVariable), index), label);
}

struct Symbol {
  enum class Kind { word, variable, open, close };
  Kind kind;
  std::uint32_t number = 0;  // of a word; of a variable, from 0
  std::uint32_t label = 0;   // of a variable or a node
};

// Takes the label of the left-hand side from the front of a source side; that of a fragment stays there as its root.
inline std::uint32_t take_left_hand_side(std::string_view& source) {
  std::string_view rest = source;
  if (rest.empty()) return 0;
  const std::uint32_t number = take(rest);
  if (number != kLeftHandSide && number != kOpen) return 0;
  const std::uint32_t label = take(rest);
  if (number == kLeftHandSide) source = rest;
  return label;
}

// Takes the next symbol from the front of a side whose left-hand side has been taken. Returns false at its end or where
// its structure begins. The structure is what is left then.
inline bool take_symbol(std::string_view& side, Symbol& symbol) {
  if (side.empty()) return false;
  const std::uint32_t number = take(side);
  if (number >= kFirstWord) {
    symbol = {Symbol::Kind::word, number - kFirstWord, 0};
  } else if (number < kShortVariables) {
    symbol = {Symbol::Kind::variable, number, 0};
  } else if (number == kVariable) {
    const std::uint32_t index = take(side);
    symbol = {Symbol::Kind::variable, index, take(side)};
  } else if (number == kOpen) {
    symbol = {Symbol::Kind::open, 0, take(side)};
  } else if (number == kClose) {
    symbol = {Symbol::Kind::close, 0, 0};
  } else if (number == kStructure) {
    return false;
  } else {
    throw std::invalid_argument("a rule's code has a number without a meaning");
  }
  return true;
}

// The number of variables of a source side.
inline std::uint32_t variables(std::string_view source) {
  std::uint32_t count = 0;
  take_left_hand_side(source);
  for (Symbol symbol; take_symbol(source, symbol);) count += symbol.kind == Symbol::Kind::variable ? 1 : 0;
  return count;
}

}  // namespace code

}  // namespace treeglot
