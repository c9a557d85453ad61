#include "neural/vector_math.h"

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
[[gnu::always_inline]] inline void add_to(float* sum, const float* values, std::size_t length) {
  for (std::size_t i = 0; i < length; i += kWidth) lanes<kWidth>(sum + i) += lanes<kWidth>(values + i);
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
[[gnu::always_inline]] inline void tanh(float* values, std::size_t length) {
  using Part = typename LanesOf<kWidth>::Type;
  const Part most = Part{} + kMostTanh;
  for (std::size_t i = 0; i < length; i += kWidth) {
    Part x = lanes<kWidth>(values + i);
    x = x > -most ? x : -most;
    x = x < most ? x : most;
    const Part square = x * x;
    Part above = Part{} + kAbove[0], below = Part{} + kBelow[0];
    for (std::size_t k = 1; k < std::size(kAbove); ++k) {
      above = above * square + kAbove[k];
      below = below * square + kBelow[k];
    }
    lanes<kWidth>(values + i) = x * above / below;
  }
}

TREEGLOT_WIDTH_16 float dot_16(const float* a, const float* b, std::size_t length) { return dot<16>(a, b, length); }
TREEGLOT_WIDTH_16 void add_to_16(float* sum, const float* values, std::size_t length) {
  add_to<16>(sum, values, length);
}
TREEGLOT_WIDTH_16 void add_scaled_16(float* sum, const float* values, float scale, std::size_t length) {
  add_scaled<16>(sum, values, scale, length);
}
TREEGLOT_WIDTH_16 void tanh_16(float* values, std::size_t length) { tanh<16>(values, length); }

TREEGLOT_WIDTH_8 float dot_8(const float* a, const float* b, std::size_t length) { return dot<8>(a, b, length); }
TREEGLOT_WIDTH_8 void add_to_8(float* sum, const float* values, std::size_t length) { add_to<8>(sum, values, length); }
TREEGLOT_WIDTH_8 void add_scaled_8(float* sum, const float* values, float scale, std::size_t length) {
  add_scaled<8>(sum, values, scale, length);
}
TREEGLOT_WIDTH_8 void tanh_8(float* values, std::size_t length) { tanh<8>(values, length); }

constexpr VectorMath kMath16 = {dot_16, add_to_16, add_scaled_16, tanh_16};
constexpr VectorMath kMath8 = {dot_8, add_to_8, add_scaled_8, tanh_8};
constexpr VectorMath kMath4 = {dot<4>, add_to<4>, add_scaled<4>, tanh<4>};

}  // namespace

const VectorMath& vector_math(unsigned width) { return width == 16 ? kMath16 : width == 8 ? kMath8 : kMath4; }

}  // namespace treeglot::neural
