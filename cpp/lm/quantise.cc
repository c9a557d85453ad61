#include "lm/quantise.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace treeglot {
namespace {

// The centres of intervals of width 2 · error that cover the sorted values from the left on; stops above `count`.
std::vector<float> cover(std::span<const float> sorted, float error, std::size_t count) {
  std::vector<float> centres;
  for (auto first = sorted.begin(); first != sorted.end() && centres.size() <= count;) {
    const auto end = std::upper_bound(first, sorted.end(), *first + 2 * error);
    centres.push_back(0.5f * (*first + end[-1]));
    first = end;
  }
  return centres;
}

}  // namespace

Quantisation quantise(std::vector<float> values, std::size_t count) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  Quantisation out;
  if (values.size() <= count) {
    out.centres = std::move(values);
    return out;
  }
  float low = 0, high = (values.back() - values.front()) / static_cast<float>(count);
  for (int i = 0; i < 30; ++i) {  // each halves the interval; a float has no more bits to tell
    const float middle = 0.5f * (low + high);
    (cover(values, middle, count).size() <= count ? high : low) = middle;
  }
  out.centres = cover(values, high, count);
  for (const float value : values)
    out.error = std::max(out.error, std::abs(value - out.centres[nearest(out.centres, value)]));
  return out;
}

std::size_t nearest(std::span<const float> centres, float value) {
  const auto above =
      static_cast<std::size_t>(std::lower_bound(centres.begin(), centres.end(), value) - centres.begin());
  if (above == 0) return 0;
  if (above == centres.size()) return above - 1;
  return value - centres[above - 1] <= centres[above] - value ? above - 1 : above;
}

}  // namespace treeglot
