#include "parse/coarse_chart.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>

namespace treeglot {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

CoarseGrammar::PairTable table(std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, float>> rules,
                               std::uint32_t states) {
  std::sort(rules.begin(), rules.end());
  CoarseGrammar::PairTable out;
  out.first_pair.assign(states + 1, 0);
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const auto& [first, second, third, score] = rules[i];
    if (i == 0 || std::get<0>(rules[i - 1]) != first || std::get<1>(rules[i - 1]) != second) {
      out.pairs.push_back({second, static_cast<std::uint32_t>(out.rules.size())});
      ++out.first_pair[first + 1];
    }
    out.rules.push_back({third, score});
  }
  out.pairs.push_back({0, static_cast<std::uint32_t>(out.rules.size())});
  for (std::uint32_t s = 0; s < states; ++s) out.first_pair[s + 1] += out.first_pair[s];
  return out;
}

// The best chain of unary rules from each state to each (Floyd and Warshall). Probabilities are at most 1, so the best
// chain has no state twice.
void close_steps(std::vector<float>& best, std::uint32_t states) {
  for (std::uint32_t via = 0; via < states; ++via) {
    for (std::uint32_t head = 0; head < states; ++head) {
      const float above = best[std::size_t{head} * states + via];
      if (above == kNever) continue;
      for (std::uint32_t child = 0; child < states; ++child) {
        float& chain = best[std::size_t{head} * states + child];
        chain = std::max(chain, above + best[std::size_t{via} * states + child]);
      }
    }
  }
}

#if defined(__GNUC__) && defined(__x86_64__)
#define TREEGLOT_WIDE 1
#else
#define TREEGLOT_WIDE 0
#endif

using Lanes4 = float __attribute__((vector_size(16)));
using Lanes8 = float __attribute__((vector_size(32)));

// The maximum of a[k] + b[k]. A maximum may count an element twice: the last vector overlaps the one before it.
template <class Lanes>
__attribute__((always_inline)) inline float best_sum_of(const float* a, const float* b, std::size_t n) {
  constexpr std::size_t width = sizeof(Lanes) / sizeof(float);
  Lanes x, y, best;
  std::memcpy(&x, a, sizeof x);
  std::memcpy(&y, b, sizeof y);
  best = x + y;
  for (std::size_t k = width; k + width <= n; k += width) {
    std::memcpy(&x, a + k, sizeof x);
    std::memcpy(&y, b + k, sizeof y);
    const Lanes sum = x + y;
    best = sum > best ? sum : best;
  }
  if (n % width != 0) {
    std::memcpy(&x, a + n - width, sizeof x);
    std::memcpy(&y, b + n - width, sizeof y);
    const Lanes sum = x + y;
    best = sum > best ? sum : best;
  }
  float out = best[0];
  for (std::size_t k = 1; k < width; ++k) out = best[k] > out ? best[k] : out;
  return out;
}

template <bool wide>
__attribute__((always_inline)) inline float best_sum(const float* a, const float* b, std::size_t n) {
  if constexpr (wide) {
    if (n >= 8) return best_sum_of<Lanes8>(a, b, n);
  }
  if (n >= 4) return best_sum_of<Lanes4>(a, b, n);
  float best = a[0] + b[0];
  for (std::size_t k = 1; k < n; ++k) best = std::max(best, a[k] + b[k]);
  return best;
}

// One view of rows that share an end: row s begins at values + s · width.
struct Face {
  const float* values;
  const std::uint32_t* low;
  const std::uint32_t* high;
};

template <bool wide>
__attribute__((always_inline)) inline void combine_faces(const CoarseGrammar::PairTable& table, std::size_t states,
                                                         std::size_t width, const Face& first, const Face& second,
                                                         std::uint32_t low, std::uint32_t high, float* out) {
  for (std::size_t x = 0; x < states; ++x) {
    const std::uint32_t x_low = std::max(low, first.low[x]), x_high = std::min(high, first.high[x]);
    if (x_low >= x_high) continue;
    const float* row = first.values + x * width;
    for (std::uint32_t p = table.first_pair[x]; p < table.first_pair[x + 1]; ++p) {
      const CoarseGrammar::Pair pair = table.pairs[p];
      const std::uint32_t begin = std::max(x_low, second.low[pair.second]);
      const std::uint32_t end = std::min(x_high, second.high[pair.second]);
      if (begin >= end) continue;
      const float best = best_sum<wide>(row + begin, second.values + pair.second * width + begin, end - begin);
      if (best == kNever) continue;
      for (std::uint32_t r = pair.first_rule; r < table.pairs[p + 1].first_rule; ++r) {
        const CoarseGrammar::Rule rule = table.rules[r];
        out[rule.third] = std::max(out[rule.third], best + rule.score);
      }
    }
  }
}

#if TREEGLOT_WIDE
__attribute__((target("avx2"))) void combine_wide(const CoarseGrammar::PairTable& table, std::size_t states,
                                                  std::size_t width, const Face& first, const Face& second,
                                                  std::uint32_t low, std::uint32_t high, float* out) {
  combine_faces<true>(table, states, width, first, second, low, high, out);
}
#endif

void combine_narrow(const CoarseGrammar::PairTable& table, std::size_t states, std::size_t width, const Face& first,
                    const Face& second, std::uint32_t low, std::uint32_t high, float* out) {
  combine_faces<false>(table, states, width, first, second, low, high, out);
}

// The best logarithm of a unary rule by head and child, kNever where there is none.
std::vector<float> unary_scores(const Level& level, std::uint32_t states) {
  std::vector<float> best(std::size_t{states} * states, kNever);
  for (const UnaryRule& rule : level.unary) {
    const std::uint32_t heads = level.states[rule.head];
    for (std::uint32_t c = 0; c < level.states[rule.child]; ++c) {
      for (std::uint32_t h = 0; h < heads; ++h) {
        const double score = level.scores[rule.at + std::size_t{c} * heads + h];
        if (score > 0.0)
          best[std::size_t{level.first[rule.head] + h} * states + level.first[rule.child] + c] =
              static_cast<float>(std::log(score));
      }
    }
  }
  return best;
}

// What the best unary rule makes of each state: `to` and `from` are a step's head and child, or its child and head.
template <auto kTo, auto kFrom>
void take_steps(const CoarseGrammar& grammar, const std::vector<float>& cell, std::vector<float>& stepped) {
  stepped = cell;
  for (const CoarseGrammar::Step& step : grammar.steps())
    stepped[step.*kTo] = std::max(stepped[step.*kTo], cell[step.*kFrom] + step.score);
}

// Visits the states of the binary rules that can be: head, left, right and log score.
template <class Visit>
void for_each_binary(const Level& level, const Visit& visit) {
  for (const BinaryRule& rule : level.binary) {
    const std::uint32_t heads = level.states[rule.head], right_states = level.states[rule.right];
    for (std::uint32_t l = 0; l < level.states[rule.left]; ++l) {
      for (std::uint32_t r = 0; r < right_states; ++r) {
        for (std::uint32_t h = 0; h < heads; ++h) {
          const double score = level.scores[rule.at + (std::size_t{l} * right_states + r) * heads + h];
          if (score <= 0.0) continue;
          visit(level.first[rule.head] + h, level.first[rule.left] + l, level.first[rule.right] + r,
                static_cast<float>(std::log(score)));
        }
      }
    }
  }
}

}  // namespace

CoarseGrammar::CoarseGrammar(const SplitGrammar& grammar) {
  const Level& level = grammar.levels[0];
  states_ = level.total_states();
  root_ = level.first[grammar.root];
  std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, float>> children, rights, lefts;
  for_each_binary(level, [&](std::uint32_t head, std::uint32_t left, std::uint32_t right, float score) {
    children.emplace_back(left, right, head, score);
    rights.emplace_back(head, right, left, score);
    lefts.emplace_back(head, left, right, score);
  });
  by_children_ = table(std::move(children), states_);
  by_right_ = table(std::move(rights), states_);
  by_left_ = table(std::move(lefts), states_);

  std::vector<float> best = unary_scores(level, states_);
  if (!level.closed) close_steps(best, states_);
  for (std::uint32_t head = 0; head < states_; ++head) {
    for (std::uint32_t child = 0; child < states_; ++child) {
      if (const float score = best[std::size_t{head} * states_ + child]; score > kNever && head != child)
        steps_.push_back({head, child, score});
    }
  }

  first_tag_.push_back(0);
  for (Symbol word = 0; word + 1 < level.first_tag.size(); ++word) {
    for (std::uint32_t i = level.first_tag[word]; i < level.first_tag[word + 1]; ++i) {
      const LexicalRule& rule = level.tags[i];
      for (std::uint32_t h = 0; h < level.states[rule.tag]; ++h) {
        if (const double score = level.scores[rule.at + h]; score > 0.0)
          tags_.emplace_back(level.first[rule.tag] + h, static_cast<float>(std::log(score)));
      }
    }
    first_tag_.push_back(tags_.size());
  }
}

void CoarseChart::Rows::reset(std::size_t ends, std::size_t states, std::size_t width) {
  if (values.size() < ends * states * width) values.resize(ends * states * width);
  low.assign(ends * states, 0xffffffffu);
  high.assign(ends * states, 0);
}

// Spans come shortest first (inside) or longest first (outside): a row grows at one of its ends.
void CoarseChart::Rows::put(std::size_t row, std::size_t width, std::uint32_t at, float value) {
  float* const base = values.data() + row * width;
  if (low[row] > high[row]) {
    low[row] = at;
    high[row] = at + 1;
  } else if (at >= high[row]) {
    std::fill(base + high[row], base + at, kNever);
    high[row] = at + 1;
  } else {
    std::fill(base + at + 1, base + low[row], kNever);
    low[row] = at;
  }
  base[at] = value;
}

void CoarseChart::store(Rows& by_begin, Rows& by_end, std::size_t i, std::size_t j,
                        const std::vector<float>& cell) const {
  for (std::size_t s = 0; s < states_; ++s) {
    if (cell[s] == kNever) continue;
    by_begin.put(i * states_ + s, width_, static_cast<std::uint32_t>(j), cell[s]);
    by_end.put(j * states_ + s, width_, static_cast<std::uint32_t>(i), cell[s]);
  }
}

void CoarseChart::combine(const CoarseGrammar::PairTable& table, const Rows& first, std::size_t first_end,
                          const Rows& second, std::size_t second_end, std::uint32_t low, std::uint32_t high,
                          float* out) const {
  const auto face = [&](const Rows& rows, std::size_t end) {
    return Face{rows.values.data() + end * states_ * width_, rows.low.data() + end * states_,
                rows.high.data() + end * states_};
  };
#if TREEGLOT_WIDE
  if (high - low >= 8 && __builtin_cpu_supports("avx2")) {
    combine_wide(table, states_, width_, face(first, first_end), face(second, second_end), low, high, out);
    return;
  }
#endif
  combine_narrow(table, states_, width_, face(first, first_end), face(second, second_end), low, high, out);
}

void CoarseChart::fill_inside(const CoarseGrammar& grammar, std::span<const Symbol> words, std::size_t i, std::size_t j,
                              std::vector<float>& cell) const {
  std::fill(cell.begin(), cell.end(), kNever);
  if (j == i + 1) {
    for (const auto& [tag, score] : grammar.tags(words[i])) cell[tag] = score;
  } else {
    combine(grammar.by_children(), by_begin_, i, by_end_, j, static_cast<std::uint32_t>(i + 1),
            static_cast<std::uint32_t>(j), cell.data());
  }
}

// A state that goes passes nothing on: what can only be reached through it would go as well.
void CoarseChart::prune(std::size_t i, std::size_t j, double least, std::vector<float>& outside,
                        std::vector<std::uint32_t>& kept) const {
  kept.clear();
  for (std::uint32_t s = 0; s < states_; ++s) {
    const std::size_t row = i * states_ + s;
    const bool inside = by_begin_.low[row] <= j && j < by_begin_.high[row];
    const float sum = inside ? outside[s] + by_begin_.values[row * width_ + j] : kNever;
    if (sum == kNever || static_cast<double>(sum) < least) {
      outside[s] = kNever;
    } else {
      kept.push_back(s);
    }
  }
}

Outcome CoarseChart::run(const CoarseGrammar& grammar, std::span<const Symbol> words, double margin,
                         const Limits& limits, KeptStates& kept, double& best) {
  const std::size_t n = words.size();
  states_ = grammar.states();
  width_ = n + 1;
  if (limits.too_large(4 * sizeof(float) * width_ * width_ * states_)) return Outcome::too_large;
  for (Rows* rows : {&by_begin_, &by_end_, &outside_by_begin_, &outside_by_end_}) rows->reset(n + 1, states_, width_);
  std::vector<float> cell(states_), stepped(states_);

  for (std::size_t length = 1; length <= n; ++length) {
    for (std::size_t i = 0; i + length <= n; ++i) {
      if (limits.late()) return Outcome::late;
      const std::size_t j = i + length;
      fill_inside(grammar, words, i, j, cell);
      take_steps<&CoarseGrammar::Step::head, &CoarseGrammar::Step::child>(grammar, cell, stepped);
      store(by_begin_, by_end_, i, j, stepped);
    }
  }
  const std::size_t top = std::size_t{0} * states_ + grammar.root();
  if (n == 0 || by_begin_.high[top] != n + 1) return Outcome::no_parse;
  const float total = by_begin_.values[top * width_ + n];
  best = total;

  std::vector<std::uint32_t> states;
  for (std::size_t length = n; length >= 1; --length) {
    for (std::size_t i = 0; i + length <= n; ++i) {
      if (limits.late()) return Outcome::late;
      const std::size_t j = i + length;
      std::fill(cell.begin(), cell.end(), kNever);
      if (length == n) cell[grammar.root()] = 0.0f;
      // As a left child of [i, j′): heads begin at i, right brothers at j; as a right child of [i′, j) likewise.
      combine(grammar.by_right(), outside_by_begin_, i, by_begin_, j, static_cast<std::uint32_t>(j + 1),
              static_cast<std::uint32_t>(n + 1), cell.data());
      combine(grammar.by_left(), outside_by_end_, j, by_end_, i, 0, static_cast<std::uint32_t>(i), cell.data());
      take_steps<&CoarseGrammar::Step::child, &CoarseGrammar::Step::head>(grammar, cell, stepped);
      prune(i, j, static_cast<double>(total) - margin, stepped, states);
      kept.set(i, j, states);
      store(outside_by_begin_, outside_by_end_, i, j, stepped);
    }
  }
  return Outcome::parsed;
}

}  // namespace treeglot
