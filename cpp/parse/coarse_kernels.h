// The inner loops of the first pass, compiled for each width of registers. All widths give the same bits.
#pragma once

#include <cstdint>
#include <span>

#include "parse/coarse_grammar.h"

namespace treeglot {

// The lengths of the spans that a state stands over, and those between; first > last: none.
struct SpanLengths {
  std::uint32_t first = 0xffffffffu, last = 0;
};

// Inside scores by state, length and begin: the spans of a state and a length are side by side.
struct InsideChart {
  std::size_t words, stride;
  float* values;
  float* row(std::size_t state, std::size_t length) const { return values + (state * words + length - 1) * stride; }
};

// A node [begin, end) that passes its outside score on.
struct OutsideNode {
  std::uint32_t begin, end;
  float score;
};
// Rows over the place where a rule's children meet, one for each state. Of left children, which begin where the node
// begins, and of right children, which end where it ends.
struct OutsideRows {
  const float* left_inside;
  float* left_outside;
  std::size_t left_width;
  const float* right_inside;
  float* right_outside;
  std::size_t right_width;
};

struct CoarseKernels {
  // Makes the inside scores of all spans of a length. Those of length 1 already have the scores of tags. `lengths` are
  // those of shorter spans, and `scratch` has room for 2 · kLanes floats for each state.
  void (*inside)(const CoarseGrammar& grammar, const InsideChart& chart, std::size_t length,
                 std::span<const SpanLengths> lengths, float* scratch);
  // Raises the outside scores of the children of a node by all its rules.
  void (*outside)(std::span<const CoarseGrammar::Children> rules, const OutsideNode& node, const OutsideRows& rows,
                  std::span<const SpanLengths> lengths);
};
// For registers of so many floats, which the processor must have.
const CoarseKernels& coarse_kernels(unsigned width);

}  // namespace treeglot
