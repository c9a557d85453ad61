#include <algorithm>
#include <map>
#include <numeric>
#include <ranges>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "decode/derivation.h"
#include "decode/target_constraints.h"

namespace treeglot {
namespace {

using Effect = TargetAutomata::Effect;
using Place = TargetAutomata::Place;
using ItemId = std::uint32_t;
using WishId = std::uint32_t;
using PartialId = std::uint32_t;

constexpr std::size_t kMostEdges = std::size_t{1} << 23;  // of a restricted forest: they take some 500 MB
constexpr std::size_t kMostSteps = 32;
constexpr std::uint32_t kNone = 0xffffffffu;

// A node of the forest whose words stand after `from`.
struct Wish {
  NodeId node;
  Place from;
  std::vector<ItemId> items;
  std::vector<PartialId> waiting;  // edges that go on with each item
};

// A node of the restricted forest: what fulfils a wish. Its words lead to `to`, and these required steps are below it.
struct Item {
  WishId wish;
  Place to;
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
  std::vector<std::int64_t> symbols;  // ≥ 0 an effect of words, −1 − k the k-th tail, each once
  std::uint32_t steps;                // that these rules take
  std::span<const Alternative> alternatives;
  std::size_t used = 0;  // symbols that are part of the output; the words of tails after them are dropped
};

// An edge whose target side was read up to a symbol.
struct Partial {
  EdgeId edge;
  const Shape* shape;
  WishId wish;
  Place place;
  std::uint32_t at, steps;
  PartialId before;  // the partial whose tail was chosen last; kNone: none was
  ItemId chosen;     // for that tail
};

class Restriction {
 public:
  Restriction(const TranslationForest& forest, const TargetConstraints& constraints, const Reading& reading, Glue& glue,
              std::size_t words)
      : forest_(forest), constraints_(constraints), reading_(reading), glue_(glue), automata_(constraints, glue) {
    if (constraints.steps.size() > kMostSteps)
      throw std::invalid_argument("a derivation with " + std::to_string(constraints.steps.size()) +
                                  " required steps; expected at most 32");
    for (const RequiredStep& step : constraints.steps)
      if (step.span.begin >= step.span.end || step.span.end > words)
        throw std::invalid_argument("a step covers words " + std::to_string(step.span.begin) + "-" +
                                    std::to_string(step.span.end) + " of " + std::to_string(words));
  }

  TranslationForest run() {
    if (forest_.graph.goal() != kNoNode) {
      goal_ = wish(forest_.graph.goal(), TargetAutomata::kStart);
      fulfil();
    }
    return build();
  }

  // The parts of the exact words that rules give for parts of the input. The largest come first, and no part overlaps
  // an earlier one on either side.
  std::vector<ReachedPart> reached() {
    for (NodeId node = 0; node < forest_.graph.nodes(); ++node)
      for (std::size_t begin = 0; begin <= automata_.exact_words(); ++begin) wish(node, automata_.after(begin));
    fulfil();
    std::vector<std::pair<Span, Span>> found;
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>, NodeId> nodes;
    for (const Wish& wish : wishes_) {
      const Span span = forest_.spans[wish.node];
      for (const ItemId item : wish.items) {
        const Span words = {static_cast<std::uint32_t>(automata_.words_before(wish.from)),
                            static_cast<std::uint32_t>(automata_.words_before(items_[item].to))};
        if (words.begin < words.end &&
            nodes.try_emplace({span.begin, span.end, words.begin, words.end}, wish.node).second)
          found.push_back({span, words});
      }
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
  WishId wish(NodeId node, Place from) {
    const auto next = static_cast<WishId>(wishes_.size());
    const WishId found = wish_index_.intern(hash_number(std::uint64_t{node} << 32 | from), next, [&](WishId known) {
      return wishes_[known].node == node && wishes_[known].from == from;
    });
    if (found == next) {
      wishes_.push_back({node, from, {}, {}});
      open_wishes_.push_back(next);
    }
    return found;
  }

  void fulfil() {
    while (!open_wishes_.empty() || !open_.empty()) {
      if (!open_.empty()) {
        const Partial partial = open_.back();
        open_.pop_back();
        advance(partial);
        continue;
      }
      const WishId wish = open_wishes_.back();
      open_wishes_.pop_back();
      const auto [node, from] = std::pair(wishes_[wish].node, wishes_[wish].from);
      for (EdgeId edge = forest_.graph.edges_begin(node); edge < forest_.graph.edges_end(node); ++edge) {
        const bool begins = (forest_.place[edge] & kBegins) != 0;
        if (begins && from != TargetAutomata::kStart && from != TargetAutomata::kAnywhere) continue;
        for (const Shape& shape : shapes(edge))
          open_.push_back({edge, &shape, wish, from, 0, shape.steps, kNone, kNone});
      }
    }
  }

  // Reads words up to the next tail, then goes on with all that fulfils the wish for it, now or later.
  void advance(Partial partial) {
    const Shape& shape = *partial.shape;
    while (partial.at < shape.symbols.size() && shape.symbols[partial.at] >= 0) {
      partial.place = automata_.move(partial.place, static_cast<Effect>(shape.symbols[partial.at++]));
      if (partial.place == TargetAutomata::kDead) return;
    }
    if (partial.at == shape.symbols.size()) return finish(partial);
    const auto tail = static_cast<std::size_t>(-1 - shape.symbols[partial.at]);
    const Place from = partial.at < shape.used ? partial.place : TargetAutomata::kAnywhere;
    const WishId wanted = wish(forest_.graph.tails(partial.edge)[tail], from);
    check_size(partials_.size());
    const auto own = static_cast<PartialId>(partials_.size());
    partials_.push_back(partial);
    wishes_[wanted].waiting.push_back(own);
    for (const ItemId item : wishes_[wanted].items) open_.push_back(with(own, item));
  }

  // A partial that was read up to a tail, after an item was chosen for it.
  Partial with(PartialId number, ItemId item) const {
    Partial partial = partials_[number];
    if (partial.at < partial.shape->used) partial.place = items_[item].to;
    ++partial.at;
    partial.steps |= items_[item].steps;
    partial.before = number;
    partial.chosen = item;
    return partial;
  }

  void finish(const Partial& partial) {
    const bool whole = partial.wish == goal_;
    const std::uint32_t all = constraints_.steps.empty() ? 0 : ~0u >> (kMostSteps - constraints_.steps.size());
    if (whole && partial.steps != all) return;
    const bool ends = whole || (forest_.place[partial.edge] & kEnds) != 0;
    const Place to = ends ? automata_.end(partial.place) : partial.place;
    if (to == TargetAutomata::kDead) return;
    check_size(edges_.size());
    const Item item = {partial.wish, to, partial.steps};
    const auto next = static_cast<ItemId>(items_.size());
    const std::uint64_t key = hash_number(std::uint64_t{partial.wish} << 32 | to) + partial.steps;
    const ItemId head = item_index_.intern(hash_number(key), next, [&](ItemId known) { return items_[known] == item; });
    const auto tails = forest_.graph.tails(partial.edge).size();
    edges_.push_back({partial.edge, head, static_cast<std::uint32_t>(tails_.size()), partial.shape->alternatives});
    tails_.resize(tails_.size() + tails);
    ItemId chosen = partial.chosen;
    for (PartialId at = partial.before; at != kNone; at = partials_[at].before) {
      const auto tail = static_cast<std::size_t>(-1 - partials_[at].shape->symbols[partials_[at].at]);
      tails_[edges_.back().first_tail + tail] = chosen;
      chosen = partials_[at].chosen;
    }
    if (head != next) return;
    items_.push_back(item);
    Wish& wish = wishes_[partial.wish];
    wish.items.push_back(next);
    for (const PartialId waiting : wish.waiting) open_.push_back(with(waiting, next));
  }

  static void check_size(std::size_t edges) {
    if (edges == kMostEdges)
      throw std::runtime_error("the constraints make more than 8,388,608 edges; expected fewer or shorter ones");
  }

  // Lists of alternatives are shared by edges: each is read once, unless the rules at an edge may be required ones.
  const std::vector<Shape>& shapes(EdgeId edge) {
    const auto alternatives = forest_.alternatives[edge];
    const Span span = forest_.spans[forest_.graph.head(edge)];
    const bool asked = std::ranges::any_of(constraints_.steps, [&](const RequiredStep& s) {
      return s.span.begin == span.begin && s.span.end == span.end;
    });
    const auto [at, is_new] = shapes_.try_emplace(
        {alternatives.data(), alternatives.size(), forest_.graph.tails(edge).size(), asked ? edge : kNone});
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
      auto& all_symbols = out[shape].symbols;
      out[shape].used = all_symbols.size();
      for (std::int64_t tail = -1; tail >= -static_cast<std::int64_t>(forest_.graph.tails(edge).size()); --tail)
        if (std::ranges::find(all_symbols, tail) == all_symbols.end()) all_symbols.push_back(tail);
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
      if (!wanted.label.empty() && reading_.edge_label(edge) != wanted.label) continue;
      if (wanted.source || wanted.target) {
        const Step step = reading_.step(edge, rule);
        if (wanted.source && step.source != *wanted.source) continue;
        if (wanted.target && step.target != *wanted.target) continue;
      }
      out |= 1u << i;
    }
    return out;
  }

  // Leaves out what no derivation of the goal has. Nodes come in the order of those that they are made of.
  TranslationForest build() {
    const bool found = goal_ != kNone && !wishes_[goal_].items.empty();
    std::vector<ItemId> order(items_.size());
    std::iota(order.begin(), order.end(), ItemId{0});
    std::ranges::stable_sort(order, {}, [&](ItemId item) { return node_of(item); });
    std::ranges::stable_sort(edges_, {}, [&](const RestrictedEdge& edge) { return std::pair(edge.head, edge.old); });
    std::vector<std::uint32_t> first(items_.size() + 1, 0);  // edges, by head
    for (const RestrictedEdge& edge : edges_) ++first[edge.head + 1];
    std::partial_sum(first.begin(), first.end(), first.begin());
    std::vector<bool> used(items_.size(), false);
    if (found) used[wishes_[goal_].items.front()] = true;
    for (const ItemId item : order | std::views::reverse)
      if (used[item])
        for (std::uint32_t e = first[item]; e < first[item + 1]; ++e)
          for (const ItemId tail : tails_of(edges_[e])) used[tail] = true;

    TranslationForestBuilder out;
    std::vector<NodeId> made(items_.size(), kNoNode);
    for (const ItemId item : order) {
      if (!used[item]) continue;
      made[item] = out.copy_node(forest_, node_of(item));
    }
    std::vector<NodeId> tails;
    for (const ItemId item : order) {
      for (std::uint32_t e = first[item]; used[item] && e < first[item + 1]; ++e) {
        const RestrictedEdge& edge = edges_[e];
        tails.clear();
        for (const ItemId tail : tails_of(edge)) tails.push_back(made[tail]);
        out.copy_edge(forest_, edge.old, made[item], tails, edge.alternatives);
      }
    }
    return out.freeze_like(forest_, found ? made[wishes_[goal_].items.front()] : kNoNode);
  }

  std::span<const ItemId> tails_of(const RestrictedEdge& edge) const {
    return std::span(tails_).subspan(edge.first_tail, forest_.graph.tails(edge.old).size());
  }

  NodeId node_of(ItemId item) const { return wishes_[items_[item].wish].node; }

  const TranslationForest& forest_;
  const TargetConstraints& constraints_;
  const Reading& reading_;
  Glue& glue_;
  TargetAutomata automata_;
  WishId goal_ = kNone;
  std::vector<Wish> wishes_;
  HashIndex wish_index_;
  std::vector<Item> items_;
  HashIndex item_index_;
  std::vector<Partial> partials_;  // that wait for items
  std::vector<RestrictedEdge> edges_;
  std::vector<ItemId> tails_;
  std::vector<WishId> open_wishes_;
  std::vector<Partial> open_;
  std::map<std::tuple<const Alternative*, std::size_t, std::size_t, EdgeId>, std::vector<Shape>> shapes_;
};

}  // namespace

TranslationForest restrict_forest(const TranslationForest& forest, const TargetConstraints& constraints,
                                  const Reading& reading, Glue& glue, std::size_t words) {
  return Restriction(forest, constraints, reading, glue, words).run();
}

std::vector<ReachedPart> reached_parts(const TranslationForest& forest, const std::vector<std::string>& target,
                                       const Reading& reading, Glue& glue) {
  TargetConstraints constraints;
  constraints.exactly = target;
  return Restriction(forest, constraints, reading, glue, 0).reached();
}

}  // namespace treeglot
