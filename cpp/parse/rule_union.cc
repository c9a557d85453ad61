#include "parse/rule_union.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "graph/inside_outside.h"

namespace treeglot {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();
constexpr std::uint32_t kNoRule = 0xffffffffu;
constexpr std::size_t kBetweenChecks = 256;  // of limits

}  // namespace

RuleUnion::RuleUnion(std::span<const Belief> beliefs, double missing, const Limits& limits) : least_(-missing) {
  const ParseForest& first = beliefs.front().posteriors;
  words_ = first.words();
  for (std::uint32_t word = 0; word < words_; ++word)
    places_.push_back({labels_.intern(first.word(word)), {word, word + 1}});
  for (const Belief& belief : beliefs) {
    if (!add(belief, limits)) return;
    ++added_;
  }
  const auto number = static_cast<double>(beliefs.size());
  for (Rule& rule : rules_) {
    rule.score /= number;
    rule.conditional /= number;
  }
  sort_by_head();
}

std::size_t RuleUnion::bytes() const {
  return sizeof(Place) * places_.size() + sizeof(Rule) * rules_.size() + sizeof(std::uint32_t) * tails_.size() +
         place_index_.bytes() + rule_index_.bytes();
}

// False: a limit is reached.
bool RuleUnion::add(const Belief& belief, const Limits& limits) {
  const ParseForest& forest = belief.posteriors;
  const Hypergraph& graph = forest.graph();
  std::vector<std::uint32_t> place_of(graph.nodes()), rule_of(graph.edges(), kNoRule), tails;
  for (NodeId node = 0; node < graph.nodes(); ++node)
    place_of[node] =
        forest.is_word(node) ? node : intern_place({labels_.intern(forest.label(node)), forest.span(node)});
  goal_ = place_of[graph.goal()];
  for (EdgeId edge = 0; edge < graph.edges(); ++edge) {
    if (edge % kBetweenChecks == 0) {
      if (limits.late()) outcome_ = Outcome::late;
      if (limits.too_large(bytes())) outcome_ = Outcome::too_large;
      if (outcome_ != Outcome::parsed) return false;
    }
    const NodeId head = graph.head(edge);
    if (forest.is_word(head)) continue;
    tails.clear();
    for (const NodeId tail : graph.tails(edge)) tails.push_back(place_of[tail]);
    // A label above itself is no rule: without it the tree is as good.
    if (tails.size() == 1 && tails[0] == place_of[head]) continue;
    rule_of[edge] = intern_rule(place_of[head], tails);
  }
  add_scores(belief, rule_of);
  return true;
}

// Adds what one grammar gives each rule, also to those that it lacks.
void RuleUnion::add_scores(const Belief& belief, std::span<const std::uint32_t> rule_of) {
  std::vector<double> values(rules_.size(), kNever);
  const auto least = [&](double value) { return std::clamp(value, least_, 0.0); };
  for (EdgeId edge = 0; edge < rule_of.size(); ++edge) {
    if (rule_of[edge] == kNoRule) continue;
    double& value = values[rule_of[edge]];
    value = std::max(value, belief.posteriors.score(edge));  // nodes apart in a forest may share a place
  }
  for (std::size_t rule = 0; rule < rules_.size(); ++rule) rules_[rule].score += least(values[rule]);
  if (!belief.probabilities) return;
  // P(rule | head) of the forest's trees, over all nodes of a place.
  const std::vector<double> logarithms = posteriors(belief.probabilities->graph(), belief.probabilities->scores());
  std::vector<double> heads(places_.size(), 0.0);
  std::fill(values.begin(), values.end(), 0.0);
  for (EdgeId edge = 0; edge < rule_of.size(); ++edge) {
    if (rule_of[edge] == kNoRule) continue;
    const double posterior = std::exp(logarithms[edge]);
    values[rule_of[edge]] += posterior;
    heads[rules_[rule_of[edge]].head] += posterior;
  }
  for (std::size_t rule = 0; rule < rules_.size(); ++rule) {
    // Posteriors too small for a double are 0.
    const double value = values[rule];
    rules_[rule].conditional += value > 0.0 ? least(std::log(value / heads[rules_[rule].head])) : least_;
  }
}

std::uint32_t RuleUnion::intern_place(const Place& place) {
  const std::uint64_t span = (std::uint64_t{place.span.begin} << 32) | place.span.end;
  const auto number = static_cast<std::uint32_t>(places_.size());
  const std::uint32_t found = place_index_.intern(hash_number(hash_number(span) + place.label), number,
                                                  [&](std::uint32_t other) { return places_[other] == place; });
  if (found == number) places_.push_back(place);
  return found;
}

// A new rule has what the grammars before gave it, which lack it.
std::uint32_t RuleUnion::intern_rule(std::uint32_t head, std::span<const std::uint32_t> tails) {
  std::uint64_t hash = hash_number(head);
  for (const std::uint32_t tail : tails) hash = hash_number(hash + tail);
  const auto number = static_cast<std::uint32_t>(rules_.size());
  const std::uint32_t found = rule_index_.intern(hash, number, [&](std::uint32_t other) {
    return rules_[other].head == head && std::ranges::equal(this->tails(rules_[other]), tails);
  });
  if (found == number) {
    const double before = least_ * static_cast<double>(added_);
    rules_.push_back({head, tails_.size(), static_cast<std::uint32_t>(tails.size()), before, before});
    tails_.insert(tails_.end(), tails.begin(), tails.end());
  }
  return found;
}

void RuleUnion::sort_by_head() {
  std::stable_sort(rules_.begin(), rules_.end(), [](const Rule& a, const Rule& b) { return a.head < b.head; });
  first_rule_.assign(places_.size() + 1, 0);
  for (const Rule& rule : rules_) ++first_rule_[rule.head + 1];
  std::partial_sum(first_rule_.begin(), first_rule_.end(), first_rule_.begin());
}

}  // namespace treeglot
