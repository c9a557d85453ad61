#include "lm/dependency_train.h"

#include <array>
#include <stdexcept>

#include "base/error.h"
#include "lm/special_words.h"

namespace treeglot {
namespace {

constexpr std::size_t kLeft = 0, kRight = 1, kRootSide = 2;

}  // namespace

DependencyTrainer::DependencyTrainer(DependencyUnit unit, const FallbackDiscounts& fallback)
    : unit_(unit), fallback_(fallback), counts_{WindowCounts(3), WindowCounts(3), WindowCounts(1)} {
  for (const std::string_view word : kSpecialWords) vocabulary_.intern(word);
  predicted_ = {true, false, false};
}

void DependencyTrainer::add(const Dependency& sentence) {
  const Strings& texts = unit_ == DependencyUnit::words ? sentence.words() : sentence.tags();
  ++sentences_;
  const auto fail = [&](const std::string& problem) {
    throw std::invalid_argument("sentence " + std::to_string(sentences_) + ": " + problem);
  };
  if (texts.size() != sentence.size()) fail("has no tags; expected one for each word");

  std::vector<Unit> units;
  std::string marked;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const Symbol child = vocabulary_.intern(texts[i]);
    if (child < std::size(kSpecialWords)) fail(quoted(texts[i]) + " is a word of the model itself; expected others");
    if (texts[i].starts_with(kHeadMark)) {
      fail(quoted(texts[i]) + " begins with " + quoted(kHeadMark) + ", which marks heads; expected other words");
    }
    marked.assign(kHeadMark).append(texts[i]);
    const Symbol head = vocabulary_.intern(marked);
    predicted_.resize(vocabulary_.size());
    predicted_[child] = true;
    units.push_back({child, head});
  }

  // Children from the nearest outwards: going through the sentence one way, then the other, each word is the next child
  // of its head on that side.
  std::vector<Symbol> sibling(units.size(), kSentenceBegin);
  const auto child = [&](std::size_t i, std::size_t side) {
    const auto head = static_cast<std::size_t>(sentence.head(i));
    counts_[side].add(std::array{sibling[head], units[head].head, units[i].child});
    sibling[head] = units[i].child;
  };
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (sentence.head(i) == Dependency::kRoot) counts_[kRootSide].add(std::array{units[i].child});
    if (sentence.head(i) >= 0 && static_cast<std::size_t>(sentence.head(i)) < i) child(i, kRight);
  }
  sibling.assign(units.size(), kSentenceBegin);
  for (std::size_t i = units.size(); i-- > 0;) {
    if (sentence.head(i) >= 0 && static_cast<std::size_t>(sentence.head(i)) > i) child(i, kLeft);
  }
}

DependencyEstimate DependencyTrainer::finish() {
  if (sentences_ == 0) throw std::invalid_argument("there are no sentences; expected dependency trees");
  const auto estimate = [&](std::size_t side) {
    return estimate_windows(counts_[side].tables(vocabulary_.size()), vocabulary_, predicted_, fallback_);
  };
  return {estimate(kLeft), estimate(kRight), estimate(kRootSide)};
}

}  // namespace treeglot
