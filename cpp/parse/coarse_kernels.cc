#include "parse/coarse_kernels.h"

#include <algorithm>
#include <bit>
#include <cstring>
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
struct Bytes;
template <>
struct Bytes<4> {
  using Type = std::int8_t __attribute__((vector_size(4)));
};
template <>
struct Bytes<8> {
  using Type = std::int8_t __attribute__((vector_size(8)));
};
template <>
struct Bytes<16> {
  using Type = std::int8_t __attribute__((vector_size(16)));
};

// Lanes in words, a byte each: all its bits where the lane is at least `least`.
constexpr std::uint64_t kLowBits = 0x0101010101010101u;
template <unsigned kWidth>
struct ChosenLanes {
  static constexpr unsigned kWords = (kWidth + 7) / 8;
  std::uint64_t words[kWords] = {};

  [[gnu::always_inline]] ChosenLanes(const typename LanesOf<kWidth>::Type& values, float least) {
    const auto bytes = __builtin_convertvector(values >= least, typename Bytes<kWidth>::Type);
    std::memcpy(words, &bytes, sizeof bytes);
  }
  [[gnu::always_inline]] bool any() const {
    std::uint64_t out = 0;
    for (const std::uint64_t word : words) out |= word;
    return out != 0;
  }
};

[[gnu::always_inline]] inline void raise(float& best, float other) { best = other > best ? other : best; }

// The children of a rule that meet at `at`.
[[gnu::always_inline]] inline void pass_down_at(const CoarseGrammar::Children& rule, const OutsideNode& node,
                                                const InsideChart& inside, const OutsideCells& cells, std::size_t at) {
  const float left = inside.row(rule.left, at - node.begin)[node.begin];
  const float right = inside.row(rule.right, node.end - at)[at];
  const std::size_t left_cell = cells.cell(node.begin, at), right_cell = cells.cell(at, node.end);
  raise(cells.scores[left_cell * cells.width + rule.left], right + node.score + rule.score);
  raise(cells.scores[right_cell * cells.width + rule.right], left + node.score + rule.score);
  cells.touched[left_cell] = cells.touched[right_cell] = 1;
}

// Whether any lane of the sum of two rows reaches `least`, at the splits of the node.
template <unsigned kWidth>
[[gnu::always_inline]] inline bool any_from(const float* left, const float* right, const OutsideNode& node,
                                            float least) {
  for (std::size_t at = node.begin + 1; at < node.end; at += kWidth)
    if (ChosenLanes<kWidth>(lanes<kWidth>(left + at) + lanes<kWidth>(right + at), least).any()) return true;
  return false;
}

// Few derivations are good enough, so scores of a register are compared at once, and these alone are passed on. To skip
// the others is safe: the node's score, the rule's and what both children reach bound every derivation through either
// child. They also bound those with a unary step below it.
template <unsigned kWidth>
[[gnu::always_inline]] inline void pass_down(const CoarseGrammar::Rules& rules, const OutsideNode& node,
                                             const InsideChart& inside, const ReachedRows& reached,
                                             const OutsideCells& cells) {
  using Lanes = typename LanesOf<kWidth>::Type;
  const CoarseGrammar::Children* rule = rules.first;
  for (const CoarseGrammar::Group& group : rules.groups) {
    const CoarseGrammar::Children* const end = rules.first + group.end;
    const float* const left = reached.left + group.left * reached.left_width;
    const float* const bound = reached.right + (rules.states + group.kind) * reached.right_width;
    if (!any_from<kWidth>(left, bound, node, node.least - group.best)) {
      rule = end;
      continue;
    }
    for (; rule != end; ++rule) {
      const float* const right = reached.right + rule->right * reached.right_width;
      for (std::size_t at = node.begin + 1; at < node.end; at += kWidth) {
        const Lanes both = lanes<kWidth>(left + at) + lanes<kWidth>(right + at);
        const ChosenLanes<kWidth> good(both, node.least - rule->score);
        if (!good.any()) continue;
        for (unsigned w = 0; w < good.kWords; ++w)
          for (std::uint64_t word = good.words[w] & kLowBits; word != 0; word &= word - 1)
            pass_down_at(*rule, node, inside, cells, at + 8 * w + static_cast<unsigned>(std::countr_zero(word)) / 8);
      }
    }
  }
}

template <unsigned kWidth>
[[gnu::always_inline]] inline void reach(const CoarseGrammar& grammar, const float* rows, std::size_t width,
                                         std::size_t count, float* out) {
  using Lanes = typename LanesOf<kWidth>::Type;
  for (std::size_t at = 0; at < count; at += kWidth)
    for (std::uint32_t kind = 0; kind < CoarseGrammar::kKinds; ++kind)
      lanes<kWidth>(out + (grammar.states() + kind) * width + at) = Lanes{} + kNever;
  for (std::uint32_t head = 0; head < grammar.states(); ++head) {
    for (std::size_t at = 0; at < count; at += kWidth) {
      const Lanes own = lanes<kWidth>(rows + head * width + at);
      Lanes best = own;
      for (const CoarseGrammar::Step& step : grammar.steps_down(head)) {
        const Lanes sum = lanes<kWidth>(rows + step.state * width + at) + step.score;
        raise(best, sum);
      }
      best = own > kNever ? best : own;  // a state without a score passes nothing on
      lanes<kWidth>(out + head * width + at) = best;
      raise(lanes<kWidth>(out + (grammar.states() + grammar.kind(head)) * width + at), best);
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

void reach_4(const CoarseGrammar& grammar, const float* rows, std::size_t width, std::size_t count, float* out) {
  reach<4>(grammar, rows, width, count, out);
}
void outside_4(const CoarseGrammar::Rules& rules, const OutsideNode& node, const InsideChart& inside,
               const ReachedRows& reached, const OutsideCells& cells) {
  pass_down<4>(rules, node, inside, reached, cells);
}
TREEGLOT_WIDTH_8 void reach_8(const CoarseGrammar& grammar, const float* rows, std::size_t width, std::size_t count,
                              float* out) {
  reach<8>(grammar, rows, width, count, out);
}
TREEGLOT_WIDTH_8 void outside_8(const CoarseGrammar::Rules& rules, const OutsideNode& node, const InsideChart& inside,
                                const ReachedRows& reached, const OutsideCells& cells) {
  pass_down<8>(rules, node, inside, reached, cells);
}
TREEGLOT_WIDTH_16 void reach_16(const CoarseGrammar& grammar, const float* rows, std::size_t width, std::size_t count,
                                float* out) {
  reach<16>(grammar, rows, width, count, out);
}
TREEGLOT_WIDTH_16 void outside_16(const CoarseGrammar::Rules& rules, const OutsideNode& node, const InsideChart& inside,
                                  const ReachedRows& reached, const OutsideCells& cells) {
  pass_down<16>(rules, node, inside, reached, cells);
}

}  // namespace

const CoarseKernels& coarse_kernels(unsigned width) {
  static constexpr CoarseKernels four{inside_4, reach_4, outside_4}, eight{inside_8, reach_8, outside_8},
      sixteen{inside_16, reach_16, outside_16};
  return width >= 16 ? sixteen : width >= 8 ? eight : four;
}

}  // namespace treeglot
