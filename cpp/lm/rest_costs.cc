#include "lm/rest_costs.h"

#include <algorithm>
#include <cmath>

namespace treeglot {
namespace {

// Finite, even for values that no probability has.
double power_of_ten(float log10) { return std::pow(10.0, std::clamp(log10, -300.0f, 30.0f)); }

}  // namespace

RestCosts::RestCosts(std::span<const NgramValue> unigrams, WordId begin, WordId end) : gained_(unigrams.size(), 0) {
  for (const NgramValue& unigram : unigrams) {
    log10_.push_back(unigram.log10());
    probability_.push_back(power_of_ten(unigram.log10()));
    backoff_.push_back(power_of_ten(unigram.backoff));
  }
  probability_[begin] = 0;  // it is never predicted
  context_ = probability_;
  context_[begin] = probability_[end];
  context_[end] = 0;
}

void RestCosts::add(WordId context, WordId word, float log10) {
  const double gained = context_[context] * (power_of_ten(log10) - backoff_[context] * probability_[word]);
  gained_[word] += static_cast<std::uint64_t>(std::llround(std::clamp(gained, -1.0, 1.0) / kUnit));
}

std::vector<float> RestCosts::finish() const {
  double backed_off = 0;
  for (std::size_t word = 0; word < context_.size(); ++word) backed_off += context_[word] * backoff_[word];
  std::vector<float> out;
  for (std::size_t word = 0; word < log10_.size(); ++word) {
    const double gained = static_cast<double>(static_cast<std::int64_t>(gained_[word])) * kUnit;
    const double sum = probability_[word] * backed_off + gained;
    const bool likely = sum > 0 && sum <= 1;
    out.push_back(likely ? static_cast<float>(std::log10(sum)) : log10_[word]);
  }
  return out;
}

}  // namespace treeglot
