// Vectors of floats for kernels that are compiled once for each width of registers.
#pragma once

namespace treeglot {

inline constexpr unsigned kLanes = 16;  // lengths of vectors are multiples of it

// A compiler may ignore attributes of types that depend on template parameters; so each width is declared by itself.
template <unsigned kWidth>
struct LanesOf;
template <>
struct LanesOf<4> {
  using Type = float __attribute__((vector_size(16), aligned(alignof(float)), may_alias));
};
template <>
struct LanesOf<8> {
  using Type = float __attribute__((vector_size(32), aligned(alignof(float)), may_alias));
};
template <>
struct LanesOf<16> {
  using Type = float __attribute__((vector_size(64), aligned(alignof(float)), may_alias));
};

// kWidth floats in memory. References, not values: how vectors are passed depends on the processor.
template <unsigned kWidth>
[[gnu::always_inline]] inline const typename LanesOf<kWidth>::Type& lanes(const float* from) {
  return *reinterpret_cast<const typename LanesOf<kWidth>::Type*>(from);
}
template <unsigned kWidth>
[[gnu::always_inline]] inline typename LanesOf<kWidth>::Type& lanes(float* to) {
  return *reinterpret_cast<typename LanesOf<kWidth>::Type*>(to);
}

#if defined(__x86_64__)
#define TREEGLOT_WIDTH_16 __attribute__((target("avx512f")))
#define TREEGLOT_WIDTH_8 __attribute__((target("avx2,fma")))
inline unsigned register_width() {  // floats in a register
  if (__builtin_cpu_supports("avx512f")) return 16;
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? 8 : 4;
}
#else
#define TREEGLOT_WIDTH_16
#define TREEGLOT_WIDTH_8
inline unsigned register_width() { return 4; }
#endif

}  // namespace treeglot
