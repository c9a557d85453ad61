// A half-open range of positions [begin, end).
#pragma once

#include <cstdint>

namespace treeglot {

struct Span {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  std::uint32_t size() const { return end - begin; }
  bool empty() const { return begin == end; }
  bool contains(std::uint32_t position) const { return begin <= position && position < end; }
  bool contains(Span other) const { return begin <= other.begin && other.end <= end; }
  friend bool operator==(Span, Span) = default;
};

}  // namespace treeglot
