// The dependency score of a rule's target side from the states of its pieces, and the state of the whole. The sum over
// a derivation, with complete() at its end, is the score of its tree, however it is put together.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <variant>
#include <vector>

#include "lm/dependency_connect.h"
#include "lm/dependency_lm.h"

namespace treeglot {

struct DependencyItem {
  std::int32_t head = kRuleRoot;           // another item of the rule, or kRuleRoot
  WordId unit = 0;                         // of a word
  const DependencyState* piece = nullptr;  // null: a word
};

struct DependencyStep {
  double log10 = 0;  // of the arcs that the rule makes
  DependencyTally tally;
};

namespace dependency_rule {

// An item while children are put on it; of several roots, on the first.
struct Work {
  DependencySiblings left, right;
  std::uint32_t count;
  const WordId* roots;
};

class ScoredArcs {
 public:
  ScoredArcs(const DependencyModel& model, std::span<const DependencyItem> items, Work* work, DependencyState& out)
      : model_(model), items_(items), work_(work), out_(out) {
    out_ = DependencyState{};
    for (std::size_t i = 0; i < items.size(); ++i) {
      const DependencyState* const piece = items[i].piece;
      work[i] = piece == nullptr ? Work{kNoSiblings, kNoSiblings, 1, &items[i].unit}
                                 : Work{piece->left, piece->right, piece->count, piece->roots.data()};
    }
  }

  std::size_t size() const { return items_.size(); }
  std::int32_t head(std::int32_t item) const { return items_[static_cast<std::size_t>(item)].head; }
  std::size_t roots(std::int32_t item) const { return work_[item].count; }

  void settle(std::int32_t item) {
    hang_right(work_[item], work_[item], 1);
    work_[item].count = 1;
  }
  void attach_right(std::int32_t head, std::int32_t item) { hang_right(work_[head], work_[item], 0); }
  void attach_left(std::int32_t head, std::int32_t item) {
    Work& on = work_[head];
    for (std::uint32_t i = work_[item].count; i-- > 0;) {
      const WordId child = work_[item].roots[i];
      log10_ += model_.child(DependencySide::left, on.left, on.roots[0], child).log10;
      on.left = on.left.then(child);
    }
  }
  void keep(std::int32_t item) {
    const Work& kept = work_[item];
    if (out_.count == 0) {
      out_.left = model_.that_matter(DependencySide::left, kept.left, kept.roots[0]);
      out_.right = model_.that_matter(DependencySide::right, kept.right, kept.roots[0]);
    }
    std::copy(kept.roots, kept.roots + kept.count, out_.roots.begin() + out_.count);
    out_.count += kept.count;
  }

  double log10() const { return log10_; }

 private:
  void hang_right(Work& on, const Work& item, std::uint32_t from) {
    for (std::uint32_t i = from; i < item.count; ++i) {
      const WordId child = item.roots[i];
      log10_ += model_.child(DependencySide::right, on.right, on.roots[0], child).log10;
      on.right = on.right.then(child);
    }
  }

  const DependencyModel& model_;
  std::span<const DependencyItem> items_;
  Work* work_;
  DependencyState& out_;
  double log10_ = 0;
};

}  // namespace dependency_rule

// `out` may be none of the pieces. The items are as check_rule_heads() wants them, the units and states the model's
// own.
inline DependencyStep score_rule(const DependencyModel& model, std::span<const DependencyItem> items,
                                 DependencyState& out) {
  constexpr std::size_t kUsual = 32;  // longer rules take memory of their own
  std::array<dependency_rule::Work, kUsual> usual;
  std::vector<dependency_rule::Work> longer(items.size() > kUsual ? items.size() : 0);
  dependency_rule::ScoredArcs arcs(model, items, longer.empty() ? usual.data() : longer.data(), out);
  DependencyStep step;
  step.tally = connect(arcs);
  step.log10 = arcs.log10();
  return step;
}

// The same for unchecked items. Throws std::invalid_argument for heads that check_rule_heads() refuses, and for numbers
// and states that are not the model's.
DependencyStep score_parts(const DependencyModel& model, std::span<const std::int32_t> heads,
                           std::span<const std::variant<WordId, DependencyState>> parts, DependencyState& out);
void check_unit(const DependencyModel& model, WordId unit);
void check_state(const DependencyModel& model, const DependencyState& state);

}  // namespace treeglot
