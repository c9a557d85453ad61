#include "neural/matrix.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "base/lanes.h"

namespace treeglot::neural {
namespace {

constexpr std::size_t kRows = 4, kDepth = 256;  // a panel of b fits into the first cache

// Two columns of lanes, side by side; without `wide` the right one is 0.
template <unsigned kWidth>
[[gnu::always_inline]] inline void copy_panel(const float* from, std::size_t stride, std::size_t depth, bool wide,
                                              float* panel) {
  using Part = typename LanesOf<kWidth>::Type;
  for (std::size_t kk = 0; kk < depth; ++kk, from += stride, panel += 2 * kWidth) {
    lanes<kWidth>(panel) = lanes<kWidth>(from);
    lanes<kWidth>(panel + kWidth) = wide ? lanes<kWidth>(from + kWidth) : Part{};
  }
}

template <unsigned kWidth>
[[gnu::always_inline]] inline void multiply_rows(const float* const (&rows)[kRows], const float* panel,
                                                 std::size_t depth, typename LanesOf<kWidth>::Type (&sums)[kRows][2]) {
  using Part = typename LanesOf<kWidth>::Type;
  for (std::size_t kk = 0; kk < depth; ++kk) {
    const Part left = lanes<kWidth>(panel + kk * 2 * kWidth), right = lanes<kWidth>(panel + kk * 2 * kWidth + kWidth);
    for (std::size_t r = 0; r < kRows; ++r) {
      sums[r][0] += rows[r][kk] * left;
      sums[r][1] += rows[r][kk] * right;
    }
  }
}

template <unsigned kWidth>
[[gnu::always_inline]] inline void multiply(const float* a, std::size_t a_stride, const float* b, std::size_t b_stride,
                                            float* c, std::size_t c_stride, std::size_t m, std::size_t k,
                                            std::size_t n) {
  using Part = typename LanesOf<kWidth>::Type;
  constexpr std::size_t kColumns = 2 * kWidth;
  alignas(64) float panel[kDepth * kColumns];
  for (std::size_t k0 = 0; k0 < k; k0 += kDepth) {
    const std::size_t depth = std::min(kDepth, k - k0);
    for (std::size_t j0 = 0; j0 < n; j0 += kColumns) {
      const bool wide = j0 + kColumns <= n;
      copy_panel<kWidth>(b + k0 * b_stride + j0, b_stride, depth, wide, panel);
      for (std::size_t i0 = 0; i0 < m; i0 += kRows) {
        const float* rows[kRows];
        for (std::size_t r = 0; r < kRows; ++r) rows[r] = a + std::min(i0 + r, m - 1) * a_stride + k0;
        Part sums[kRows][2] = {};
        multiply_rows<kWidth>(rows, panel, depth, sums);
        for (std::size_t r = 0; r < kRows && i0 + r < m; ++r) {
          float* const out = c + (i0 + r) * c_stride + j0;
          lanes<kWidth>(out) += sums[r][0];
          if (wide) lanes<kWidth>(out + kWidth) += sums[r][1];
        }
      }
    }
  }
}

using Multiply = void (*)(const float*, std::size_t, const float*, std::size_t, float*, std::size_t, std::size_t,
                          std::size_t, std::size_t);

TREEGLOT_WIDTH_16 void multiply_16(const float* a, std::size_t a_stride, const float* b, std::size_t b_stride, float* c,
                                   std::size_t c_stride, std::size_t m, std::size_t k, std::size_t n) {
  multiply<16>(a, a_stride, b, b_stride, c, c_stride, m, k, n);
}
TREEGLOT_WIDTH_8 void multiply_8(const float* a, std::size_t a_stride, const float* b, std::size_t b_stride, float* c,
                                 std::size_t c_stride, std::size_t m, std::size_t k, std::size_t n) {
  multiply<8>(a, a_stride, b, b_stride, c, c_stride, m, k, n);
}

}  // namespace

void multiply_add(const float* a, std::size_t a_stride, const float* b, std::size_t b_stride, float* c,
                  std::size_t c_stride, std::size_t m, std::size_t k, std::size_t n) {
  static const unsigned width = register_width();
  static const Multiply chosen = width == 16 ? multiply_16 : width == 8 ? multiply_8 : Multiply(multiply<4>);
  chosen(a, a_stride, b, b_stride, c, c_stride, m, k, n);
}

void transpose(const float* from, std::size_t from_stride, float* to, std::size_t to_stride, std::size_t rows,
               std::size_t columns) {
  constexpr std::size_t kBlock = 16;
  for (std::size_t i0 = 0; i0 < rows; i0 += kBlock)
    for (std::size_t j0 = 0; j0 < columns; j0 += kBlock)
      for (std::size_t j = j0; j < std::min(columns, j0 + kBlock); ++j)
        for (std::size_t i = i0; i < std::min(rows, i0 + kBlock); ++i)
          to[j * to_stride + i] = from[i * from_stride + j];
}

namespace {

// exp(x) for x <= 0 within 2e-7 of it: 2^n by bits, the rest by a polynomial. Loops over it become vector operations.
[[gnu::always_inline]] inline float exponential(float x) {
  const float scaled = std::max(x, -87.0f) * 1.44269504f;
  const auto whole = static_cast<std::int32_t>(scaled - 0.5f);
  const float part = (scaled - static_cast<float>(whole)) * 0.693147181f;
  float sum = 1.0f / 5040;
  sum = sum * part + 1.0f / 720;
  sum = sum * part + 1.0f / 120;
  sum = sum * part + 1.0f / 24;
  sum = sum * part + 1.0f / 6;
  sum = sum * part + 0.5f;
  sum = sum * part + 1.0f;
  sum = sum * part + 1.0f;
  return sum * std::bit_cast<float>((whole + 127) << 23);
}

[[gnu::always_inline]] inline float softmax_loop(float* scores, const float* log_weights, std::size_t length) {
  float most[kLanes], sums[kLanes] = {};
  std::fill_n(most, kLanes, -3e38f);
  for (std::size_t i = 0; i < length; i += kLanes)
    for (unsigned k = 0; k < kLanes; ++k) {
      scores[i + k] += log_weights[i + k];
      most[k] = scores[i + k] > most[k] ? scores[i + k] : most[k];
    }
  const float top = *std::max_element(most, most + kLanes);
  for (std::size_t i = 0; i < length; i += kLanes)
    for (unsigned k = 0; k < kLanes; ++k) {
      scores[i + k] = exponential(scores[i + k] - top);
      sums[k] += scores[i + k];
    }
  float sum = 0;
  for (const float each : sums) sum += each;
  const float scale = 1.0f / sum;
  for (std::size_t i = 0; i < length; ++i) scores[i] *= scale;
  return top + std::log(sum);
}

TREEGLOT_WIDTH_8 float softmax_8(float* scores, const float* log_weights, std::size_t length) {
  return softmax_loop(scores, log_weights, length);
}

[[gnu::always_inline]] inline void adam_loop(const AdamStep& step, const float* gradient, float* values, float* mean,
                                             float* variance, std::size_t length) {
  const float rate = step.rate, first = step.first, second = step.second, epsilon = step.epsilon,
              left = 1.0f - step.decay;
  for (std::size_t i = 0; i < length; ++i) {
    mean[i] = first * mean[i] + (1.0f - first) * gradient[i];
    variance[i] = second * variance[i] + (1.0f - second) * gradient[i] * gradient[i];
    values[i] = left * values[i] - rate * mean[i] / (std::sqrt(variance[i]) + epsilon);
  }
}

TREEGLOT_WIDTH_8 void adam_8(const AdamStep& step, const float* gradient, float* values, float* mean, float* variance,
                             std::size_t length) {
  adam_loop(step, gradient, values, mean, variance, length);
}

}  // namespace

float softmax(float* scores, const float* log_weights, std::size_t length) {
  static const auto chosen = register_width() >= 8 ? softmax_8 : softmax_loop;
  return chosen(scores, log_weights, length);
}

void adam(const AdamStep& step, const float* gradient, float* values, float* mean, float* variance,
          std::size_t length) {
  static const auto chosen = register_width() >= 8 ? adam_8 : adam_loop;
  chosen(step, gradient, values, mean, variance, length);
}

}  // namespace treeglot::neural
