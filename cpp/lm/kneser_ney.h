// Interpolated modified Kneser-Ney, given adjusted counts. The arithmetic is the same for text in memory, for text
// spilled to disk and for counts of fixed windows.
//
//   p(w | c) = u(w | c) + γ(c) p(w | c without its first word)
//   u(w | c) = (a(cw) − D(a(cw))) / Σ_v a(cv)
//   γ(c)     = (Σ_v D(a(cv)) + Σ a(cv) over the pruned v) / Σ_v a(cv)
//
// with D summed over the n-grams that are kept (Heafield et al. 2013; Chen and Goodman 1998).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace treeglot {

// Discounts (Chen and Goodman 1998), from counts of counts.

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

// Chen and Goodman's closed form (eq. 26). It gives `fallback` when a count of counts that it divides by is zero. The
// same holds when a discount is below zero or above its count.
Discounts estimate_discounts(const CountsOfCounts& counts, unsigned order, const FallbackDiscounts& fallback);

// What is summed over the n-grams of one context. Integers, so that no order of adding can show.
template <class Count>
struct ContextSums {
  Count total = 0, pruned = 0;
  Count ones = 0, twos = 0, more = 0;  // kept n-grams with the adjusted count 1, 2, 3 or more

  void add(Count count, bool kept) {
    total += count;
    if (!kept) {
      pruned += count;
    } else if (count >= 3) {
      ++more;
    } else if (count == 2) {
      ++twos;
    } else if (count == 1) {
      ++ones;
    }
  }

  // γ; 1 for what is no context of anything.
  float backoff(const Discounts& discounts) const {
    if (total == 0) return 1.0f;
    const double mass = static_cast<double>(pruned) + double{discounts.amount[1]} * static_cast<double>(ones) +
                        double{discounts.amount[2]} * static_cast<double>(twos) +
                        double{discounts.amount[3]} * static_cast<double>(more);
    return static_cast<float>(mass / static_cast<double>(total));
  }
};

inline float discounted(std::uint64_t count, std::uint64_t total, const Discounts& discounts) {
  return static_cast<float>((static_cast<double>(count) - double{discounts.of(count)}) / static_cast<double>(total));
}

inline float interpolated(float discounted, float backoff, float lower) { return discounted + backoff * lower; }

// A logarithm for the model: rounding never lifts a probability above 1, and 0 is written −99 as ARPA files do.
inline float log10_of(float probability) {
  constexpr float kZero = -99.0f;
  if (!(probability > 0.0f)) return kZero;
  constexpr double kLog10E = 0.43429448190325182765;  // the natural logarithm is the fast one
  return std::clamp(static_cast<float>(std::log(double{probability}) * kLog10E), kZero, 0.0f);
}

// The n-grams of one order, in the order of their words read backwards.
struct OrderCounts {
  std::vector<std::uint32_t> context;  // the number of its words but the last
  std::vector<std::uint32_t> lower;    // the number of its words but the first, in the order below
  std::vector<std::uint32_t> count;    // adjusted
  std::vector<bool> pruned;            // empty: none is
  std::size_t contexts = 0;

  std::size_t size() const { return count.size(); }
  bool kept(std::size_t i) const { return pruned.empty() || !pruned[i]; }
};

struct ContextWeight {
  std::uint32_t total;
  float backoff;
};

struct OrderEstimate {
  std::vector<float> probability;      // of each n-gram
  std::vector<ContextWeight> weights;  // of each context
};

// The probabilities of the unigrams, interpolated with the uniform distribution over `events` words. A word with the
// count 0, such as <unk>, gets its share of that alone.
std::vector<float> estimate_unigrams(std::span<const std::uint64_t> counts, const std::vector<bool>& pruned,
                                     std::size_t events, const Discounts& discounts);

// `lower` holds the probabilities of the order below.
OrderEstimate estimate_order(const OrderCounts& counts, const Discounts& discounts, std::span<const float> lower);

}  // namespace treeglot
