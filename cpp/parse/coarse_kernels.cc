#include "parse/coarse_kernels.h"

#include <algorithm>
#include <limits>

#include "base/lanes.h"

namespace treeglot {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

template <class Lanes>
[[gnu::always_inline]] inline void raise(Lanes& best, const Lanes& other) {
  best = other > best ? other : best;
}

// The best sum of the two children over all splits, for kWidth spans from `begin` on, and what its rules make of it.
template <unsigned kWidth>
[[gnu::always_inline]] inline void apply_pair(const CoarseGrammar& grammar, const CoarseGrammar::Pair& pair,
                                              const InsideChart& chart, std::size_t length, std::size_t begin,
                                              std::span<const SpanLengths> lengths, float* cell) {
  using Lanes = typename LanesOf<kWidth>::Type;
  const SpanLengths left = lengths[pair.left], right = lengths[pair.right];
  if (left.first > left.last || right.first > right.last || right.first >= length) return;
  const std::size_t first = std::max<std::size_t>(left.first, length > right.last ? length - right.last : 1);
  const std::size_t last = std::min<std::size_t>(left.last, length - right.first);
  if (first > last) return;
  const float* a = chart.row(pair.left, first) + begin;
  const float* b = chart.row(pair.right, length - first) + begin + first;
  Lanes best = lanes<kWidth>(a) + lanes<kWidth>(b);
  for (std::size_t split = first; split < last; ++split) {
    a += chart.stride;
    b -= chart.stride - 1;
    const Lanes sum = lanes<kWidth>(a) + lanes<kWidth>(b);
    raise(best, sum);
  }
  for (const CoarseGrammar::Head& head : grammar.heads(pair)) {
    const Lanes sum = best + head.score;
    raise(lanes<kWidth>(cell + head.state * kWidth), sum);
  }
}

// Lanes past the last span hold anything, and nothing reads them but such lanes.
template <unsigned kWidth>
[[gnu::always_inline]] inline void inside_spans(const CoarseGrammar& grammar, const InsideChart& chart,
                                                std::size_t length, std::span<const SpanLengths> lengths, float* cell) {
  using Lanes = typename LanesOf<kWidth>::Type;
  const std::size_t states = grammar.states();
  float* const stepped = cell + states * kWidth;
  for (std::size_t begin = 0; begin + length <= chart.words; begin += kWidth) {
    if (length == 1) {
      for (std::size_t s = 0; s < states; ++s)
        lanes<kWidth>(cell + s * kWidth) = lanes<kWidth>(chart.row(s, length) + begin);
    } else {
      std::fill_n(cell, states * kWidth, kNever);
      for (const CoarseGrammar::Pair& pair : grammar.pairs())
        apply_pair<kWidth>(grammar, pair, chart, length, begin, lengths, cell);
    }
    std::copy_n(cell, states * kWidth, stepped);
    for (std::uint32_t child = 0; child < states; ++child) {
      const Lanes below = lanes<kWidth>(cell + child * kWidth);
      for (const CoarseGrammar::Step& step : grammar.steps_up(child)) {
        const Lanes sum = below + step.score;
        raise(lanes<kWidth>(stepped + step.state * kWidth), sum);
      }
    }
    for (std::size_t s = 0; s < states; ++s)
      lanes<kWidth>(chart.row(s, length) + begin) = lanes<kWidth>(stepped + s * kWidth);
  }
}

template <unsigned kWidth>
[[gnu::always_inline]] inline void pass_down(std::span<const CoarseGrammar::Children> rules, const OutsideNode& node,
                                             const OutsideRows& rows, std::span<const SpanLengths> lengths) {
  using Lanes = typename LanesOf<kWidth>::Type;
  Lanes number;
  for (unsigned k = 0; k < kWidth; ++k) number[k] = static_cast<float>(k);
  const std::uint32_t most = node.end - node.begin - 1;
  for (const CoarseGrammar::Children& rule : rules) {
    const SpanLengths left = lengths[rule.left], right = lengths[rule.right];
    if (left.first > std::min(left.last, most) || right.first > std::min(right.last, most)) continue;
    const std::uint32_t first = std::max(node.begin + left.first, node.end - std::min(right.last, most));
    const std::uint32_t last = std::min(node.begin + std::min(left.last, most), node.end - right.first);
    const float* const left_inside = rows.left_inside + rule.left * rows.left_width;
    float* const left_outside = rows.left_outside + rule.left * rows.left_width;
    const float* const right_inside = rows.right_inside + rule.right * rows.right_width;
    float* const right_outside = rows.right_outside + rule.right * rows.right_width;
    for (std::uint32_t at = first; at <= last; at += kWidth) {
      const auto there = number <= static_cast<float>(last - at);
      const Lanes never = number - std::numeric_limits<float>::infinity();
      const Lanes of_left = lanes<kWidth>(right_inside + at) + node.score + rule.score;
      const Lanes of_right = lanes<kWidth>(left_inside + at) + node.score + rule.score;
      const Lanes left_score = there ? of_left : never, right_score = there ? of_right : never;
      raise(lanes<kWidth>(left_outside + at), left_score);
      raise(lanes<kWidth>(right_outside + at), right_score);
    }
  }
}

void inside_4(const CoarseGrammar& grammar, const InsideChart& chart, std::size_t length,
              std::span<const SpanLengths> lengths, float* cell) {
  inside_spans<4>(grammar, chart, length, lengths, cell);
}
TREEGLOT_WIDTH_8 void inside_8(const CoarseGrammar& grammar, const InsideChart& chart, std::size_t length,
                               std::span<const SpanLengths> lengths, float* cell) {
  inside_spans<8>(grammar, chart, length, lengths, cell);
}
TREEGLOT_WIDTH_16 void inside_16(const CoarseGrammar& grammar, const InsideChart& chart, std::size_t length,
                                 std::span<const SpanLengths> lengths, float* cell) {
  inside_spans<16>(grammar, chart, length, lengths, cell);
}

void outside_4(std::span<const CoarseGrammar::Children> rules, const OutsideNode& node, const OutsideRows& rows,
               std::span<const SpanLengths> lengths) {
  pass_down<4>(rules, node, rows, lengths);
}
TREEGLOT_WIDTH_8 void outside_8(std::span<const CoarseGrammar::Children> rules, const OutsideNode& node,
                                const OutsideRows& rows, std::span<const SpanLengths> lengths) {
  pass_down<8>(rules, node, rows, lengths);
}
TREEGLOT_WIDTH_16 void outside_16(std::span<const CoarseGrammar::Children> rules, const OutsideNode& node,
                                  const OutsideRows& rows, std::span<const SpanLengths> lengths) {
  pass_down<16>(rules, node, rows, lengths);
}

}  // namespace

const CoarseKernels& coarse_kernels(unsigned width) {
  static constexpr CoarseKernels four{inside_4, outside_4}, eight{inside_8, outside_8}, sixteen{inside_16, outside_16};
  return width >= 16 ? sixteen : width >= 8 ? eight : four;
}

}  // namespace treeglot
