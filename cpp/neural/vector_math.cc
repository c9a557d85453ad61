#include "neural/vector_math.h"

#include <algorithm>
#include <iterator>

namespace treeglot::neural {
namespace {

template <unsigned kWidth>
[[gnu::always_inline]] inline float dot(const float* a, const float* b, std::size_t length) {
  constexpr unsigned kParts = kLanes / kWidth;
  typename LanesOf<kWidth>::Type even[kParts] = {}, odd[kParts] = {};
  std::size_t i = 0;
  for (; i + 2 * kLanes <= length; i += 2 * kLanes) {
    for (unsigned p = 0; p < kParts; ++p) {
      const std::size_t at = i + p * kWidth;
      even[p] += lanes<kWidth>(a + at) * lanes<kWidth>(b + at);
      odd[p] += lanes<kWidth>(a + at + kLanes) * lanes<kWidth>(b + at + kLanes);
    }
  }
  float sums[kLanes];
  for (unsigned p = 0; p < kParts; ++p) {
    if (i < length) even[p] += lanes<kWidth>(a + i + p * kWidth) * lanes<kWidth>(b + i + p * kWidth);
    lanes<kWidth>(sums + p * kWidth) = even[p] + odd[p];
  }
  for (unsigned half = kLanes / 2; half > 0; half /= 2)
    for (unsigned k = 0; k < half; ++k) sums[k] += sums[k + half];
  return sums[0];
}

template <unsigned kWidth>
[[gnu::always_inline]] inline void add_scaled(float* sum, const float* values, float scale, std::size_t length) {
  for (std::size_t i = 0; i < length; i += kWidth) lanes<kWidth>(sum + i) += lanes<kWidth>(values + i) * scale;
}

// tanh(x) = x P(x^2) / Q(x^2) within 6e-7, by a least-squares fit for |x| < kMostTanh. Beyond that it is constant.
constexpr float kMostTanh = 7.5F;
constexpr float kAbove[] = {1.60688421e-08F, 2.24230725e-05F, 3.60141860e-03F, 1.34690377e-01F, 9.99999984e-01F};
constexpr float kBelow[] = {8.84074998e-07F, 3.46151574e-04F, 2.62760521e-02F, 4.68023642e-01F, 1.0F};

template <unsigned kWidth>
[[gnu::always_inline]] inline void tanh_at(float* out, typename LanesOf<kWidth>::Type x) {
  using Part = typename LanesOf<kWidth>::Type;
  const Part most = Part{} + kMostTanh;
  x = x > -most ? x : -most;
  x = x < most ? x : most;
  const Part square = x * x;
  Part above = Part{} + kAbove[0], below = Part{} + kBelow[0];
  for (std::size_t k = 1; k < std::size(kAbove); ++k) {
    above = above * square + kAbove[k];
    below = below * square + kBelow[k];
  }
  lanes<kWidth>(out) = x * above / below;
}

template <unsigned kWidth>
[[gnu::always_inline]] inline void tanh(float* values, std::size_t length) {
  for (std::size_t i = 0; i < length; i += kWidth) tanh_at<kWidth>(values + i, lanes<kWidth>(values + i));
}

template <unsigned kWidth>
[[gnu::always_inline]] inline void tanh_of_sum(float* out, std::span<const float* const> parts, std::size_t length) {
  for (std::size_t i = 0; i < length; i += kWidth) {
    typename LanesOf<kWidth>::Type sum = lanes<kWidth>(parts[0] + i);
    for (const float* const part : parts.subspan(1)) sum += lanes<kWidth>(part + i);
    tanh_at<kWidth>(out + i, sum);
  }
}

// Rows of a that share what is read of b. Their sums stay in registers.
constexpr std::size_t kRows = 4;

template <unsigned kWidth, unsigned kParts>
[[gnu::always_inline]] inline void multiply_columns(const Product& product, std::size_t column) {
  for (std::size_t first = 0; first < product.a.size(); first += kRows) {
    const std::size_t rows = std::min(kRows, product.a.size() - first);
    const float* a[kRows];
    float* c[kRows];
    typename LanesOf<kWidth>::Type sums[kRows][kParts];
    for (std::size_t r = 0; r < kRows; ++r) {
      const std::size_t row = first + std::min(r, rows - 1);  // missing rows are copies of the last one
      a[r] = product.a[row];
      c[r] = product.c + row * product.c_stride + column;
      for (unsigned p = 0; p < kParts; ++p) sums[r][p] = lanes<kWidth>(c[r] + p * kWidth);
    }
    const float* b = product.b + column;
    for (std::size_t k = 0; k < product.depth; ++k, b += product.b_stride)
      for (unsigned p = 0; p < kParts; ++p)
        for (std::size_t r = 0; r < kRows; ++r) sums[r][p] += lanes<kWidth>(b + p * kWidth) * a[r][k];
    for (std::size_t r = 0; r < rows; ++r)
      for (unsigned p = 0; p < kParts; ++p) lanes<kWidth>(c[r] + p * kWidth) = sums[r][p];
  }
}

template <unsigned kWidth>
[[gnu::always_inline]] inline void multiply_add(const Product& product) {
  std::size_t column = 0;
  for (; column + 2 * kWidth <= product.columns; column += 2 * kWidth) multiply_columns<kWidth, 2>(product, column);
  for (; column < product.columns; column += kWidth) multiply_columns<kWidth, 1>(product, column);
}

TREEGLOT_WIDTH_16 float dot_16(const float* a, const float* b, std::size_t length) { return dot<16>(a, b, length); }
TREEGLOT_WIDTH_16 void add_scaled_16(float* sum, const float* values, float scale, std::size_t length) {
  add_scaled<16>(sum, values, scale, length);
}
TREEGLOT_WIDTH_16 void tanh_16(float* values, std::size_t length) { tanh<16>(values, length); }
TREEGLOT_WIDTH_16 void tanh_of_sum_16(float* out, std::span<const float* const> parts, std::size_t length) {
  tanh_of_sum<16>(out, parts, length);
}
TREEGLOT_WIDTH_16 void multiply_add_16(const Product& product) { multiply_add<16>(product); }

TREEGLOT_WIDTH_8 float dot_8(const float* a, const float* b, std::size_t length) { return dot<8>(a, b, length); }
TREEGLOT_WIDTH_8 void add_scaled_8(float* sum, const float* values, float scale, std::size_t length) {
  add_scaled<8>(sum, values, scale, length);
}
TREEGLOT_WIDTH_8 void tanh_8(float* values, std::size_t length) { tanh<8>(values, length); }
TREEGLOT_WIDTH_8 void tanh_of_sum_8(float* out, std::span<const float* const> parts, std::size_t length) {
  tanh_of_sum<8>(out, parts, length);
}
TREEGLOT_WIDTH_8 void multiply_add_8(const Product& product) { multiply_add<8>(product); }

constexpr VectorMath kMath16 = {dot_16, add_scaled_16, tanh_16, tanh_of_sum_16, multiply_add_16};
constexpr VectorMath kMath8 = {dot_8, add_scaled_8, tanh_8, tanh_of_sum_8, multiply_add_8};
constexpr VectorMath kMath4 = {dot<4>, add_scaled<4>, tanh<4>, tanh_of_sum<4>, multiply_add<4>};

}  // namespace

const VectorMath& vector_math(unsigned width) { return width == 16 ? kMath16 : width == 8 ? kMath8 : kMath4; }

}  // namespace treeglot::neural
