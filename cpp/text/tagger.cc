#include "text/tagger.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "base/random.h"

namespace treeglot {
namespace {

using Scores = std::array<std::int64_t, kTags>;

constexpr std::string_view kWeights = "weights";
constexpr unsigned kEpochs = 5;     // through the sequences: more change results by less than 0.1 %
constexpr std::uint64_t kSeed = 1;  // of their order
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min() / 4;

// The feature of an item that the tag before it is `previous`, or that there is none (kTags).
std::uint64_t after(std::size_t previous) { return (FeatureHash(~std::uint64_t{0}) << previous).value(); }

// The best score of a tag after one of the tags before it, which becomes `from`.
inline std::int64_t best_after(const TagItems& items, std::size_t tag, const Scores& best,
                               const std::array<Scores, kTags + 1>& follow, std::int64_t own, Tag& from) {
  std::int64_t out = kNever;
  for (std::size_t previous = 0; previous < kTags; ++previous) {
    if (!(items.next[previous] >> tag & 1) || best[previous] <= kNever) continue;
    const std::int64_t score = best[previous] + follow[previous][tag] + own;
    if (score <= out) continue;
    out = score;
    from = static_cast<Tag>(previous);
  }
  return out;
}

// The best tags; weights.add(feature, scores) adds what a feature has for each tag, weights.fetch(feature) says that
// this comes next.
template <class Weights>
std::vector<Tag> best_tags(const TagItems& items, const Weights& weights) {
  std::array<Scores, kTags + 1> follow = {};
  for (std::size_t tag = 0; tag <= kTags; ++tag) weights.add(after(tag), follow[tag]);
  std::vector<std::array<Tag, kTags>> back(items.size());
  Scores best = {};
  for (std::size_t i = 0; i < items.size(); ++i) {
    Scores own = {};
    const std::size_t ahead = std::min(items.features.size(), (i + 2) * items.width);
    for (std::size_t f = (i + 1) * items.width; f < ahead; ++f) weights.fetch(items.features[f]);
    for (std::size_t f = 0; f < items.width; ++f) weights.add(items.features[i * items.width + f], own);
    Scores now;
    now.fill(kNever);
    for (std::size_t tag = 0; tag < kTags; ++tag) {
      if (!(items.allowed[i] >> tag & 1)) continue;
      if (i == 0) {
        now[tag] = follow[kTags][tag] + own[tag];
        continue;
      }
      now[tag] = best_after(items, tag, best, follow, own[tag], back[i][tag]);
    }
    best = now;
  }
  std::vector<Tag> tags(items.size());
  if (tags.empty()) return tags;
  tags.back() = static_cast<Tag>(std::max_element(best.begin(), best.end()) - best.begin());
  for (std::size_t i = tags.size() - 1; i > 0; --i) tags[i - 1] = back[i][tags[i]];
  return tags;
}

// The weights while they are learnt, and the sums that averages are made of.
class Learner {
 public:
  struct Row {
    std::uint64_t feature = 0;
    std::array<std::int32_t, kTags> weight = {};
    std::array<std::int64_t, kTags> sum = {};  // of updates, each times the step it was made at
  };

  void add(std::uint64_t feature, Scores& scores) const {
    const Row* const row = find(feature);
    if (row == nullptr) return;
    for (std::size_t tag = 0; tag < kTags; ++tag) scores[tag] += row->weight[tag];
  }

  void fetch(std::uint64_t feature) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[feature & (slots_.size() - 1)]);
  }

  void update(std::uint64_t feature, Tag tag, std::int32_t change) {
    Row& row = intern(feature);
    row.weight[tag] += change;
    row.sum[tag] += change * step_;
  }

  void next_step() { ++step_; }

  // The averages over all steps, scaled to fill 16 bits; those that are 0 are left out.
  std::vector<std::pair<std::uint64_t, Tagger::Slot>> averages() const {
    const auto average = [&](const Row& row, std::size_t tag) {
      return row.weight[tag] - static_cast<double>(row.sum[tag]) / static_cast<double>(step_);
    };
    double largest = 1;
    for (const Row& row : rows_)
      for (std::size_t tag = 0; tag < kTags; ++tag) largest = std::max(largest, std::abs(average(row, tag)));
    const double scale = std::min(1024.0, std::numeric_limits<std::int16_t>::max() / largest);
    std::vector<std::pair<std::uint64_t, Tagger::Slot>> out;
    for (const Row& row : rows_) {
      Tagger::Slot slot{.check = static_cast<std::uint32_t>(row.feature)};
      for (std::size_t tag = 0; tag < kTags; ++tag)
        slot.weights[tag] = static_cast<std::int16_t>(std::lround(average(row, tag) * scale));
      if (slot.weights != Tagger::Slot{}.weights) out.emplace_back(row.feature, slot);
    }
    return out;
  }

 private:
  const Row* find(std::uint64_t feature) const {
    if (slots_.empty()) return nullptr;
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = feature & mask; slots_[at] != Symbols::kNone; at = (at + 1) & mask)
      if (rows_[slots_[at]].feature == feature) return &rows_[slots_[at]];
    return nullptr;
  }

  Row& intern(std::uint64_t feature) {
    if (2 * (rows_.size() + 1) > slots_.size()) grow();
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = feature & mask;
    for (; slots_[at] != Symbols::kNone; at = (at + 1) & mask)
      if (rows_[slots_[at]].feature == feature) return rows_[slots_[at]];
    slots_[at] = static_cast<std::uint32_t>(rows_.size());
    rows_.push_back({.feature = feature});
    return rows_.back();
  }

  void grow() {
    slots_.assign(std::max<std::size_t>(1024, slots_.size() * 2), Symbols::kNone);
    const std::size_t mask = slots_.size() - 1;
    for (std::uint32_t row = 0; row < rows_.size(); ++row) {
      std::size_t at = rows_[row].feature & mask;
      while (slots_[at] != Symbols::kNone) at = (at + 1) & mask;
      slots_[at] = row;
    }
  }

  std::vector<Row> rows_;
  std::vector<std::uint32_t> slots_;  // open addressing, a power of two
  std::int64_t step_ = 1;
};

void learn_from(Learner& learner, const TagItems& items, const std::vector<Tag>& gold) {
  const std::vector<Tag> found = best_tags(items, learner);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::size_t wanted_before = i == 0 ? kTags : gold[i - 1], found_before = i == 0 ? kTags : found[i - 1];
    if (gold[i] == found[i] && wanted_before == found_before) continue;
    const auto move = [&](std::uint64_t wanted, std::uint64_t unwanted) {
      learner.update(wanted, gold[i], 1);
      learner.update(unwanted, found[i], -1);
    };
    move(after(wanted_before), after(found_before));
    if (gold[i] == found[i]) continue;
    for (std::size_t f = i * items.width; f < (i + 1) * items.width; ++f) move(items.features[f], items.features[f]);
  }
  learner.next_step();
}

}  // namespace

Tagger::Tagger(const Sections& sections) : slots_(sections.array<Slot>(kWeights)) {
  if (slots_.empty()) sections.fail("is damaged: it has no weights");
}

void Tagger::add_sections(Sections& sections, const std::vector<std::pair<std::uint64_t, Slot>>& weights) {
  const std::span<Slot> slots = sections.add<Slot>(kWeights, weights.size() + weights.size() / 2 + 1);
  for (const auto& [feature, slot] : weights) {
    std::size_t at = place_of(feature, slots.size());
    while (slots[at].weights != Slot{}.weights) at = at + 1 == slots.size() ? 0 : at + 1;
    slots[at] = slot;
  }
}

namespace {

struct Lookup {
  std::span<const Tagger::Slot> slots;

  void fetch(std::uint64_t feature) const { __builtin_prefetch(&slots[place_of(feature, slots.size())]); }
  void add(std::uint64_t feature, Scores& scores) const {
    const auto check = static_cast<std::uint32_t>(feature);
    std::size_t at = place_of(feature, slots.size());
    for (std::size_t left = slots.size(); left > 0; --left) {
      const Tagger::Slot& slot = slots[at];
      if (slot.weights == Tagger::Slot{}.weights) return;
      if (slot.check == check) {
        for (std::size_t tag = 0; tag < kTags; ++tag) scores[tag] += slot.weights[tag];
        return;
      }
      if (++at == slots.size()) at = 0;
    }
  }
};

}  // namespace

std::vector<Tag> Tagger::tag(const TagItems& items) const { return best_tags(items, Lookup{slots_}); }

bool Tagger::knows(std::uint64_t feature) const {
  Scores scores = {};
  Lookup{slots_}.add(feature, scores);
  return scores != Scores{};
}

void train_tagger(Sections& sections, std::size_t count, std::size_t width,
                  const std::function<void(std::size_t, TagItems&, std::vector<Tag>&)>& make) {
  Learner learner;
  Random random(kSeed);
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  TagItems items(width);
  std::vector<Tag> gold;
  for (unsigned epoch = 0; epoch < kEpochs; ++epoch) {
    for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[place_of(random.next(), i)]);
    for (const std::size_t i : order) {
      items.clear();
      gold.clear();
      make(i, items, gold);
      learn_from(learner, items, gold);
    }
  }
  Tagger::add_sections(sections, learner.averages());
}

}  // namespace treeglot
