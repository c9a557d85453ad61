#include "graph/kbest.h"

#include <algorithm>
#include <stdexcept>

#include "graph/inside_outside.h"

namespace treeglot {
namespace {

__extension__ typedef unsigned __int128 Wide;
constexpr std::uint64_t kPrime = (std::uint64_t{1} << 61) - 1;
constexpr std::uint64_t kBase[2] = {0x0a3c59ac2b7f1d35u, 0x1b873593c3a5c85du};  // any numbers below the prime

// a · b + c modulo 2^61 − 1, all below it.
std::uint64_t multiply_add(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  const Wide product = static_cast<Wide>(a) * b + c;
  std::uint64_t sum = (static_cast<std::uint64_t>(product) & kPrime) + static_cast<std::uint64_t>(product >> 61);
  if (sum >= kPrime) sum -= kPrime;
  return sum;
}

}  // namespace

void YieldHash::append(std::int32_t terminal) {
  for (int lane = 0; lane < 2; ++lane) {
    value_[lane] = multiply_add(value_[lane], kBase[lane], static_cast<std::uint64_t>(terminal) + 1);
    power_[lane] = multiply_add(power_[lane], kBase[lane], 0);
  }
}

void YieldHash::append(const YieldHash& other) {
  for (int lane = 0; lane < 2; ++lane) {
    value_[lane] = multiply_add(value_[lane], other.power_[lane], other.value_[lane]);
    power_[lane] = multiply_add(power_[lane], other.power_[lane], 0);
  }
}

bool DistinctHashes::add(const YieldHash& hash) {
  constexpr std::uint32_t kFew = 16;
  const auto next = static_cast<std::uint32_t>(hashes_.size());
  const auto enter = [&](std::uint32_t number, const YieldHash& one) {
    return index_.intern(one.bits(), number, [&](std::uint32_t known) { return hashes_[known] == one; });
  };
  if (next < kFew) {
    if (std::ranges::find(hashes_, hash) != hashes_.end()) return false;
  } else {
    if (next == kFew) {
      for (std::uint32_t i = 0; i < kFew; ++i) enter(i, hashes_[i]);
    }
    if (enter(next, hash) != next) return false;
  }
  hashes_.push_back(hash);
  return true;
}

KBest::KBest(Hypergraph graph, std::span<const double> scores, std::optional<Yields> yields)
    : graph_(std::move(graph)), scores_(scores), yields_(yields) {
  check_scores(graph_, scores_);
  if (yields_) check_yields(graph_, *yields_);
  best_ = best_derivations(graph_, scores_);
  state_of_.assign(graph_.nodes(), kNoNode);
  std::size_t longest = 0;
  for (EdgeId edge = 0; edge < graph_.edges(); ++edge) longest = std::max(longest, graph_.tails(edge).size());
  ranks_.assign(longest, 0);
  if (yields_) {
    best_hash_.resize(graph_.nodes());
    for (NodeId node = 0; node < graph_.nodes(); ++node) {
      if (best_.edge[node] != kNoEdge) best_hash_[node] = hash_of(item(node, 0));
    }
  }
}

std::optional<Derivation> KBest::next() {
  const NodeId goal = graph_.goal();
  if (goal == kNoNode || best_.edge[goal] == kNoEdge) return std::nullopt;
  if (next_ == known(goal) && !exhausted(goal)) advance(goal);
  if (next_ == known(goal)) return std::nullopt;
  return listed(next_++);
}

// Finds one more derivation of the node, or that there is none. Successors are made only when the next derivation is
// asked for. If one needs a missing derivation of a tail, that tail is advanced first. A tail is below its head, so no
// node waits for itself.
void KBest::advance(NodeId target) {
  waiting_ = {target};
  while (!waiting_.empty()) {
    const NodeId node = waiting_.back();
    State& state = open(node);
    if (const std::optional<NodeId> tail = expand(state)) {
      waiting_.push_back(*tail);
      continue;
    }
    if (state.heap.empty()) {
      state.exhausted = true;
      state.heap.shrink_to_fit();
      waiting_.pop_back();
      continue;
    }
    std::ranges::pop_heap(state.heap, [this](const Item& a, const Item& b) { return later(a, b); });
    const Item item = state.heap.back();
    state.heap.pop_back();
    set_unexpanded(state, item);
    if (accept(state, item)) waiting_.pop_back();
  }
}

KBest::State& KBest::open(NodeId node) {
  if (state_of_[node] == kNoNode) {
    state_of_[node] = static_cast<std::uint32_t>(states_.size());
    State& state = states_.emplace_back();
    const Item best{best_.score[node], best_.size[node], 0, best_.edge[node]};
    state.items.push_back(best);
    if (yields_) state.hashes.add(best_hash_[node]);
    set_unexpanded(state, best);
    for (EdgeId edge = graph_.edges_begin(node); edge < graph_.edges_end(node); ++edge) {
      if (edge != best.edge) push(state, edge, 0);
    }
  }
  return states_[state_of_[node]];
}

// Puts the successors of the last item into the heap. Returns a tail if a successor waits for a derivation of it. Ranks
// grow only at the last position above 0, or behind it. So every combination of ranks has one predecessor, which comes
// earlier in the order: its last rank above 0 is one less. No set of seen combinations is needed.
std::optional<NodeId> KBest::expand(State& state) {
  if (!state.unexpanded) return std::nullopt;
  const auto tails = graph_.tails(state.unexpanded->edge);
  for (; state.position < tails.size(); ++state.position) {
    const NodeId tail = tails[state.position];
    const std::uint32_t rank = ranks_[state.unexpanded->ranks + state.position] + 1;
    if (rank >= known(tail)) {
      if (exhausted(tail)) continue;
      return tail;
    }
    const std::size_t ranks = ranks_.size();
    for (std::size_t i = 0; i < tails.size(); ++i) ranks_.push_back(ranks_[state.unexpanded->ranks + i]);
    ranks_[ranks + state.position] = rank;
    push(state, state.unexpanded->edge, ranks);
  }
  state.unexpanded.reset();
  return std::nullopt;
}

void KBest::set_unexpanded(State& state, const Item& item) {
  state.unexpanded = item;
  const auto ranks = ranks_of(item);
  state.position = 0;
  for (std::uint32_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i] > 0) state.position = i;
  }
}

bool KBest::accept(State& state, const Item& item) {
  if (yields_ && !state.hashes.add(hash_of(item))) return false;
  state.items.push_back(item);
  return true;
}

void KBest::push(State& state, EdgeId edge, std::size_t ranks) {
  Item made{scores_[edge], 1.0, ranks, edge};
  const auto tails = graph_.tails(edge);
  for (std::size_t i = 0; i < tails.size(); ++i) {
    const NodeId tail = tails[i];
    if (best_.edge[tail] == kNoEdge) return;
    const Item below = item(tail, ranks_[ranks + i]);
    made.score += below.score;
    made.size += below.size;
  }
  if (!(made.score > kMinusInfinity)) return;
  state.heap.push_back(made);
  std::ranges::push_heap(state.heap, [this](const Item& a, const Item& b) { return later(a, b); });
}

bool KBest::later(const Item& a, const Item& b) const {
  if (a.score != b.score) return a.score < b.score;
  if (a.edge != b.edge) return a.edge > b.edge;
  return std::ranges::lexicographical_compare(ranks_of(b), ranks_of(a));
}

std::span<const std::uint32_t> KBest::ranks_of(const Item& item) const {
  return std::span(ranks_).subspan(item.ranks, graph_.tails(item.edge).size());
}

KBest::Item KBest::item(NodeId node, std::uint32_t rank) const {
  if (rank == 0) return {best_.score[node], best_.size[node], 0, best_.edge[node]};
  return states_[state_of_[node]].items[rank];
}

std::size_t KBest::known(NodeId node) const {
  if (state_of_[node] != kNoNode) return states_[state_of_[node]].items.size();
  return best_.edge[node] == kNoEdge ? 0 : 1;
}

bool KBest::exhausted(NodeId node) const {
  if (state_of_[node] != kNoNode) return states_[state_of_[node]].exhausted;
  const EdgeId first = graph_.edges_begin(node);  // a leaf needs no state
  return best_.edge[node] == kNoEdge || (graph_.edges_end(node) == first + 1 && graph_.tails(first).empty());
}

YieldHash KBest::hash_of(const Item& item) const {
  YieldHash hash;
  const auto tails = graph_.tails(item.edge);
  for (const std::int32_t symbol : (*yields_)[item.edge]) {
    if (symbol >= 0) {
      hash.append(symbol);
    } else {
      const auto i = static_cast<std::size_t>(-1 - symbol);
      const std::uint32_t rank = ranks_[item.ranks + i];
      hash.append(rank == 0 ? best_hash_[tails[i]] : states_[state_of_[tails[i]]].hashes[rank]);
    }
  }
  return hash;
}

Derivation KBest::listed(std::uint32_t rank) const {
  const Item whole = item(graph_.goal(), rank);
  check_derivation_size(whole.size);
  Derivation derivation{whole.score, {}};
  derivation.edges.reserve(static_cast<std::size_t>(whole.size));
  struct Open {
    NodeId node;
    std::uint32_t rank;
  };
  std::vector<Open> open = {{graph_.goal(), rank}};
  while (!open.empty()) {
    const Item top = item(open.back().node, open.back().rank);
    open.pop_back();
    derivation.edges.push_back(top.edge);
    const auto tails = graph_.tails(top.edge);
    for (std::size_t i = tails.size(); i-- > 0;) open.push_back({tails[i], ranks_[top.ranks + i]});
  }
  return derivation;
}

}  // namespace treeglot
