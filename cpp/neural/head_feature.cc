#include "neural/head_feature.h"

#include <algorithm>
#include <ranges>

#include "decode/features/dependency.h"
#include "neural/joint_feature.h"

namespace treeglot {

// What connect() asks of a rule (lm/dependency_connect.h): scores the arcs, and makes the state of the whole.
class HeadFeature::Arcs {
 public:
  Arcs(const HeadFeature& feature, std::span<const Item> items, HeadState& out)
      : feature_(feature), items_(items), out_(out) {
    for (const Item& item : items) {
      if (item.piece == nullptr) {
        work_.push_back({kNoSiblings, kNoSiblings, 1, &item.word, &item.row});
      } else {
        const HeadState& piece = *item.piece;
        work_.push_back({piece.left, piece.right, piece.count, piece.roots.data(), piece.rows.data()});
      }
    }
  }

  std::size_t size() const { return items_.size(); }
  std::int32_t head(std::int32_t item) const { return items_[static_cast<std::size_t>(item)].head; }
  std::size_t roots(std::int32_t item) const { return at(item).count; }

  void settle(std::int32_t item) {
    hang_right(at(item), at(item), 1);
    at(item).count = 1;
  }
  void attach_right(std::int32_t head, std::int32_t item) { hang_right(at(head), at(item), 0); }
  void attach_left(std::int32_t head, std::int32_t item) {
    Work& on = at(head);
    for (std::uint32_t i = at(item).count; i-- > 0;) hang(on, on.left, DependencySide::left, at(item), i);
  }
  void keep(std::int32_t item) {
    const Work& kept = at(item);
    if (out_.count == 0) {
      out_.left = kept.left;
      out_.right = kept.right;
    }
    std::copy_n(kept.roots, kept.count, out_.roots.begin() + out_.count);
    std::copy_n(kept.rows, kept.count, out_.rows.begin() + out_.count);
    out_.count += kept.count;
  }

  double sum() const { return sum_; }

 private:
  struct Work {  // an item while children are put on it; of several roots, on the first
    DependencySiblings left, right;
    std::uint32_t count;
    const std::uint32_t *roots, *rows;
  };

  Work& at(std::int32_t item) { return work_[static_cast<std::size_t>(item)]; }
  const Work& at(std::int32_t item) const { return work_[static_cast<std::size_t>(item)]; }
  void hang(const Work& on, DependencySiblings& siblings, DependencySide side, const Work& item, std::uint32_t root) {
    const std::uint32_t child = item.roots[root];
    sum_ += feature_.score_of(head_context(on.roots[0], side, siblings), child, item.rows[root]);
    siblings = siblings.then(child);
  }
  void hang_right(Work& on, const Work& item, std::uint32_t from) {
    for (std::uint32_t i = from; i < item.count; ++i) hang(on, on.right, DependencySide::right, item, i);
  }

  const HeadFeature& feature_;
  std::span<const Item> items_;
  HeadState& out_;
  std::vector<Work> work_;
  double sum_ = 0;
};

HeadFeature::HeadFeature(std::shared_ptr<const JointModel> model, std::shared_ptr<const std::vector<std::uint32_t>> ids,
                         FeatureId score)
    : model_(std::move(model)), ids_(std::move(ids)), score_(score), cache_(*model_) {}

void HeadFeature::begin_sentence(const SearchedSentence& sentence) {
  ids_.begin_sentence(model_->target(), sentence);
  cache_.begin_sentence(prepared(*model_, sentence));
  sources_ = EdgeSources(sentence.forest);
}

double HeadFeature::score_of(const HeadContext& context, std::uint32_t word, std::uint32_t row) const {
  std::array<std::uint32_t, kHeadContext + 1> words, rows = {};  // the newest of a history is the last
  std::ranges::copy(std::views::reverse(context), words.begin());
  words.back() = word;
  rows.back() = row;
  double sum = 0;
  cache_.add_scores(words, rows.data(), sum);
  return sum;
}

void HeadFeature::score(const Application& application, TailStates<HeadState> tails, HeadState& out, Sink& sink) const {
  const TargetSide& target = application.target;
  affiliated_.resize(target.size);
  affiliate(target, sources_[application.edge], affiliated_);
  items_.clear();
  auto row = affiliated_.begin();
  for (std::uint32_t i = 0; i < target.size; ++i) {
    const std::int32_t symbol = target.symbols[i];
    if (symbol < 0) {
      items_.push_back({rule_head(target, i), 0, 0, &tails[static_cast<std::size_t>(-1 - symbol)]});
    } else {
      items_.push_back({rule_head(target, i), ids_[symbol], *row++, nullptr});
    }
  }
  Arcs arcs(*this, items_, out);
  connect(arcs);
  double sum = arcs.sum();
  if ((application.place & kEnds) != 0) {
    for (std::uint32_t i = 0; i < out.count; ++i) sum += score_of(kRootContext, out.roots[i], out.rows[i]);
    out = HeadState{};  // nothing follows: all whole sentences are alike
  }
  sink.add(score_, static_cast<float>(sum));
}

double HeadFeature::ahead(const std::byte* states, std::size_t offset, const FeatureWeights& weights) const {
  const HeadState& state = *reinterpret_cast<const HeadState*>(states + offset);
  HeadContext unknown;
  unknown.fill(JointVocabulary::kNone);
  double sum = 0;
  for (std::uint32_t i = 0; i < state.count; ++i) sum += score_of(unknown, state.roots[i], state.rows[i]);
  return weights[score_] * sum;
}

}  // namespace treeglot
