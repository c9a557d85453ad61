#include <algorithm>
#include <functional>
#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "decode/derivation.h"
#include "decode/target_constraints.h"

namespace treeglot {
namespace {

using Effect = TargetAutomata::Effect;
using ItemId = std::uint32_t;

constexpr std::size_t kMostEdges = std::size_t{1} << 23;  // of a restricted forest: they take some 500 MB
constexpr std::size_t kMostSteps = 32;

// A node of the forest with what its words do to the automata, and the required steps below it.
struct Item {
  NodeId node;
  Effect effect;
  std::uint32_t steps;

  friend bool operator==(const Item&, const Item&) = default;
};

struct RestrictedEdge {
  EdgeId old;
  ItemId head;
  std::uint32_t first_tail;
  std::span<const Alternative> alternatives;
};

// Alternatives of an edge whose target sides do the same to the automata.
struct Shape {
  std::vector<std::int64_t> symbols;  // ≥ 0 an effect of words, −1 − k the k-th tail
  std::uint32_t steps;                // that these rules take
  std::span<const Alternative> alternatives;
};

class Restriction {
 public:
  Restriction(const TranslationForest& forest, const TargetConstraints& constraints, const Reading& reading, Glue& glue,
              std::size_t words)
      : forest_(forest),
        constraints_(constraints),
        reading_(reading),
        glue_(glue),
        automata_(constraints, glue),
        items_of_(forest.graph.nodes()) {
    if (constraints.steps.size() > kMostSteps)
      throw std::invalid_argument("a derivation with " + std::to_string(constraints.steps.size()) +
                                  " required steps; expected at most 32");
    for (const RequiredStep& step : constraints.steps)
      if (step.span.begin >= step.span.end || step.span.end > words)
        throw std::invalid_argument("a step covers words " + std::to_string(step.span.begin) + "-" +
                                    std::to_string(step.span.end) + " of " + std::to_string(words));
  }

  TranslationForest run() {
    for (NodeId node = 0; node < forest_.graph.nodes(); ++node) expand(node);
    return build();
  }

  // The largest parts first; none overlaps an earlier one on either side.
  std::vector<ReachedPart> reached() const {
    std::vector<std::pair<Span, Span>> found;
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>, NodeId> nodes;
    for (const Item& item : items_) {
      const Span span = forest_.spans[item.node];
      automata_.places(item.effect, [&](std::uint32_t begin, std::uint32_t end) {
        if (begin < end && nodes.try_emplace({span.begin, span.end, begin, end}, item.node).second)
          found.push_back({span, {begin, end}});
      });
    }
    std::ranges::sort(found, {}, [](const auto& part) {
      const auto& [source, target] = part;
      return std::tuple(-static_cast<std::int64_t>(target.end - target.begin),
                        -static_cast<std::int64_t>(source.end - source.begin), source.begin, target.begin);
    });
    const auto overlap = [](Span a, Span b) { return a.begin < b.end && b.begin < a.end; };
    std::vector<ReachedPart> out;
    for (const auto& [source, target] : found) {
      if (std::ranges::any_of(out, [&](const ReachedPart& part) {
            return overlap(part.source, source) || overlap(part.target, target);
          }))
        continue;
      const NodeId node = nodes.at({source.begin, source.end, target.begin, target.end});
      out.push_back({source, target, reading_.label(node)});
    }
    return out;
  }

 private:
  void expand(NodeId node) {
    index_.clear();
    items_of_[node].first = static_cast<ItemId>(items_.size());
    for (EdgeId edge = forest_.graph.edges_begin(node); edge < forest_.graph.edges_end(node); ++edge)
      for (const Shape& shape : shapes(edge)) combine(edge, shape);
    items_of_[node].second = static_cast<ItemId>(items_.size());
  }

  // All choices of items for the tails, in the order in which the target side has them.
  void combine(EdgeId edge, const Shape& shape) {
    const auto tails = forest_.graph.tails(edge);
    chosen_.assign(tails.size(), kNoNode);
    order_ = shape.symbols;
    for (std::size_t tail = 0; tail < tails.size(); ++tail) {
      const auto symbol = -1 - static_cast<std::int64_t>(tail);
      if (std::ranges::find(order_, symbol) == order_.end()) order_.push_back(symbol);
    }
    choose(edge, shape, 0, TargetAutomata::kNothing, shape.steps);
  }

  void choose(EdgeId edge, const Shape& shape, std::size_t at, Effect effect, std::uint32_t steps) {
    if (effect == TargetAutomata::kDead) return;
    if (at == order_.size()) {
      add(edge, shape, effect, steps);
    } else if (order_[at] >= 0) {
      choose(edge, shape, at + 1, automata_.join(effect, static_cast<Effect>(order_[at])), steps);
    } else {
      const auto tail = static_cast<std::size_t>(-1 - order_[at]);
      const bool used = at < shape.symbols.size();  // or its words are dropped
      const auto [begin, end] = items_of_[forest_.graph.tails(edge)[tail]];
      const ItemId before = chosen_[tail];
      for (ItemId item = before == kNoNode ? begin : before; item < (before == kNoNode ? end : before + 1); ++item) {
        chosen_[tail] = item;
        const Effect joined = used ? automata_.join(effect, items_[item].effect) : effect;
        choose(edge, shape, at + 1, joined, steps | items_[item].steps);
      }
      chosen_[tail] = before;
    }
  }

  void add(EdgeId edge, const Shape& shape, Effect effect, std::uint32_t steps) {
    const NodeId node = forest_.graph.head(edge);
    effect = automata_.at(effect, forest_.place[edge]);
    if (effect == TargetAutomata::kDead) return;
    if (node == forest_.graph.goal()) {
      const std::uint32_t all = constraints_.steps.empty() ? 0 : ~0u >> (kMostSteps - constraints_.steps.size());
      if (steps != all || !automata_.accepts(effect)) return;
      effect = TargetAutomata::kNothing;
    }
    if (edges_.size() == kMostEdges)
      throw std::runtime_error("the constraints make more than 8,388,608 edges; expected fewer or shorter ones");
    const Item item = {node, effect, steps};
    const auto next = static_cast<ItemId>(items_.size());
    const ItemId head = index_.intern(hash_number(std::uint64_t{effect} << 32 | steps), next,
                                      [&](ItemId known) { return items_[known] == item; });
    if (head == next) items_.push_back(item);
    edges_.push_back({edge, head, static_cast<std::uint32_t>(tails_.size()), shape.alternatives});
    tails_.insert(tails_.end(), chosen_.begin(), chosen_.end());
  }

  // Lists of alternatives are shared by edges: each is read once, unless the rules at an edge may be required ones.
  const std::vector<Shape>& shapes(EdgeId edge) {
    const auto alternatives = forest_.alternatives[edge];
    const Span span = forest_.spans[forest_.graph.head(edge)];
    const bool asked = std::ranges::any_of(constraints_.steps, [&](const RequiredStep& s) {
      return s.span.begin == span.begin && s.span.end == span.end;
    });
    if (asked) return own_shapes_ = make_shapes(edge);
    const auto [at, is_new] = shapes_.try_emplace({alternatives.data(), alternatives.size()});
    if (is_new) at->second = make_shapes(edge);
    return at->second;
  }

  std::vector<Shape> make_shapes(EdgeId edge) {
    const auto alternatives = forest_.alternatives[edge];
    std::vector<Shape> out;
    std::vector<std::vector<Alternative>> lists;
    std::vector<std::int64_t> symbols;
    for (std::size_t i = 0; i < alternatives.size(); ++i) {
      if (!read(alternatives[i].target, symbols)) continue;
      const std::uint32_t steps = steps_of(edge, alternatives[i]);
      const auto same = std::ranges::find_if(
          out, [&](const Shape& shape) { return shape.symbols == symbols && shape.steps == steps; });
      if (same == out.end()) {
        out.push_back({symbols, steps, {}});
        lists.push_back({alternatives[i]});
      } else {
        lists[static_cast<std::size_t>(same - out.begin())].push_back(alternatives[i]);
      }
    }
    for (std::size_t shape = 0; shape < out.size(); ++shape) {
      const bool all = lists[shape].size() == alternatives.size();
      out[shape].alternatives = all ? alternatives : glue_.keep(lists[shape]);
    }
    return out;
  }

  // A target side with an effect for each run of words; false if no output has such words.
  bool read(const TargetSide& target, std::vector<std::int64_t>& symbols) {
    symbols.clear();
    for (const std::int32_t symbol : target) {
      if (symbol < 0) {
        symbols.push_back(symbol);
        continue;
      }
      const bool joins = !symbols.empty() && symbols.back() >= 0;
      const Effect before = joins ? static_cast<Effect>(symbols.back()) : TargetAutomata::kNothing;
      const Effect effect = automata_.join(before, automata_.word(symbol));
      if (effect == TargetAutomata::kDead) return false;
      if (joins) {
        symbols.back() = effect;
      } else {
        symbols.push_back(effect);
      }
    }
    return true;
  }

  std::uint32_t steps_of(EdgeId edge, const Alternative& rule) const {
    std::uint32_t out = 0;
    for (std::size_t i = 0; i < constraints_.steps.size(); ++i) {
      const RequiredStep& wanted = constraints_.steps[i];
      const NodeId head = forest_.graph.head(edge);
      const Span span = forest_.spans[head];
      if (span.begin != wanted.span.begin || span.end != wanted.span.end) continue;
      if (!wanted.label.empty() && reading_.label(head) != wanted.label) continue;
      if (wanted.source || wanted.target) {
        const Step step = reading_.step(edge, rule);
        if (wanted.source && step.source != *wanted.source) continue;
        if (wanted.target && step.target != *wanted.target) continue;
      }
      out |= 1u << i;
    }
    return out;
  }

  // Leaves out what no derivation of the goal has.
  TranslationForest build() {
    const NodeId goal = forest_.graph.goal();
    std::vector<bool> used(items_.size(), false);
    if (goal != kNoNode && items_of_[goal].first < items_of_[goal].second) used[items_of_[goal].first] = true;
    for (std::size_t e = edges_.size(); e-- > 0;)
      if (used[edges_[e].head])
        for (const ItemId tail : tails_of(edges_[e])) used[tail] = true;

    TranslationForestBuilder out;
    std::vector<NodeId> made(items_.size(), kNoNode);
    for (ItemId item = 0; item < items_.size(); ++item) {
      if (!used[item]) continue;
      const NodeId node = items_[item].node;
      made[item] = forest_.names.empty() ? out.add_node(forest_.spans[node], forest_.labels[node])
                                         : out.add_node(forest_.spans[node], forest_.labels[node], forest_.names[node]);
      if (node < forest_.rank.size()) out.rank_node(made[item], forest_.rank[node]);
    }
    std::vector<NodeId> tails;
    for (const RestrictedEdge& edge : edges_) {
      if (!used[edge.head]) continue;
      tails.clear();
      for (const ItemId tail : tails_of(edge)) tails.push_back(made[tail]);
      out.add_edge(made[edge.head], tails, edge.alternatives, forest_.place[edge.old],
                   forest_.edge_value.empty() ? 0 : forest_.edge_value[edge.old], forest_.parse_edges_of(edge.old));
    }
    for (const std::string& note : forest_.notes) out.note(note);
    const bool found = goal != kNoNode && items_of_[goal].first < items_of_[goal].second;
    TranslationForest forest =
        out.freeze(found ? made[items_of_[goal].first] : kNoNode,
                   forest_.edge_value.empty() ? std::nullopt : std::optional(forest_.edge_feature));
    forest.tree = forest_.tree;
    return forest;
  }

  std::span<const ItemId> tails_of(const RestrictedEdge& edge) const {
    return std::span(tails_).subspan(edge.first_tail, forest_.graph.tails(edge.old).size());
  }

  const TranslationForest& forest_;
  const TargetConstraints& constraints_;
  const Reading& reading_;
  Glue& glue_;
  TargetAutomata automata_;
  std::vector<Item> items_;
  std::vector<std::pair<ItemId, ItemId>> items_of_;  // by node: its items are [first, second)
  std::vector<RestrictedEdge> edges_;                // heads in the order of nodes
  std::vector<ItemId> tails_;
  std::map<std::pair<const Alternative*, std::size_t>, std::vector<Shape>> shapes_;
  std::vector<Shape> own_shapes_;
  HashIndex index_;  // of the items of the node at hand

  // Of the shape at hand.
  std::vector<ItemId> chosen_;  // by tail, or kNoNode
  std::vector<std::int64_t> order_;
};

}  // namespace

TranslationForest restrict_forest(const TranslationForest& forest, const TargetConstraints& constraints,
                                  const Reading& reading, Glue& glue, std::size_t words,
                                  std::vector<ReachedPart>* reached) {
  Restriction restriction(forest, constraints, reading, glue, words);
  TranslationForest out = restriction.run();
  if (reached != nullptr) *reached = restriction.reached();
  return out;
}

}  // namespace treeglot
