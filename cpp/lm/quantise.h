// Few values for many: what the small layout keeps of probabilities and backoffs.
#pragma once

#include <span>
#include <vector>

namespace treeglot {

struct Quantisation {
  std::vector<float> centres;  // ascending
  float error = 0;             // no value is farther from its centre than this
};

// At most `count` centres such that the largest error is as small as it can be: the range in parts of one width, except
// that parts without values cost nothing. Half a step of a uniform scale bounds the error: range / (2 · count).
Quantisation quantise(std::vector<float> values, std::size_t count);

// The centre that is nearest to `value`, as its index.
std::size_t nearest(std::span<const float> centres, float value);

}  // namespace treeglot
