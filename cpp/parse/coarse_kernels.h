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
  float least;  // worse derivations pass nothing on
};
// What is reached over the place where a rule's children meet, in a row for each state. Rows of left children begin
// where the node begins, and those of right children end where it ends. They hold −∞ where a child does not exist, and
// right ones also from the node's end on. After the states' rows come those of the best of each kind.
struct ReachedRows {
  const float* left;
  std::size_t left_width;
  const float* right;
  std::size_t right_width;
};
// Outside scores by span and state. Spans come by their begins, then by their ends.
struct OutsideCells {
  float* scores;
  std::size_t width;
  const std::size_t* first;  // by begin: the cell of the shortest span
  std::uint8_t* touched;     // by cell: whether it has a score
  std::size_t cell(std::size_t begin, std::size_t end) const { return first[begin] + end - begin - 1; }
};

struct CoarseKernels {
  // Makes the inside scores of all spans of a length. Those of length 1 already have the scores of tags. `lengths` are
  // those of shorter spans, and `scratch` has room for 2 · kLanes floats for each state.
  void (*inside)(const CoarseGrammar& grammar, const InsideChart& chart, std::size_t length,
                 std::span<const SpanLengths> lengths, float* scratch);
  // Makes `count` scores in a row for each state: the best of its own and of those that its unary chains lead to. It is
  // −∞ where its own is. Of both, rows are `width` long; numbers past `count` are any.
  void (*reach)(const CoarseGrammar& grammar, const float* rows, std::size_t width, std::size_t count, float* out);
  // Raises the outside scores of the children of a node by all its rules. `reached` is what their scores in `inside`
  // reach.
  void (*outside)(const CoarseGrammar::Rules& rules, const OutsideNode& node, const InsideChart& inside,
                  const ReachedRows& reached, const OutsideCells& cells);
};
// For registers of so many floats, which the processor must have.
const CoarseKernels& coarse_kernels(unsigned width);

}  // namespace treeglot
