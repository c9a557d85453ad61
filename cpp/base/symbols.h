// A table of strings and their numbers, append-only. Not synchronised: a thread has its own, or none writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash_index.h"

namespace treeglot {

using Symbol = std::uint32_t;

class Symbols {
 public:
  Symbols() = default;
  Symbols(Symbols&&) = default;  // no copies: texts_ points into blocks_
  Symbols& operator=(Symbols&&) = default;

  static constexpr Symbol kNone = 0xffffffffu;

  Symbol intern(std::string_view text);      // the number of `text`, given now if it is new
  Symbol find(std::string_view text) const;  // its number, or kNone
  std::string_view text(Symbol symbol) const { return texts_[symbol]; }
  std::size_t size() const { return texts_.size(); }

 private:
  std::vector<std::string_view> texts_;  // into blocks_, whose strings never move
  std::deque<std::string> blocks_;
  HashIndex index_;
};

// A good 64-bit hash of bytes, the same on every machine: files may depend on it.
std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed = 0);

// The place, of so many, that the high bits of a hash choose.
inline std::size_t place_of(std::uint64_t hash, std::size_t places) {
  __extension__ using Product = unsigned __int128;
  return static_cast<std::size_t>((static_cast<Product>(hash) * places) >> 64);
}

}  // namespace treeglot
