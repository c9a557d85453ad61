#include "lm/discounts.h"

#include <cstdio>

namespace treeglot {
namespace {

std::string grams(unsigned order) { return std::to_string(order) + "-grams"; }

}  // namespace

Discounts estimate_discounts(const CountsOfCounts& counts, unsigned order, const FallbackDiscounts& fallback) {
  const auto& n = counts.n;
  const auto fall_back = [&](std::string problem) {
    return Discounts{{0.0f, fallback[0], fallback[1], fallback[2]}, std::move(problem)};
  };
  for (unsigned j = 1; j <= 3; ++j) {
    if (n[j] == 0) return fall_back("no " + grams(order) + " have the adjusted count " + std::to_string(j));
  }
  // In single precision, as lmplz has it, so that both fall back on the same texts.
  Discounts discounts;
  const float y =
      static_cast<float>(n[1]) / static_cast<float>(static_cast<double>(n[1]) + 2.0 * static_cast<double>(n[2]));
  for (unsigned j = 1; j <= 3; ++j) {
    const float amount =
        static_cast<float>(j) - static_cast<float>(j + 1) * y * static_cast<float>(n[j + 1]) / static_cast<float>(n[j]);
    if (amount < 0.0f || amount > static_cast<float>(j)) {
      char shown[32];
      std::snprintf(shown, sizeof shown, "%.4g", static_cast<double>(amount));
      return fall_back("the discount of " + grams(order) + " with the adjusted count " + std::to_string(j) +
                       (j == 3 ? " or more" : "") + " comes out as " + shown + ", outside 0 to " + std::to_string(j));
    }
    discounts.amount[j] = amount;
  }
  return discounts;
}

}  // namespace treeglot
