// Semirings: what ⊕ and ⊗ mean in a sweep over a hypergraph.
//
// A semiring has a Value, zero(), one(), is_zero(), times(), and Sum, an accumulator. Sums are collected edge by edge
// and closed once per node, which saves LogSum a logarithm per edge. Zero annihilates, also beside a product that has
// overflowed to infinity: 0 · ∞ is 0 here. Sums of logarithms leave out −∞ + ∞, which is NaN.
#pragma once

#include <cmath>
#include <limits>

namespace treeglot {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kMinusInfinity = -kInfinity;

// ℝ with + and ×: probabilities of small graphs. Weights are finite.
struct Real {
  using Value = double;
  static constexpr Value zero() { return 0.0; }
  static constexpr Value one() { return 1.0; }
  static constexpr bool is_zero(Value a) { return a == 0.0; }
  static constexpr Value times(Value a, Value b) { return a == 0.0 || b == 0.0 ? 0.0 : a * b; }

  class Sum {
   public:
    void add(Value a) { sum_ += a; }
    Value value() const { return sum_; }

   private:
    Value sum_ = 0.0;
  };
};

// How many derivations there are. Doubles: exact up to 2^53, then rounded, then infinity; never wrapped around.
struct Count : Real {};

// What logarithms have in common: −∞ is zero, products are sums.
struct Logarithms {
  using Value = double;
  static constexpr Value zero() { return kMinusInfinity; }
  static constexpr Value one() { return 0.0; }
  static constexpr bool is_zero(Value a) { return a == kMinusInfinity; }
  static constexpr Value times(Value a, Value b) { return a + b; }
};

// Logarithms of probabilities: log(eᵃ + eᵇ) and a + b. +∞ and NaN are no weights.
struct LogSum : Logarithms {
  // Σ eᵃ as largest · Σ e^(a − largest): one exponential for each term, none for the first, one logarithm at the end.
  class Sum {
   public:
    void add(Value a) {
      if (a > largest_) {
        sum_ = sum_ == 0.0 ? 1.0 : 1.0 + sum_ * std::exp(largest_ - a);
        largest_ = a;
      } else if (a > kMinusInfinity) {
        sum_ += std::exp(a - largest_);
      }
    }
    Value value() const { return sum_ == 1.0 || largest_ == kInfinity ? largest_ : largest_ + std::log(sum_); }

   private:
    Value largest_ = kMinusInfinity;
    double sum_ = 0.0;
  };
};

// The best derivation's score: max and +.
struct Viterbi : Logarithms {
  class Sum {
   public:
    void add(Value a) {
      if (a > best_) best_ = a;
    }
    Value value() const { return best_; }

   private:
    Value best_ = kMinusInfinity;
  };
};

}  // namespace treeglot
