// The loops of joint models over vectors of floats whose length is a multiple of kLanes.
//
// Each loop adds up the same number of lanes in the same order, without fused operations. So every processor gives the
// same bits, whatever the width of its registers.
#pragma once

#include <cstddef>
#include <span>

#include "base/lanes.h"

namespace treeglot::neural {

// c += a b, for matrices of `columns` columns, a multiple of kLanes.
struct Product {
  std::span<const float* const> a;  // its rows, each of `depth` numbers
  std::size_t depth;
  const float* b;
  std::size_t b_stride;  // between two rows of b
  float* c;
  std::size_t c_stride;
  std::size_t columns;
};

struct VectorMath {
  float (*dot)(const float* a, const float* b, std::size_t length);
  void (*add_scaled)(float* sum, const float* values, float scale, std::size_t length);  // sum += scale * values
  void (*tanh)(float* values, std::size_t length);  // within 1e-6; about -1 for what is not a number
  // out = tanh of the sum of the parts, added up from left to right.
  void (*tanh_of_sum)(float* out, std::span<const float* const> parts, std::size_t length);
  void (*multiply_add)(const Product& product);  // adds up from the first row of b to the last
};

// The loops for registers of 4, 8 or 16 floats.
const VectorMath& vector_math(unsigned width);
inline const VectorMath& vector_math() { return vector_math(register_width()); }

}  // namespace treeglot::neural
