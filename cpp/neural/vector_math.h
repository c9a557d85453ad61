// The loops of the neural models over vectors of floats whose length is a multiple of kLanes.
//
// Each loop works on kLanes numbers at a time and adds up its lanes in a fixed order, without fused operations. So
// every processor gives the same bits, whatever the width of its registers.
#pragma once

#include <cstddef>

namespace treeglot::neural {

inline constexpr std::size_t kLanes = 16;

float dot(const float* a, const float* b, std::size_t length);
void add_to(float* sum, const float* values, std::size_t length);                   // sum += values
void add_scaled(float* sum, const float* values, float scale, std::size_t length);  // sum += scale * values
void rectify(float* values, std::size_t length);                                    // max(value, 0)

}  // namespace treeglot::neural
