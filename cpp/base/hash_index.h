// Finds numbers by what they stand for: open addressing over a power of two of slots. The caller keeps the values.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace treeglot {

// A hash of a number whose bits say little by themselves.
inline std::uint64_t hash_number(std::uint64_t number) {
  number *= 0x9e3779b97f4a7c15u;
  number = (number ^ number >> 29) * 0xbf58476d1ce4e5b9u;
  return number ^ number >> 32;
}

// The low 32 bits of a hash count. `same(number)` says whether a number entered with such a hash is the one wanted.
class HashIndex {
 public:
  static constexpr std::uint32_t kNone = 0xffffffffu;

  template <class Same>
  std::uint32_t find(std::uint64_t hash, const Same& same) const {  // or kNone
    return slots_.empty() ? kNone : slots_[place(static_cast<std::uint32_t>(hash), same)].number;
  }
  // Like find(). If there is no such number, enters `number` and returns it.
  template <class Same>
  std::uint32_t intern(std::uint64_t hash, std::uint32_t number, const Same& same) {
    if ((used_ + 1) * 3 > slots_.size() * 2) grow();
    Slot& slot = slots_[place(static_cast<std::uint32_t>(hash), same)];
    if (slot.number == kNone) {
      slot = {static_cast<std::uint32_t>(hash), number};
      ++used_;
    }
    return slot.number;
  }

  // Keeps the memory that is likely to be needed again.
  void clear() {
    slots_.assign(std::min(slots_.size(), std::max<std::size_t>(64, std::bit_ceil(2 * used_))), {});
    used_ = 0;
  }
  std::size_t bytes() const { return slots_.size() * sizeof(Slot); }

  // For use before intern(): prefetch() loads the slot into the cache, and likely() guesses the number from it.
  void prefetch(std::uint64_t hash) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]);
  }
  std::uint32_t likely(std::uint64_t hash) const {
    if (slots_.empty()) return kNone;
    const Slot& slot = slots_[hash & (slots_.size() - 1)];
    return slot.hash == static_cast<std::uint32_t>(hash) ? slot.number : kNone;
  }

 private:
  struct Slot {
    std::uint32_t hash = 0, number = kNone;
  };

  template <class Same>
  std::size_t place(std::uint32_t hash, const Same& same) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hash & mask;
    while (slots_[at].number != kNone && (slots_[at].hash != hash || !same(slots_[at].number))) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots_.empty() ? 64 : slots_.size() * 2));
    for (const Slot& slot : old)
      if (slot.number != kNone) slots_[place(slot.hash, [](std::uint32_t) { return false; })] = slot;
  }

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

}  // namespace treeglot
