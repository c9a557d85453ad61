// The discounts of modified Kneser-Ney smoothing (Chen and Goodman 1998), from counts of counts.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

namespace treeglot {

// How many n-grams of one order have the adjusted count 1, 2, 3, 4.
struct CountsOfCounts {
  std::array<std::uint64_t, 5> n{};

  void add(std::uint64_t count) {
    if (count < n.size()) ++n[count];
  }
};

struct Discounts {
  std::array<float, 4> amount{};  // by adjusted count: 1, 2, 3 or more
  std::string problem;            // why the closed form failed and the fallback stands here; empty: it did not

  float of(std::uint64_t count) const { return amount[std::min<std::uint64_t>(count, 3)]; }
};

using FallbackDiscounts = std::array<float, 3>;
constexpr FallbackDiscounts kFallbackDiscounts{0.5f, 1.0f, 1.5f};  // those of lmplz --discount_fallback

// Chen and Goodman's closed form (eq. 26); `fallback` when a count of counts that it divides by is zero, or when a
// discount comes out below zero or above the count that it is taken from.
Discounts estimate_discounts(const CountsOfCounts& counts, unsigned order, const FallbackDiscounts& fallback);

}  // namespace treeglot
