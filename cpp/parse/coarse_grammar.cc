#include "parse/coarse_grammar.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace treeglot {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

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

}  // namespace

CoarseGrammar::CoarseGrammar(const SplitGrammar& grammar) {
  const Level& level = grammar.levels[0];
  states_ = level.total_states();
  root_ = level.first[grammar.root];
  add_binary(level);
  add_unary(level);
  add_tags(level);
}

void CoarseGrammar::add_binary(const Level& level) {
  std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, float>> rules;  // left, right, head
  for (const BinaryRule& rule : level.binary) {
    const std::uint32_t heads = level.states[rule.head], rights = level.states[rule.right];
    for (std::uint32_t l = 0; l < level.states[rule.left]; ++l) {
      for (std::uint32_t r = 0; r < rights; ++r) {
        for (std::uint32_t h = 0; h < heads; ++h) {
          const double score = level.scores[rule.at + (std::size_t{l} * rights + r) * heads + h];
          if (score > 0.0)
            rules.emplace_back(level.first[rule.left] + l, level.first[rule.right] + r, level.first[rule.head] + h,
                               static_cast<float>(std::log(score)));
        }
      }
    }
  }
  // Pairs of the same kinds stand side by side: loops over their splits are alike.
  kinds_.assign(states_, 0);
  for (const auto& [left, right, head, score] : rules) kinds_[head] = 1;
  const auto kind = [&](const auto& rule) { return 2 * kinds_[std::get<0>(rule)] + kinds_[std::get<1>(rule)]; };
  std::ranges::sort(rules, [&](const auto& a, const auto& b) { return std::pair(kind(a), a) < std::pair(kind(b), b); });
  first_children_.assign(states_ + 1, 0);
  for (const auto& [left, right, head, score] : rules) {
    if (pairs_.empty() || pairs_.back().left != left || pairs_.back().right != right)
      pairs_.push_back({left, right, static_cast<std::uint32_t>(heads_.size())});
    heads_.push_back({head, score});
    ++first_children_[head + 1];
  }
  pairs_.push_back({0, 0, static_cast<std::uint32_t>(heads_.size())});
  for (std::uint32_t s = 0; s < states_; ++s) first_children_[s + 1] += first_children_[s];
  children_.resize(rules.size());
  std::vector<std::uint32_t> next(first_children_.begin(), first_children_.end() - 1);
  for (const auto& [left, right, head, score] : rules) children_[next[head]++] = {left, right, score};
  group_rules();
}

void CoarseGrammar::group_rules() {
  for (std::uint32_t head = 0; head < states_; ++head) {
    first_group_.push_back(static_cast<std::uint32_t>(groups_.size()));
    const std::uint32_t first = first_children_[head];
    for (std::uint32_t r = first; r < first_children_[head + 1]; ++r) {
      const Children& rule = children_[r];
      if (r == first || groups_.back().left != rule.left || groups_.back().kind != kind(rule.right))
        groups_.push_back({rule.left, 0, kind(rule.right), rule.score});
      groups_.back().end = r + 1 - first;
      groups_.back().best = std::max(groups_.back().best, rule.score);
    }
  }
  first_group_.push_back(static_cast<std::uint32_t>(groups_.size()));
}

void CoarseGrammar::add_unary(const Level& level) {
  std::vector<float> best = unary_scores(level, states_);
  if (!level.closed) close_steps(best, states_);
  const auto score = [&](std::uint32_t head, std::uint32_t child) {
    return head == child ? kNever : best[std::size_t{head} * states_ + child];
  };
  up_.first.push_back(0);
  down_.first.push_back(0);
  for (std::uint32_t state = 0; state < states_; ++state) {
    for (std::uint32_t other = 0; other < states_; ++other) {
      if (score(other, state) > kNever) up_.steps.push_back({other, score(other, state)});
      if (score(state, other) > kNever) down_.steps.push_back({other, score(state, other)});
    }
    up_.first.push_back(static_cast<std::uint32_t>(up_.steps.size()));
    down_.first.push_back(static_cast<std::uint32_t>(down_.steps.size()));
  }
}

void CoarseGrammar::add_tags(const Level& level) {
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

}  // namespace treeglot
