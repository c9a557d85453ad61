#include "lm/kneser_ney.h"

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

std::vector<float> estimate_unigrams(std::span<const std::uint64_t> counts, const std::vector<bool>& pruned,
                                     std::size_t events, const Discounts& discounts) {
  ContextSums<std::uint64_t> sums;
  for (std::size_t word = 0; word < counts.size(); ++word) sums.add(counts[word], pruned.empty() || !pruned[word]);
  const float backoff = sums.backoff(discounts);
  const float uniform = 1.0f / static_cast<float>(events);
  std::vector<float> probability(counts.size());
  for (std::size_t word = 0; word < counts.size(); ++word) {
    const float own = counts[word] == 0 ? 0.0f : discounted(counts[word], sums.total, discounts);
    probability[word] = interpolated(own, backoff, uniform);
  }
  return probability;
}

OrderEstimate estimate_order(const OrderCounts& counts, const Discounts& discounts, std::span<const float> lower) {
  OrderEstimate estimate;
  estimate.weights.resize(counts.contexts);
  {
    std::vector<ContextSums<std::uint32_t>> sums(counts.contexts);
    for (std::size_t i = 0; i < counts.size(); ++i) sums[counts.context[i]].add(counts.count[i], counts.kept(i));
    for (std::size_t c = 0; c < counts.contexts; ++c) {
      estimate.weights[c] = {sums[c].total, sums[c].backoff(discounts)};
    }
  }
  estimate.probability.resize(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const ContextWeight weight = estimate.weights[counts.context[i]];
    estimate.probability[i] =
        interpolated(discounted(counts.count[i], weight.total, discounts), weight.backoff, lower[counts.lower[i]]);
  }
  return estimate;
}

}  // namespace treeglot
