#include "parse/coarse_chart.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

namespace treeglot {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();
// Sums of few parts that are equal up to the order of these differ by less than the first, or than this part of them.
// An addition of floats is off by 2^-24 of the sum at most, and none has sixteen.
constexpr double kRounding = 0.05, kRelative = 0x1p-20;
// States through which a parse as near to the best goes are never too many.
constexpr double kNearest = 1.0;

// Of a row in memory: it has whole registers, and room for one that begins at any of its numbers.
std::size_t row_width(std::size_t length) { return (length + 2 * (kLanes - 1)) / kLanes * kLanes; }

void grow(std::vector<float>& values, std::size_t size) {
  if (values.size() < size) values.resize(size);
}

}  // namespace

void CoarseChart::reset(std::size_t words, std::size_t states) {
  words_ = words;
  states_ = states;
  stride_ = (words + kLanes - 1) / kLanes * kLanes;
  lengths_.assign(states, SpanLengths());
  grow(inside_, states * words * stride_ + kLanes);
  first_by_end_.assign(1, 0);
  for (std::size_t end = 0; end <= words; ++end)
    first_by_end_.push_back(first_by_end_.back() + (states + CoarseGrammar::kKinds) * row_width(end));
  grow(reached_by_end_, first_by_end_.back());
  for (std::vector<float>* rows : {&inside_at_, &reached_at_})
    grow(*rows, (states + CoarseGrammar::kKinds) * row_width(words) + kLanes);
  first_cell_.assign(1, 0);
  for (std::size_t begin = 0; begin < words; ++begin) first_cell_.push_back(first_cell_.back() + words - begin);
  grow(outside_, states * first_cell_.back());
  scratch_.resize(std::max<std::size_t>(2 * kLanes, row_width(words)) * states);
}

// False: it is late.
bool CoarseChart::make_inside(const CoarseGrammar& grammar, std::span<const Symbol> words, const Limits& limits) {
  const InsideChart chart = this->chart();
  for (std::size_t s = 0; s < states_; ++s) std::fill_n(chart.row(s, 1), stride_, kNever);
  for (std::size_t i = 0; i < words_; ++i)
    for (const auto& [tag, score] : grammar.tags(words[i])) chart.row(tag, 1)[i] = score;
  for (std::size_t length = 1; length <= words_; ++length) {
    if (limits.late()) return false;
    kernels_->inside(grammar, chart, length, lengths_, scratch_.data());
    for (std::size_t s = 0; s < states_; ++s) {
      const std::span<const float> spans(chart.row(s, length), words_ - length + 1);
      if (std::ranges::all_of(spans, [](float score) { return score == kNever; })) continue;
      lengths_[s].first = std::min(lengths_[s].first, static_cast<std::uint32_t>(length));
      lengths_[s].last = static_cast<std::uint32_t>(length);
    }
  }
  return reach_by_end(grammar, limits);
}

// The same.
bool CoarseChart::reach_by_end(const CoarseGrammar& grammar, const Limits& limits) {
  std::fill_n(reached_by_end_.begin(), first_by_end_.back(), kNever);
  for (std::size_t s = 0; s < states_; ++s) {
    for (std::size_t length = 1; length <= lengths_[s].last; ++length) {
      const float* const from = chart().row(s, length);
      for (std::size_t end = length; end <= words_; ++end)
        reached_by_end_[first_by_end_[end] + s * row_width(end) + end - length] = from[end - length];
    }
  }
  for (std::size_t end = 1; end <= words_; ++end) {
    if (limits.late()) return false;
    float* const rows = reached_by_end_.data() + first_by_end_[end];
    std::copy_n(rows, states_ * row_width(end), scratch_.begin());
    kernels_->reach(grammar, scratch_.data(), row_width(end), row_width(end), rows);
  }
  return true;
}

float CoarseChart::total(const CoarseGrammar& grammar) {
  return is_shorter(grammar.root(), words_) ? kNever : chart().row(grammar.root(), words_)[0];
}

void CoarseChart::begin_at(const CoarseGrammar& grammar, std::size_t begin) {
  const std::size_t width = row_width(words_);
  std::fill_n(inside_at_.begin(), states_ * width, kNever);
  for (std::size_t s = 0; s < states_; ++s) {
    const std::size_t longest = std::min<std::size_t>(lengths_[s].last, words_ - begin);
    for (std::size_t length = 1; length <= longest; ++length)
      inside_at_[s * width + begin + length] = chart().row(s, length)[begin];
  }
  kernels_->reach(grammar, inside_at_.data() + begin + 1, width, words_ - begin, reached_at_.data() + begin + 1);
}

// Sets kept_, and the outside scores of those in stepped_. A state goes if no derivation through it is as good as
// `least`, and `least_passed` allows for rounding. States that go may still pass unary steps to others.
void CoarseChart::keep(const CoarseGrammar& grammar, std::size_t begin, std::size_t end, double least,
                       float least_passed) {
  const float* const inside = inside_at_.data() + end;
  const std::size_t width = row_width(words_);
  const float* const cell = outside_.data() + cells().cell(begin, end) * states_;
  kept_.clear();
  for (std::uint32_t s = 0; s < states_; ++s)
    if (cell[s] > kNever && cell[s] + reached_at_[s * width + end] >= least_passed) kept_.push_back(s);
  if (kept_.empty()) return;
  stepped_.assign(cell, cell + states_);
  for (const std::uint32_t head : kept_)
    for (const CoarseGrammar::Step& step : grammar.steps_down(head))
      stepped_[step.state] = std::max(stepped_[step.state], cell[head] + step.score);
  kept_.clear();
  for (std::uint32_t s = 0; s < states_; ++s) {
    if (stepped_[s] == kNever) continue;
    const float sum = stepped_[s] + inside[s * width];
    if (sum > kNever && static_cast<double>(sum) >= least) kept_.push_back(s);
  }
  for (const std::uint32_t s : kept_) scores_.push_back(stepped_[s] + inside[s * width]);
}

// Every span comes after those that it is the left or the right part of.
CoarseChart::Outside CoarseChart::make_outside(const CoarseGrammar& grammar, double margin, std::size_t most,
                                               const Limits& limits, KeptStates& kept) {
  scores_.clear();
  const double least = static_cast<double>(total(grammar)) - margin;
  // A state that goes passes nothing on: what can only be reached through it would go as well.
  const double slack = std::max(kRounding, kRelative * std::abs(least));
  const auto least_passed =
      static_cast<float>(std::max(least - slack, static_cast<double>(std::numeric_limits<float>::lowest())));
  std::fill_n(outside_.begin(), first_cell_.back() * states_, kNever);
  touched_.assign(first_cell_.back(), 0);
  const OutsideCells cells = this->cells();
  outside_[cells.cell(0, words_) * states_ + grammar.root()] = 0.0f;
  touched_[cells.cell(0, words_)] = 1;
  for (std::uint32_t begin = 0; begin < words_; ++begin) {
    if (limits.late()) return Outside::late;
    if (seems_many(begin, most)) return Outside::many;
    begin_at(grammar, begin);
    for (auto end = static_cast<std::uint32_t>(words_); end > begin; --end) {
      if (!touched_[cells.cell(begin, end)]) continue;
      keep(grammar, begin, end, least, least_passed);
      kept.set(begin, end, kept_);
      if (end - begin == 1) continue;
      const ReachedRows reached{reached_at_.data(), row_width(words_), reached_by_end_.data() + first_by_end_[end],
                                row_width(end)};
      for (const std::uint32_t head : kept_)
        kernels_->outside(grammar.rules(head), {begin, end, stepped_[head], least_passed - stepped_[head]}, chart(),
                          reached, cells);
    }
  }
  return Outside::made;
}

// Whether the spans that begin before `begin` have so many states that all will have far more than `most`.
bool CoarseChart::seems_many(std::size_t begin, std::size_t most) const {
  constexpr std::size_t kParts = 16, kTimes = 4;  // look when this part of the words is done
  if (most == 0 || begin * kParts < words_) return false;
  const std::size_t left = words_ - begin;
  const double part = 1.0 - static_cast<double>(left * (left + 1)) / static_cast<double>(words_ * (words_ + 1));
  return static_cast<double>(scores_.size()) > static_cast<double>(kTimes * most) * part;
}

// Of more than `most` states leaves the best. Whether some went.
bool CoarseChart::narrow(std::size_t most, double best, KeptStates& kept) const {
  if (most == 0 || scores_.size() <= most) return false;
  std::vector<float> ranked = scores_;
  const auto first_out = ranked.begin() + static_cast<std::ptrdiff_t>(most);
  std::nth_element(ranked.begin(), first_out, ranked.end(), std::greater<>());
  const float limit = *first_out;  // those that are equal go together
  const auto nearest = static_cast<float>(best - kNearest);
  KeptStates out(words_);
  std::vector<std::uint32_t> left;
  auto score = scores_.begin();
  bool is_narrow = false;
  for (std::size_t begin = 0; begin < words_; ++begin) {
    for (std::size_t end = words_; end > begin; --end) {
      left.clear();
      for (const std::uint32_t state : kept(begin, end)) {
        if (*score > limit || *score >= nearest) {
          left.push_back(state);
        } else {
          is_narrow = true;
        }
        ++score;
      }
      out.set(begin, end, left);
    }
  }
  kept = std::move(out);
  return is_narrow;
}

Outcome CoarseChart::run(const CoarseGrammar& grammar, std::span<const Symbol> words, double margin, std::size_t most,
                         const Limits& limits, FirstPassResult& out) {
  const std::size_t n = words.size();
  // Inside scores, and half as many of what they reach by their ends, and of outside scores.
  if (limits.too_large(sizeof(float) * grammar.states() * n * (n + kLanes) * 2)) return Outcome::too_large;
  if (n == 0) return Outcome::no_parse;
  reset(n, grammar.states());
  if (!make_inside(grammar, words, limits)) return Outcome::late;
  out.best = static_cast<double>(total(grammar));
  if (total(grammar) == kNever) return Outcome::no_parse;
  // Where half the margin has more than the most, the best of them are the best within the whole margin.
  const double half = margin / 2;
  Outside made = make_outside(grammar, margin, std::isfinite(margin) && half > kNearest ? most : 0, limits, out.kept);
  if (made == Outside::many) {
    out.kept = KeptStates(n);
    made = make_outside(grammar, half, 0, limits, out.kept);
    if (made == Outside::made && scores_.size() <= most) {
      out.kept = KeptStates(n);
      made = make_outside(grammar, margin, 0, limits, out.kept);
    }
  }
  if (made == Outside::late) return Outcome::late;
  out.is_narrow = narrow(most, out.best, out.kept);
  return Outcome::parsed;
}

}  // namespace treeglot
