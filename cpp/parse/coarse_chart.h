// The first pass: the best parse through every state and span under the coarsest grammar, over the whole chart.
//
// Logarithms in floats, maximum for sum: nothing can underflow, and the order of maxima changes no result. Inside
// scores are made for all spans of a length at once, side by side in registers. Outside scores are passed down by the
// states that are kept, and by no others.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/lanes.h"
#include "parse/coarse_grammar.h"
#include "parse/coarse_kernels.h"
#include "parse/kept_states.h"

namespace treeglot {

struct FirstPassResult {
  explicit FirstPassResult(std::size_t words) : kept(words) {}
  KeptStates kept;
  double best = 0.0;       // the best parse's log probability
  bool is_narrow = false;  // there were more states
};

class CoarseChart {
 public:
  explicit CoarseChart(unsigned width = register_width()) : kernels_(&coarse_kernels(width)) {}
  // Keeps the states whose best parse is worse than the best of all by `margin` at most (natural logarithms). Of more
  // than `most` states only the best stay, and those whose best parse is worse by 1 at most; 0: all stay. `out` is
  // complete when the outcome is `parsed`.
  Outcome run(const CoarseGrammar& grammar, std::span<const Symbol> words, double margin, std::size_t most,
              const Limits& limits, FirstPassResult& out);

 private:
  void reset(std::size_t words, std::size_t states);
  bool make_inside(const CoarseGrammar& grammar, std::span<const Symbol> words, const Limits& limits);
  bool reach_by_end(const CoarseGrammar& grammar, const Limits& limits);
  enum class Outside : std::uint8_t { made, many, late };
  // Gives up if there seem to be far more than `most` states; 0: never.
  Outside make_outside(const CoarseGrammar& grammar, double margin, std::size_t most, const Limits& limits,
                       KeptStates& kept);
  bool seems_many(std::size_t begin, std::size_t most) const;
  bool narrow(std::size_t most, double best, KeptStates& kept) const;
  void begin_at(const CoarseGrammar& grammar, std::size_t begin);
  void keep(const CoarseGrammar& grammar, std::size_t begin, std::size_t end, double least, float least_passed);
  bool is_shorter(std::size_t state, std::size_t length) const { return length > lengths_[state].last; }
  OutsideCells cells() { return {outside_.data(), states_, first_cell_.data(), touched_.data()}; }
  InsideChart chart() { return {words_, stride_, inside_.data()}; }
  float total(const CoarseGrammar& grammar);

  const CoarseKernels* kernels_;
  std::size_t words_ = 0, states_ = 0, stride_ = 0;
  std::vector<SpanLengths> lengths_;  // by state
  std::vector<float> inside_;
  // The rows of ReachedRows: of spans by end, state and begin, and of those that begin at one word by state and end.
  // Beside the latter their inside scores.
  std::vector<float> reached_by_end_, reached_at_, inside_at_;
  std::vector<std::size_t> first_by_end_;
  std::vector<float> outside_;  // as in OutsideCells
  std::vector<std::size_t> first_cell_;
  std::vector<std::uint8_t> touched_;
  std::vector<float> scratch_, stepped_;
  std::vector<std::uint32_t> kept_;
  std::vector<float> scores_;  // of the best parses through the states kept, in their order
};

}  // namespace treeglot
