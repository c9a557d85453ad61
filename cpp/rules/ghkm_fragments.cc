#include "rules/ghkm_fragments.h"

namespace treeglot {

void ForestFrontier::assign(const ParseForest& forest, const Frontier& links, const Structures* structures) {
  const std::size_t nodes = forest.graph().nodes();
  targets_.assign(nodes, {});
  for (auto node = static_cast<NodeId>(forest.words()); node < nodes; ++node) {
    Span target = links.tight_target(forest.span(node));
    if (target.empty()) continue;
    if (node == forest.graph().goal()) target = {0, static_cast<std::uint32_t>(links.target_length())};
    if (structures != nullptr && structures->of(target).kind == Structure::Kind::ill_formed) continue;
    targets_[node] = target;
  }
}

namespace {

// A search for fragments that mostly runs into limits ends after so many steps for each fragment that is allowed.
constexpr std::uint64_t kStepsPerFragment = 100;

}  // namespace

void Fragments::decide(NodeId node, std::uint32_t height, bool leaf, const State& state) {
  const Hypergraph& graph = forest_.graph();
  decisions_.push_back(
      {node, height, leaf, graph.edges_begin(node), graph.edges_end(node), state, items_.size(), cells_.size()});
}

void Fragments::add_leaf(FragmentItem item, State& state) {
  items_.push_back(item);
  ++state.leaves;
  state.log_weight += inside_[item.node];
}

// Puts an edge below its head; false when the fragment becomes too large.
bool Fragments::expand(const Decision& decision, EdgeId edge, const FragmentLimits& limits, State& state) {
  const auto tails = forest_.graph().tails(edge);
  state.rules += frontier_.contains(decision.node) ? 1 : 0;
  state.waiting += static_cast<std::uint32_t>(tails.size());
  ++state.edges;
  // What waits becomes at least a leaf each.
  if (state.edges > limits.edges || decision.height + 1 > limits.height || state.leaves + state.waiting > limits.leaves)
    return false;
  state.log_weight += scores_[edge];
  items_.push_back({FragmentItem::Kind::open, decision.node});
  const auto push = [&](NodeId node, std::uint32_t height) {
    cells_.push_back({node, height, state.pending});
    state.pending = static_cast<std::uint32_t>(cells_.size() - 1);
  };
  push(kNoNode, 0);
  for (std::size_t i = tails.size(); i-- > 0;) push(tails[i], decision.height + 1);
  return true;
}

// Goes on to the next node that leaves a choice; true when there is none and the fragment is complete.
bool Fragments::settle(State& state, std::uint32_t most_rules) {
  while (state.pending != kNone) {
    const Cell cell = cells_[state.pending];
    state.pending = cell.next;
    if (cell.node == kNoNode) {
      items_.push_back({FragmentItem::Kind::close, kNoNode});
      continue;
    }
    --state.waiting;
    const bool cut = frontier_.contains(cell.node);
    if (forest_.is_word(cell.node)) {
      add_leaf({FragmentItem::Kind::word, cell.node}, state);
    } else if (cut && state.rules == most_rules) {
      add_leaf({FragmentItem::Kind::variable, cell.node}, state);
    } else {
      decide(cell.node, cell.height, cut, state);
      return false;
    }
  }
  return true;
}

void Fragments::visit(NodeId root, std::uint32_t least_rules, std::uint32_t most_rules, const FragmentLimits& limits,
                      FragmentCuts& cuts, const std::function<void(const Fragment&)>& visitor) {
  cells_.clear();
  items_.clear();
  decisions_.clear();
  std::uint64_t visited = 0, steps = 0;
  decide(root, 0, false, {});
  while (!decisions_.empty()) {
    Decision& decision = decisions_.back();
    if (!decision.leaf && decision.next == decision.end) {
      decisions_.pop_back();
      continue;
    }
    if (++steps > kStepsPerFragment * limits.fragments) {
      ++cuts.capped;
      return;
    }
    State state = decision.state;
    items_.resize(decision.items);
    cells_.resize(decision.cells);
    if (decision.leaf) {
      decision.leaf = false;
      add_leaf({FragmentItem::Kind::variable, decision.node}, state);
    } else if (!expand(decision, decision.next++, limits, state)) {
      ++cuts.too_large;
      continue;
    }
    if (!settle(state, most_rules) || state.rules < least_rules) continue;
    if (visited == limits.fragments) {
      ++cuts.capped;
      return;
    }
    ++visited;
    visitor({items_, state.log_weight});
  }
}

}  // namespace treeglot
