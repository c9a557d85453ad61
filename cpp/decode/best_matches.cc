#include "decode/best_matches.h"

#include <algorithm>
#include <limits>

#include "decode/match_chart.h"

namespace treeglot {

void BestMatches::clear() {
  proposed_.clear();
  matches_.clear();
  labels_.clear();
}

void BestMatches::propose(Symbol lhs, std::span<const Alternative> alternatives, std::span<const NodeId> tails,
                          float below, std::uint32_t number, bool always) {
  const float estimate = below + alternatives.front().priority();
  proposed_.push_back({estimate, lhs, alternatives, tails, number, Symbols::kNone, always});
}

void BestMatches::choose(const RuleTable& table, const UnaryRules& unary, RuleCache& cache) {
  queue_.clear();
  for (std::uint32_t number = 0; number < proposed_.size(); ++number)
    queue_.push_back({proposed_[number].estimate, number});
  std::make_heap(queue_.begin(), queue_.end());
  const std::size_t most = most_matches_ == 0 ? std::numeric_limits<std::size_t>::max() : most_matches_;
  while (!queue_.empty() && matches_.size() < most) {
    std::pop_heap(queue_.begin(), queue_.end());
    const Match best = proposed_[queue_.back().number];
    queue_.pop_back();
    const std::size_t before = labels_.size();
    if (!take(best)) continue;
    if (!unary.any || labels_.size() == before) continue;
    const RuleTable::Node node = table.child(table.root(), nonterminal(best.lhs));
    if (node == RuleTable::kNoNode) continue;
    for (const RuleCache::Group& group : cache.at(node)) {
      if (unary.rank_of(group.lhs) <= unary.rank_of(best.lhs)) continue;  // it would close a cycle
      const float estimate = best.estimate + group.alternatives.front().priority();
      queue_.push_back({estimate, static_cast<std::uint32_t>(proposed_.size())});
      proposed_.push_back({estimate, group.lhs, group.alternatives, {}, 0, best.lhs});
      std::push_heap(queue_.begin(), queue_.end());
    }
  }
  matches_cut_ |= !queue_.empty();
  for (const Ranked& left : queue_)
    if (proposed_[left.number].always) take(proposed_[left.number]);
  std::ranges::stable_sort(labels_, {}, [&](const Label& label) { return unary.rank_of(label.label); });
}

BestMatches::Label& BestMatches::find(Symbol label) { return *std::ranges::find(labels_, label, &Label::label); }

// Takes a match, if there is room for its left-hand side.
bool BestMatches::take(const Match& match) {
  const auto at = std::ranges::find(labels_, match.lhs, &Label::label);
  if (at != labels_.end()) {
    at->estimate = std::max(at->estimate, match.estimate);  // a unary rule may be worth more than what it stands on
  } else if (most_labels_ > 0 && labels_.size() >= most_labels_ && !match.always) {
    labels_cut_ = true;
    return false;
  } else {
    labels_.push_back({match.lhs, match.estimate, static_cast<std::uint32_t>(labels_.size())});
  }
  matches_.push_back(match);
  return true;
}

}  // namespace treeglot
