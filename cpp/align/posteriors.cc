#include "align/posteriors.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace treeglot {
namespace {

// Adds how often each jump is made from the states before a word, which are `reached` so often, to where it is linked.
void count_jumps(const JumpTable& jumps, std::span<const double> reached, double end, std::span<const float> share,
                 double* counts) {
  for (std::size_t s = 0; s < reached.size(); ++s) {
    const double here = reached[s] / end;
    if (here == 0.0) continue;
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(s) - 1;
    const float* const from = jumps.from(at);
    for (std::size_t i = 0; i < share.size(); ++i)
      counts[jump_index(static_cast<std::ptrdiff_t>(i) - at)] += here * from[i] * share[i];
  }
}

// The place that `drawn`, a number from 0 to their sum, falls on; their number if it is beyond them.
std::size_t place_of_draw(std::span<const float> weights, float drawn) {
  std::size_t i = 0;
  while (i < weights.size() && weights[i] <= drawn) drawn -= weights[i++];
  return i;
}

void add_scaled(std::span<const float> values, float scale, float* out) {
  for (std::size_t i = 0; i < values.size(); ++i) out[i] += values[i] * scale;
}

}  // namespace

void LinkPosteriors::start(const PairFactors& factors) {
  given_ = factors.given;
  posterior_.assign(factors.given * factors.words, 0.0f);
}

void LinkPosteriors::by_words(const PairFactors& factors) {
  start(factors);
  for (std::size_t j = 0; j < factors.words; ++j) {
    const float* const links = factors.links.data() + j * given_;
    double total = factors.none[j];
    for (std::size_t i = 0; i < given_; ++i) total += links[i];
    for (std::size_t i = 0; i < given_; ++i) posterior_[j * given_ + i] = static_cast<float>(links[i] / total);
  }
}

// The state after a word is the position of the last linked one: 0 for none yet, and i + 1 for given word i. A word
// without a link keeps the state.
double LinkPosteriors::by_hmm(const PairFactors& factors, double* jump_counts) {
  start(factors);
  const std::size_t length = given_, states = length + 1, words = factors.words;
  const double log_total = pass_forward(factors);
  if (log_total == -INFINITY) return log_total;
  const JumpTable& jumps = *factors.jumps;
  backward_.assign((words + 1) * states, 0.0);
  const float* const to_end = jumps.to(static_cast<std::ptrdiff_t>(length));
  double end = 0.0;
  for (std::size_t s = 0; s < states; ++s) {
    backward_[words * states + s] = to_end[static_cast<std::ptrdiff_t>(s) - 1];
    end += reached_[words * states + s] * backward_[words * states + s];
  }
  share_.resize(length);
  for (std::size_t j = words; j-- > 0;) {
    step_back(factors, j, end);
    if (jump_counts != nullptr)
      count_jumps(jumps, std::span(reached_).subspan(j * states, states), end, share_, jump_counts);
  }
  for (std::size_t s = 0; jump_counts != nullptr && s < states; ++s) {
    const auto at = static_cast<std::ptrdiff_t>(s) - 1;
    jump_counts[jump_index(static_cast<std::ptrdiff_t>(length) - at)] +=
        reached_[words * states + s] * backward_[words * states + s] / end;
  }
  return log_total + std::log(end);
}

double LinkPosteriors::pass_forward(const PairFactors& factors) {
  const std::size_t length = given_, states = length + 1, words = factors.words;
  reached_.assign((words + 1) * states, 0.0);
  forward_.assign(words * length, 0.0);  // linked to i
  scale_.assign(words, 1.0);
  reached_[0] = 1.0;
  double log_total = 0.0;
  for (std::size_t j = 0; j < words; ++j) {
    const double* const before = reached_.data() + j * states;
    double* const after = reached_.data() + (j + 1) * states;
    double* const linked = forward_.data() + j * length;
    for (std::size_t s = 0; s < states; ++s) {
      if (before[s] == 0.0) continue;
      const float* const from = factors.jumps->from(static_cast<std::ptrdiff_t>(s) - 1);
      for (std::size_t i = 0; i < length; ++i) linked[i] += before[s] * from[i];
    }
    double sum = 0.0;
    for (std::size_t i = 0; i < length; ++i) linked[i] *= factors.links[j * length + i];
    for (std::size_t s = 0; s < states; ++s)
      sum += after[s] = before[s] * factors.none[j] + (s > 0 ? linked[s - 1] : 0.0);
    if (!(sum > 0.0)) return -INFINITY;
    scale_[j] = 1.0 / sum;
    log_total += std::log(sum);
    for (std::size_t s = 0; s < states; ++s) after[s] *= scale_[j];
    for (std::size_t i = 0; i < length; ++i) linked[i] *= scale_[j];
  }
  return log_total;
}

void LinkPosteriors::step_back(const PairFactors& factors, std::size_t j, double end) {
  const std::size_t length = given_, states = length + 1;
  const double* const after = backward_.data() + (j + 1) * states;
  double* const before = backward_.data() + j * states;
  for (std::size_t i = 0; i < length; ++i) {
    const double outside = after[i + 1] * scale_[j];
    posterior_[j * length + i] = static_cast<float>(forward_[j * length + i] * after[i + 1] / end);
    share_[i] = static_cast<float>(factors.links[j * length + i] * outside);
  }
  for (std::size_t s = 0; s < states; ++s) {
    const float* const from = factors.jumps->from(static_cast<std::ptrdiff_t>(s) - 1);
    double sum = 0.0;
    for (std::size_t i = 0; i < length; ++i) sum += from[i] * share_[i];
    before[s] = sum + factors.none[j] * after[s] * scale_[j];
  }
}

std::size_t LinkPosteriors::best(std::size_t word) const {
  const float* const links = posterior_.data() + word * given_;
  float none = 1.0f;
  std::size_t best = 0;
  for (std::size_t i = 0; i < given_; ++i) {
    none -= links[i];
    if (links[i] > links[best]) best = i;
  }
  return given_ > 0 && links[best] > none ? best : given_;
}

void LinkPosteriors::set_share(const PairFactors& factors, std::size_t i) {
  share_[i] = factors.growth[i * kFertilities + fertility_index(fertility_[i])];
}

void LinkPosteriors::by_sampling(const PairFactors& factors, unsigned rounds, std::uint64_t seed) {
  by_hmm(factors);
  const std::size_t length = given_, words = factors.words;
  drawn_.assign(words, 0);
  fertility_.assign(length, 0);
  share_.assign(length, 0.0f);
  weight_.assign(length, 0.0f);
  for (std::size_t j = 0; j < words; ++j) {
    const std::size_t i = best(j);
    if (i == length) continue;
    drawn_[j] = static_cast<std::uint16_t>(i + 1);
    ++fertility_[i];
  }
  for (std::size_t i = 0; i < length; ++i) set_share(factors, i);
  Random random(seed);
  std::ranges::fill(posterior_, 0.0f);
  constexpr unsigned kUnkept = 4;
  for (unsigned round = 0; round < rounds + kUnkept; ++round) draw_all(factors, round >= kUnkept ? rounds : 0, random);
}

void LinkPosteriors::draw_all(const PairFactors& factors, unsigned rounds, Random& random) {
  const std::size_t length = given_, words = factors.words;
  std::ptrdiff_t previous = -1, next = -1;
  std::size_t next_at = 0;
  for (std::size_t j = 0; j < words; ++j) {
    if (drawn_[j] != 0) {
      --fertility_[drawn_[j] - 1];
      set_share(factors, drawn_[j] - 1u);
    }
    if (next_at <= j) {
      for (next_at = j + 1; next_at < words && drawn_[next_at] == 0;) ++next_at;
      next = next_at < words ? drawn_[next_at] - 1 : static_cast<std::ptrdiff_t>(length);
    }
    const float* const to_here = factors.jumps->from(previous);
    const float* const from_here = factors.jumps->to(next);
    const float* const links = factors.links.data() + j * length;
    for (std::size_t i = 0; i < length; ++i) weight_[i] = links[i] * share_[i] * to_here[i] * from_here[i];
    float total = factors.none[j] * to_here[next];
    for (std::size_t i = 0; i < length; ++i) total += weight_[i];
    if (rounds > 0) add_scaled(weight_, 1.0f / (total * static_cast<float>(rounds)), posterior_.data() + j * length);
    const std::size_t i = place_of_draw(weight_, static_cast<float>(random.uniform()) * total);
    drawn_[j] = i == length ? 0 : static_cast<std::uint16_t>(i + 1);
    if (i == length) continue;
    ++fertility_[i];
    set_share(factors, i);
    previous = static_cast<std::ptrdiff_t>(i);
  }
}

}  // namespace treeglot
