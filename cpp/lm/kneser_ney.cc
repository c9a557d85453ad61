#include "lm/kneser_ney.h"

namespace treeglot {

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
