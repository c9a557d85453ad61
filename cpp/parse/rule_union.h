// The rules of several forests, each once, with the mean of their scores.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/hash_index.h"
#include "base/span.h"
#include "base/symbols.h"
#include "parse/kept_states.h"
#include "parse/rule_product.h"

namespace treeglot {

class RuleUnion {
 public:
  // A label over a span; the first are the words.
  struct Place {
    Symbol label;
    Span span;
    friend bool operator==(const Place&, const Place&) = default;
  };
  struct Rule {
    std::uint32_t head;
    std::size_t first_tail;
    std::uint32_t tails;
    double score = 0.0, conditional = 0.0;
  };

  // When a limit is reached, outcome() says so and the union is of no use.
  RuleUnion(std::span<const Belief> beliefs, double missing, const Limits& limits);

  Outcome outcome() const { return outcome_; }
  std::size_t words() const { return words_; }
  std::uint32_t goal() const { return goal_; }
  std::size_t places() const { return places_.size(); }
  const Place& place(std::uint32_t number) const { return places_[number]; }
  std::string_view label(std::uint32_t place) const { return labels_.text(places_[place].label); }
  // By place, in the order in which the forests have them.
  std::span<const Rule> rules(std::uint32_t head) const {
    return std::span(rules_).subspan(first_rule_[head], first_rule_[head + 1] - first_rule_[head]);
  }
  std::size_t number(const Rule& rule) const { return static_cast<std::size_t>(&rule - rules_.data()); }
  std::size_t size() const { return rules_.size(); }
  const Rule& rule(std::size_t number) const { return rules_[number]; }
  std::span<const std::uint32_t> tails(const Rule& rule) const {
    return std::span(tails_).subspan(rule.first_tail, rule.tails);
  }
  // Whether the rule has one child, which is no word.
  bool is_unary(const Rule& rule) const { return rule.tails == 1 && tails_[rule.first_tail] >= words_; }
  std::size_t bytes() const;

 private:
  bool add(const Belief& belief, const Limits& limits);
  void add_scores(const Belief& belief, std::span<const std::uint32_t> rule_of);
  std::uint32_t intern_place(const Place& place);
  std::uint32_t intern_rule(std::uint32_t head, std::span<const std::uint32_t> tails);
  void sort_by_head();

  double least_;
  std::size_t words_ = 0;
  std::uint32_t goal_ = 0;
  std::size_t added_ = 0;  // beliefs
  Outcome outcome_ = Outcome::parsed;
  Symbols labels_;
  std::vector<Place> places_;
  std::vector<Rule> rules_;
  std::vector<std::uint32_t> tails_;
  std::vector<std::size_t> first_rule_;  // places + 1 offsets
  HashIndex place_index_, rule_index_;
};

}  // namespace treeglot
