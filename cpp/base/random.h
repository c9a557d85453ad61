// Random numbers that are the same on every machine: xoshiro256** (Blackman and Vigna 2018), seeded by splitmix64.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace treeglot {

class Random {
 public:
  explicit Random(std::uint64_t seed) {
    for (std::uint64_t& word : state_) {
      seed += 0x9e3779b97f4a7c15u;
      word = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9u;
      word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
      word ^= word >> 31;
    }
  }

  std::uint64_t next() {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // Uniform in [0, 1), a multiple of 2^-53.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::array<std::uint64_t, 4> state_;
};

}  // namespace treeglot
