#include "base/symbols.h"

#include <bit>
#include <cstring>

namespace treeglot {
namespace {

static_assert(std::endian::native == std::endian::little, "files and hashes are little endian");

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
#ifdef __SIZEOF_INT128__
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
#else
#error "a 128-bit product is needed"
#endif
}

template <class T>
std::uint64_t load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// The 1 to 7 bytes that begin at `at`, as a number. Two loads may overlap, since they agree.
std::uint64_t few_bytes(const char* at, std::size_t size) {
  if (size >= 4) return load<std::uint32_t>(at) | load<std::uint32_t>(at + size - 4) << 8 * (size - 4);
  const std::size_t middle = size / 2, last = size - 1;
  return load<unsigned char>(at) | load<unsigned char>(at + middle) << 8 * middle |
         load<unsigned char>(at + last) << 8 * last;
}

constexpr std::uint64_t kOdd1 = 0x9e3779b97f4a7c15u;
constexpr std::uint64_t kOdd2 = 0xd6e8feb86659fd93u;

}  // namespace

std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed) {
  std::uint64_t state = mix(seed ^ kOdd1, bytes.size() ^ kOdd2);
  const char* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; at += 8, left -= 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    state = mix(state ^ word, kOdd1);
  }
  if (left > 0) state = mix(state ^ few_bytes(at, left), kOdd1);
  return mix(state ^ kOdd2, kOdd1);
}

Symbol Symbols::find(std::string_view text) const {
  return index_.find(hash_bytes(text), [&](Symbol symbol) { return texts_[symbol] == text; });
}

Symbol Symbols::intern(std::string_view text) {
  const auto next = static_cast<Symbol>(texts_.size());
  const Symbol symbol = index_.intern(hash_bytes(text), next, [&](Symbol known) { return texts_[known] == text; });
  if (symbol != next) return symbol;
  constexpr std::size_t kBlock = 1 << 16;
  if (blocks_.empty() || blocks_.back().capacity() - blocks_.back().size() < text.size()) {
    blocks_.emplace_back();
    blocks_.back().reserve(text.size() > kBlock ? text.size() : kBlock);
  }
  std::string& block = blocks_.back();
  const std::size_t begin = block.size();
  block.append(text);
  texts_.emplace_back(block.data() + begin, text.size());
  return symbol;
}

}  // namespace treeglot
