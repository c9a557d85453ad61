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
  if (left > 0) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, left);
    state = mix(state ^ word, kOdd1);
  }
  return mix(state ^ kOdd2, kOdd1);
}

Symbol Symbols::find(std::string_view text) const {
  if (slots_.empty()) return kNone;
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = hash_bytes(text) & mask;; slot = (slot + 1) & mask) {
    const Symbol symbol = slots_[slot];
    if (symbol == kNone || texts_[symbol] == text) return symbol;
  }
}

Symbol Symbols::intern(std::string_view text) {
  if ((texts_.size() + 1) * 2 > slots_.size()) grow();
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash_bytes(text) & mask;
  for (; slots_[slot] != kNone; slot = (slot + 1) & mask) {
    if (texts_[slots_[slot]] == text) return slots_[slot];
  }
  constexpr std::size_t kBlock = 1 << 16;
  if (blocks_.empty() || blocks_.back().capacity() - blocks_.back().size() < text.size()) {
    blocks_.emplace_back();
    blocks_.back().reserve(text.size() > kBlock ? text.size() : kBlock);
  }
  std::string& block = blocks_.back();
  const std::size_t begin = block.size();
  block.append(text);
  const auto symbol = static_cast<Symbol>(texts_.size());
  texts_.emplace_back(block.data() + begin, text.size());
  slots_[slot] = symbol;
  return symbol;
}

void Symbols::grow() {
  slots_.assign(slots_.empty() ? 64 : slots_.size() * 2, kNone);
  const std::size_t mask = slots_.size() - 1;
  for (Symbol symbol = 0; symbol < texts_.size(); ++symbol) {
    std::size_t slot = hash_bytes(texts_[symbol]) & mask;
    while (slots_[slot] != kNone) slot = (slot + 1) & mask;
    slots_[slot] = symbol;
  }
}

}  // namespace treeglot
