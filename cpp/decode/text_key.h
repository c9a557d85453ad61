// Keys of output texts: equal texts have equal keys, however they are put together.
#pragma once

#include <cstdint>

#include "base/hash_index.h"

namespace treeglot {

// The number of a text of words w1 … wn, in base kBase: Σ mixed(wi) · kBase^(n − i), modulo 2^64. `power` is kBase^n.
// Different texts have the same number with a chance of about 2^-64, and up to 2^-59 if one is the other's words in
// another order.
struct TextKey {
  static constexpr std::uint64_t kBase = 0x9e3779b97f4a7c15u;

  std::uint64_t number = 0;
  std::uint64_t power = 1;

  void append(std::int64_t word) {
    number = number * kBase + hash_number(static_cast<std::uint64_t>(word) + 1);
    power *= kBase;
  }
  void append(const TextKey& text) {
    number = number * text.power + text.number;
    power *= text.power;
  }
};

}  // namespace treeglot
