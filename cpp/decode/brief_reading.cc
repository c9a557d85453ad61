#include "decode/brief_reading.h"

#include <algorithm>

namespace treeglot {

namespace {

constexpr std::uint32_t kNoState = 0xffffffffu;

}  // namespace

BriefReading::BriefReading(const Reading& reading)
    : reading_(reading),
      edges_(reading.found().forest_edge.size()),
      state_of_(reading.found().score.size(), kNoState) {}

Hypothesis BriefReading::read(const Derivation& derivation) {
  Hypothesis out;
  out.score = derivation.score;
  append_words(derivation, out.text);

  // Bottom-up, in the order of Reading::read: other orders of adding would round differently.
  for (auto edge = derivation.edges.rbegin(); edge != derivation.edges.rend(); ++edge) {
    const Values& values = values_of(*edge);
    for (std::size_t i = values.begin; i < values.end; ++i) sums_[values_[i].feature] += values_[i].value;
  }
  if (order_.size() != features_.size()) {
    order_.resize(features_.size());
    for (std::uint32_t place = 0; place < order_.size(); ++place) order_[place] = place;
    std::ranges::sort(order_, {}, [&](std::uint32_t place) { return features_[place]; });
  }
  for (const std::uint32_t place : order_) {
    if (sums_[place] != 0) out.features.push_back({features_[place], finite(sums_[place])});
    sums_[place] = 0;
  }
  out.names = reading_.features();
  return out;
}

// The edge's tails have states: those of a derivation are read bottom-up.
const BriefReading::Values& BriefReading::values_of(EdgeId edge) {
  Values& values = edges_[edge];
  if (values.end != 0) return values;
  const SearchForest& found = reading_.found();
  const std::size_t bytes = reading_.state_bytes();
  const auto head =
      static_cast<NodeId>(std::ranges::upper_bound(found.first_edge, edge) - found.first_edge.begin() - 1);
  const std::size_t state = states_.size();
  states_.resize(state + bytes);
  tails_.clear();
  for (std::uint32_t tail = found.first_tail[edge]; tail < found.first_tail[edge + 1]; ++tail)
    tails_.push_back(states_.data() + state_of_[found.tails[tail]] * bytes);
  replayed_.clear();
  reading_.replay(edge, tails_.data(), states_.data() + state, replayed_);
  if (state_of_[head] == kNoState) {
    state_of_[head] = static_cast<std::uint32_t>(state / std::max<std::size_t>(bytes, 1));
  } else {
    states_.resize(state);
  }
  values.begin = values_.size();
  for (const auto& [id, value] : replayed_) values_.push_back({place_of(id), value});
  values.end = values_.size();
  return values;
}

std::uint32_t BriefReading::place_of(FeatureId id) {
  const auto next = static_cast<std::uint32_t>(features_.size());
  const std::uint32_t place =
      index_.intern(hash_number(id), next, [&](std::uint32_t known) { return features_[known] == id; });
  if (place == next) {
    features_.push_back(id);
    sums_.push_back(0);
  }
  return place;
}

void BriefReading::append_words(const Derivation& derivation, std::string& text) {
  const SearchForest& found = reading_.found();
  const auto target = [&](std::uint32_t step) {
    const EdgeId edge = derivation.edges[step];
    return reading_.forest().alternatives[found.forest_edge[edge]][found.alternative[edge]].target;
  };
  // The steps of each step's tails: they follow it in preorder.
  const auto steps = static_cast<std::uint32_t>(derivation.edges.size());
  waiting_.clear();
  children_.clear();
  first_child_.resize(steps);
  for (std::uint32_t step = steps; step-- > 0;) {
    const EdgeId edge = derivation.edges[step];
    first_child_[step] = static_cast<std::uint32_t>(children_.size());
    for (std::uint32_t tail = found.first_tail[edge]; tail < found.first_tail[edge + 1]; ++tail) {
      children_.push_back(waiting_.back());
      waiting_.pop_back();
    }
    waiting_.push_back(step);
  }
  open_ = {{0, 0}};  // steps, and the next symbol of each
  while (!open_.empty()) {
    auto& [step, next] = open_.back();
    const TargetSide side = target(step);
    if (next == side.size) {
      open_.pop_back();
      continue;
    }
    const std::int32_t symbol = side.symbols[next++];
    if (symbol >= 0) {
      if (!text.empty()) text += ' ';
      text += reading_.glue().text(symbol);
    } else {
      open_.emplace_back(children_[first_child_[step] + static_cast<std::uint32_t>(-1 - symbol)], 0);
    }
  }
}

}  // namespace treeglot
