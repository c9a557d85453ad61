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
//
// To clear an index costs nothing: a slot keeps its number above `base_`, and clear() raises this base over all of
// them.
class HashIndex {
 public:
  static constexpr std::uint32_t kNone = 0xffffffffu;

  template <class Same>
  std::uint32_t find(std::uint64_t hash, const Same& same) const {  // or kNone
    return size_ == 0 ? kNone : number(slots_[place(static_cast<std::uint32_t>(hash), same)]);
  }
  // Like find(). If there is no such number, enters `number` and returns it.
  template <class Same>
  std::uint32_t intern(std::uint64_t hash, std::uint32_t number, const Same& same) {
    if ((used_ + 1) * 3 > size_ * 2) grow();
    Slot& slot = slots_[place(static_cast<std::uint32_t>(hash), same)];
    if (slot.above > base_) return this->number(slot);
    slot = {static_cast<std::uint32_t>(hash), base_ + 1 + number};
    ++used_;
    most_ = std::max(most_, number);
    return number;
  }

  // Keeps the memory, and uses as much of it as is likely to be needed.
  void clear() {
    if (used_ == 0) return;
    size_ = std::min(size_, std::max(kFewest, std::bit_ceil(2 * used_)));
    used_ = 0;
    if (most_ < kMostBase && base_ < kMostBase - most_) {
      base_ += most_ + 1;
    } else {
      std::ranges::fill(slots_, Slot());
      base_ = 0;
    }
    most_ = 0;
  }
  std::size_t bytes() const { return slots_.size() * sizeof(Slot); }

  // For use before intern(): prefetch() loads the slot into the cache, and likely() guesses the number from it.
  void prefetch(std::uint64_t hash) const {
    if (size_ > 0) __builtin_prefetch(&slots_[hash & (size_ - 1)]);
  }
  std::uint32_t likely(std::uint64_t hash) const {
    if (size_ == 0) return kNone;
    const Slot& slot = slots_[hash & (size_ - 1)];
    return slot.hash == static_cast<std::uint32_t>(hash) ? number(slot) : kNone;
  }

 private:
  struct Slot {
    std::uint32_t hash = 0, above = 0;  // the number is above − base_ − 1; up to base_ the slot is empty
  };
  static constexpr std::size_t kFewest = 64;
  static constexpr std::uint32_t kMostBase = 1u << 31;

  std::uint32_t number(const Slot& slot) const { return slot.above > base_ ? slot.above - base_ - 1 : kNone; }

  template <class Same>
  std::size_t place(std::uint32_t hash, const Same& same) const {
    const std::size_t mask = size_ - 1;
    std::size_t at = hash & mask;
    while (slots_[at].above > base_ && (slots_[at].hash != hash || !same(slots_[at].above - base_ - 1)))
      at = (at + 1) & mask;
    return at;
  }
  void grow() {
    std::vector<Slot> old;
    const std::size_t size = size_ == 0 ? kFewest : size_ * 2;
    if (size > slots_.size()) {
      old = std::exchange(slots_, std::vector<Slot>(size));
    } else {
      const auto end = slots_.begin() + static_cast<std::ptrdiff_t>(size_);
      old.assign(slots_.begin(), end);
      std::fill(slots_.begin(), end, Slot());
    }
    size_ = size;
    for (const Slot& slot : old)
      if (slot.above > base_) slots_[place(slot.hash, [](std::uint32_t) { return false; })] = slot;
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;  // of the slots, those in use: a power of two, or none
  std::size_t used_ = 0;
  std::uint32_t base_ = 0, most_ = 0;
};

}  // namespace treeglot
