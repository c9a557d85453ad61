#include "parse/rule_product.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "graph/inside_outside.h"
#include "graph/rewrite.h"
#include "graph/semiring.h"
#include "parse/rule_union.h"

namespace treeglot {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();
// Sums of the same scores in another order differ by rounding; the best tree must not fall out by that.
constexpr double kRounding = 1e-9;
// Labels that reach each other by unary rules over one span. Of more, a rule stays only if its child's best tree was
// found before its head's. This keeps the best tree.
constexpr std::size_t kMostInCycle = 6;
constexpr std::uint32_t kNoGroup = 0xffffffffu;

using Rule = RuleUnion::Rule;

// The best tree of each place and the best of what is around it; unary rules may lead back to a place.
class BestTrees {
 public:
  BestTrees(const RuleUnion& rules, double margin) : rules_(rules), best_(rules.places(), kNever), rank_(best_.size()) {
    for (std::uint32_t place = 0; place < rules.words(); ++place) best_[place] = 0.0;
    for (auto place = static_cast<std::uint32_t>(rules.words()); place < rules.places(); ++place)
      order_.push_back(place);
    const auto key = [&](std::uint32_t place) {
      const Span span = rules_.place(place).span;
      return std::tuple(span.end - span.begin, span.begin);
    };
    std::ranges::stable_sort(order_, {}, key);
    for (std::size_t at = 0; at < order_.size(); ++at)
      if (at == 0 || key(order_[at]) != key(order_[at - 1])) first_.push_back(at);
    first_.push_back(order_.size());
    for (std::size_t cell = 0; cell < cells(); ++cell) settle_inside(cell);
    least_ = best_[rules.goal()] - margin - kRounding;
    outside_.assign(rules.places(), kNever);
    outside_[rules.goal()] = 0.0;
    for (std::size_t cell = cells(); cell-- > 0;) settle_outside(cell);
  }

  std::size_t cells() const { return first_.size() - 1; }
  // The places over one span.
  std::span<const std::uint32_t> cell(std::size_t number) const {
    return std::span(order_).subspan(first_[number], first_[number + 1] - first_[number]);
  }
  // Whether the rule is in a tree within the margin.
  bool is_good(const Rule& rule) const { return outside_[rule.head] + best(rule) >= least_; }
  // Whether the best tree of one place over a span was found before that of another.
  bool is_before(std::uint32_t one, std::uint32_t other) const { return rank_[one] < rank_[other]; }

 private:
  double best(const Rule& rule) const {
    double sum = rule.score;
    for (const std::uint32_t tail : rules_.tails(rule)) sum += best_[tail];
    return sum;
  }

  // Visits the places over a span whose value is above −∞, the greatest first; visits may raise others.
  template <class Visit>
  void settle(std::size_t number, const std::vector<double>& values, Visit visit) {
    open_.assign(cell(number).begin(), cell(number).end());
    while (!open_.empty()) {
      const auto top = std::ranges::max_element(open_, {}, [&](std::uint32_t place) { return values[place]; });
      const std::uint32_t place = *top;
      open_.erase(top);
      if (values[place] == kNever) return;
      visit(place);
    }
  }

  // Knuth's algorithm: scores are at most 0, so the greatest value that is left is final.
  void settle_inside(std::size_t number) {
    steps_.clear();
    for (const std::uint32_t place : cell(number)) {
      for (const Rule& rule : rules_.rules(place)) {
        if (rules_.is_unary(rule)) {
          steps_.push_back(&rule);
        } else {
          best_[place] = std::max(best_[place], best(rule));
        }
      }
    }
    std::uint32_t rank = 0;
    settle(number, best_, [&](std::uint32_t child) {
      rank_[child] = rank++;
      for (const Rule* step : steps_)
        if (rules_.tails(*step)[0] == child) best_[step->head] = std::max(best_[step->head], best(*step));
    });
  }

  void settle_outside(std::size_t number) {
    settle(number, outside_, [&](std::uint32_t head) {
      for (const Rule& rule : rules_.rules(head)) {
        if (!is_good(rule)) continue;
        const double sum = outside_[head] + best(rule);
        for (const std::uint32_t tail : rules_.tails(rule))
          if (best_[tail] > kNever) outside_[tail] = std::max(outside_[tail], sum - best_[tail]);
      }
    });
  }

  const RuleUnion& rules_;
  std::vector<std::uint32_t> order_;  // places by the lengths and begins of their spans
  std::vector<std::size_t> first_;    // cells + 1 offsets
  std::vector<double> best_, outside_;
  std::vector<std::uint32_t> rank_;
  std::vector<std::uint32_t> open_;
  std::vector<const Rule*> steps_;
  double least_ = 0.0;
};

// Whether a place over a span reaches another by good unary rules, by their numbers in the cell.
std::vector<std::uint8_t> find_reached(const RuleUnion& rules, const BestTrees& best,
                                       std::span<const std::uint32_t> cell) {
  const std::size_t size = cell.size();
  std::vector<std::uint8_t> reaches(size * size, 0);
  for (std::size_t i = 0; i < size; ++i) {
    for (const Rule& rule : rules.rules(cell[i])) {
      if (!rules.is_unary(rule) || !best.is_good(rule)) continue;
      reaches[i * size + static_cast<std::size_t>(std::ranges::find(cell, rules.tails(rule)[0]) - cell.begin())] = 1;
    }
  }
  if (std::ranges::find(reaches, 1) == reaches.end()) return reaches;
  for (std::size_t via = 0; via < size; ++via) {
    for (std::size_t i = 0; i < size; ++i) {
      if (!reaches[i * size + via]) continue;
      for (std::size_t j = 0; j < size; ++j) reaches[i * size + j] |= reaches[via * size + j];
    }
  }
  return reaches;
}

// Places over one span that reach each other by good unary rules.
class Cycles {
 public:
  Cycles(const RuleUnion& rules, const BestTrees& best) : group_(rules.places(), kNoGroup), bit_(rules.places(), 0u) {
    for (std::size_t number = 0; number < best.cells(); ++number) {
      const auto cell = best.cell(number);
      const std::vector<std::uint8_t> reaches = find_reached(rules, best, cell);
      for (std::size_t i = 0; i < cell.size(); ++i)
        if (reaches[i * cell.size() + i] && group_[cell[i]] == kNoGroup) add_group(cell, reaches, i);
    }
  }

  bool has(std::uint32_t one, std::uint32_t other) const {
    return group_[one] != kNoGroup && group_[one] == group_[other];
  }
  bool is_large(std::uint32_t place) const { return is_large_[group_[place]] != 0; }
  // The bit of a place among those of its cycle, if this is not large.
  std::uint32_t bit(std::uint32_t place) const { return 1u << bit_[place]; }

 private:
  void add_group(std::span<const std::uint32_t> cell, std::span<const std::uint8_t> reaches, std::size_t i) {
    std::uint32_t members = 0;
    for (std::size_t j = i; j < cell.size(); ++j) {
      if (!reaches[i * cell.size() + j] || !reaches[j * cell.size() + i]) continue;
      group_[cell[j]] = static_cast<std::uint32_t>(is_large_.size());
      bit_[cell[j]] = members++;
    }
    is_large_.push_back(members > kMostInCycle);
  }

  std::vector<std::uint32_t> group_, bit_;  // by place
  std::vector<std::uint8_t> is_large_;      // by group
};

// The graph of the good rules, without cycles. A node is a place and the labels of its cycle that are above it.
class Expansion {
 public:
  Expansion(const RuleUnion& rules, const BestTrees& best, const Limits& limits)
      : rules_(rules), best_(best), cycles_(rules, best), limits_(limits) {
    for (std::uint32_t word = 0; word < rules.words(); ++word) {
      labels_.append(rules.label(word));
      spans_.push_back(rules.place(word).span);
      add_edge(word, {}, kNoEdge);
    }
    is_cut_.assign(rules.words(), 0);
    goal_ = node(rules.goal(), 0);
    while (!open_.empty() && outcome_ == Outcome::parsed) {
      const State state = open_.back();
      open_.pop_back();
      expand(state);
    }
  }

  Outcome outcome() const { return outcome_; }
  Mapped graph() const { return assemble({spans_.size(), heads_, first_tail_, tails_}, goal_); }
  const Strings& labels() const { return labels_; }
  std::span<const Span> spans() const { return spans_; }
  double score(EdgeId edge) const { return rule_[edge] == kNoEdge ? 0.0 : rules_.rule(rule_[edge]).score; }
  double conditional(EdgeId edge) const { return rule_[edge] == kNoEdge ? 0.0 : rules_.rule(rule_[edge]).conditional; }
  bool is_cut(NodeId node) const { return is_cut_[node] != 0; }

 private:
  struct State {
    NodeId node;
    std::uint32_t place, above;  // bits of the places of its cycle that the chain has passed
  };

  NodeId node(std::uint32_t place, std::uint32_t above) {
    const auto [at, is_new] = nodes_.try_emplace({place, above}, static_cast<NodeId>(spans_.size()));
    if (is_new) {
      labels_.append(rules_.label(place));
      spans_.push_back(rules_.place(place).span);
      is_cut_.push_back(0);
      open_.push_back({at->second, place, above});
    }
    return at->second;
  }

  void add_edge(NodeId head, std::span<const NodeId> tails, std::uint32_t rule) {
    heads_.push_back(head);
    tails_.insert(tails_.end(), tails.begin(), tails.end());
    first_tail_.push_back(static_cast<std::uint32_t>(tails_.size()));
    rule_.push_back(rule);
  }

  void expand(const State& state) {
    if (limits_.late()) outcome_ = Outcome::late;
    if (limits_.too_large(bytes())) outcome_ = Outcome::too_large;
    std::vector<NodeId> tails;
    for (const Rule& rule : rules_.rules(state.place)) {
      if (!best_.is_good(rule)) continue;
      tails.clear();
      const std::uint32_t child = rules_.tails(rule)[0];
      if (rules_.is_unary(rule) && cycles_.has(state.place, child)) {
        tails.push_back(step_down(state, child));
        if (tails[0] == kNoNode) continue;
      } else {
        for (const std::uint32_t tail : rules_.tails(rule))
          tails.push_back(tail < rules_.words() ? tail : node(tail, 0));
      }
      add_edge(state.node, tails, static_cast<std::uint32_t>(rules_.number(rule)));
    }
  }

  // The node of a child in the same cycle; none if the chain has passed it, or if the rule is left out.
  NodeId step_down(const State& state, std::uint32_t child) {
    if (cycles_.is_large(child)) {
      if (best_.is_before(child, state.place)) return node(child, 0);
      is_cut_[state.node] = 1;
      return kNoNode;
    }
    const std::uint32_t above = state.above | cycles_.bit(state.place);
    return (above & cycles_.bit(child)) == 0 ? node(child, above) : kNoNode;
  }

  std::size_t bytes() const {
    return rules_.bytes() + spans_.size() * (sizeof(Span) + sizeof(State) + 64) + heads_.size() * 12 +
           tails_.size() * 4;
  }

  const RuleUnion& rules_;
  const BestTrees& best_;
  Cycles cycles_;
  const Limits& limits_;
  Outcome outcome_ = Outcome::parsed;
  std::map<std::pair<std::uint32_t, std::uint32_t>, NodeId> nodes_;
  std::vector<State> open_;
  Strings labels_;
  std::vector<Span> spans_;
  std::vector<std::uint8_t> is_cut_;  // by node
  std::vector<NodeId> heads_, tails_;
  std::vector<std::uint32_t> first_tail_ = {0}, rule_;
  NodeId goal_ = kNoNode;
};

// Leaves the best edges into each node and gives the others −∞. Says which nodes had more.
std::vector<std::uint8_t> drop_edges(const Hypergraph& graph, std::size_t most, std::vector<double>& scores) {
  const std::vector<double> best = inside<Viterbi>(graph, std::span<const double>(scores));
  std::vector<std::uint8_t> out(graph.nodes(), 0);
  std::vector<std::pair<double, EdgeId>> ranked;
  for (NodeId node = 0; node < graph.nodes(); ++node) {
    if (graph.edges_end(node) - graph.edges_begin(node) <= most) continue;
    ranked.clear();
    for (EdgeId edge = graph.edges_begin(node); edge < graph.edges_end(node); ++edge)
      if (const double value = edge_product<Viterbi>(graph, edge, scores[edge], best); value > kNever)
        ranked.emplace_back(-value, edge);
    if (ranked.size() <= most) continue;
    std::sort(ranked.begin(), ranked.end());
    for (std::size_t rank = most; rank < ranked.size(); ++rank) scores[ranked[rank].second] = kNever;
    out[node] = 1;
  }
  return out;
}

// log P(edge | head) if trees have the products of the weights.
std::vector<double> conditionals(const Hypergraph& graph, const std::vector<double>& weights) {
  const std::vector<double> sums = inside<LogSum>(graph, std::span<const double>(weights));
  std::vector<double> out;
  for (EdgeId edge = 0; edge < graph.edges(); ++edge)
    out.push_back(std::min(0.0, edge_product<LogSum>(graph, edge, weights[edge], sums) - sums[graph.head(edge)]));
  return out;
}

}  // namespace

std::size_t Belief::bytes() const {
  const Hypergraph& graph = posteriors.graph();
  const std::size_t one = graph.edges() * (sizeof(double) + 2 * sizeof(std::uint32_t)) +
                          graph.all_tails().size() * sizeof(NodeId) + graph.nodes() * (sizeof(Span) + 16);
  return probabilities ? 2 * one : one;
}

RuleProduct multiply(std::span<const Belief> beliefs, const ProductOptions& options, const Limits& limits) {
  RuleProduct out{ForestBuilder().finish(kNoNode, ScoreKind::posterior), Outcome::parsed, 0};
  const RuleUnion rules(beliefs, options.missing, limits);
  out.outcome = rules.outcome();
  if (out.outcome != Outcome::parsed) return out;
  const BestTrees best(rules, options.margin);
  const Expansion expansion(rules, best, limits);
  out.outcome = expansion.outcome();
  if (out.outcome != Outcome::parsed) return out;
  const Mapped all = expansion.graph();
  std::vector<double> scores;
  for (const EdgeId edge : all.edge_map) scores.push_back(expansion.score(edge));
  const std::vector<std::uint8_t> is_cut = drop_edges(all.graph, options.most_edges, scores);
  Mapped pruned = prune(all.graph, scores, options.margin);
  std::vector<double> kept;
  const bool has_probabilities = beliefs.front().probabilities.has_value();
  for (EdgeId& edge : pruned.edge_map) {
    edge = all.edge_map[edge];
    kept.push_back(has_probabilities ? expansion.conditional(edge) : expansion.score(edge));
  }
  Strings labels;
  std::vector<Span> spans;
  for (const NodeId node : pruned.node_map) {
    const NodeId before = all.node_map[node];
    out.cut += is_cut[node] || expansion.is_cut(before);
    labels.append(expansion.labels()[before]);
    spans.push_back(expansion.spans()[before]);
  }
  if (has_probabilities) kept = conditionals(pruned.graph, kept);
  out.forest = ParseForest(std::move(pruned.graph), std::move(labels), std::move(spans), std::move(kept),
                           has_probabilities ? ScoreKind::conditional : ScoreKind::posterior);
  return out;
}

}  // namespace treeglot
