// The loops of joint models over vectors of floats whose length is a multiple of kLanes.
//
// Each loop adds up the same number of lanes in the same order, without fused operations. So every processor gives the
// same bits, whatever the width of its registers.
#pragma once

#include <cstddef>

#include "base/lanes.h"

namespace treeglot::neural {

struct VectorMath {
  float (*dot)(const float* a, const float* b, std::size_t length);
  void (*add_to)(float* sum, const float* values, std::size_t length);                   // sum += values
  void (*add_scaled)(float* sum, const float* values, float scale, std::size_t length);  // sum += scale * values
  void (*tanh)(float* values, std::size_t length);  // within 1e-6; about -1 for what is not a number
};

// The loops for registers of 4, 8 or 16 floats.
const VectorMath& vector_math(unsigned width);
inline const VectorMath& vector_math() { return vector_math(register_width()); }

}  // namespace treeglot::neural
