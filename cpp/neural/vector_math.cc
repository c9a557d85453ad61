#include "neural/vector_math.h"

// One clone per width of registers; the loader chooses. Elsewhere the compiler's default serves.
#if defined(__x86_64__) && defined(__ELF__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__SANITIZE_ADDRESS__)
#define TREEGLOT_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define TREEGLOT_CLONES
#endif

namespace treeglot::neural {
namespace {

using Lanes = float __attribute__((vector_size(kLanes * sizeof(float)), aligned(alignof(float)), may_alias));

// kLanes floats in memory. A reference, not a value: how vectors are passed depends on the processor.
[[gnu::always_inline]] inline const Lanes& at(const float* from) { return *reinterpret_cast<const Lanes*>(from); }
[[gnu::always_inline]] inline Lanes& at(float* to) { return *reinterpret_cast<Lanes*>(to); }

}  // namespace

TREEGLOT_CLONES float dot(const float* a, const float* b, std::size_t length) {
  Lanes even{}, odd{};
  std::size_t i = 0;
  for (; i + 2 * kLanes <= length; i += 2 * kLanes) {
    even += at(a + i) * at(b + i);
    odd += at(a + i + kLanes) * at(b + i + kLanes);
  }
  if (i < length) even += at(a + i) * at(b + i);
  even += odd;
  float lanes[kLanes];
  at(lanes) = even;
  for (std::size_t half = kLanes / 2; half > 0; half /= 2)
    for (std::size_t k = 0; k < half; ++k) lanes[k] += lanes[k + half];
  return lanes[0];
}

TREEGLOT_CLONES void add_to(float* sum, const float* values, std::size_t length) {
  for (std::size_t i = 0; i < length; i += kLanes) at(sum + i) += at(values + i);
}

TREEGLOT_CLONES void add_scaled(float* sum, const float* values, float scale, std::size_t length) {
  for (std::size_t i = 0; i < length; i += kLanes) at(sum + i) += at(values + i) * scale;
}

TREEGLOT_CLONES void rectify(float* values, std::size_t length) {
  for (std::size_t i = 0; i < length; i += kLanes) at(values + i) = at(values + i) > 0.0f ? at(values + i) : Lanes{};
}

}  // namespace treeglot::neural
