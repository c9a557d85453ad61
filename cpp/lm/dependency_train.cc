#include "lm/dependency_train.h"

#include <array>
#include <stdexcept>

#include "base/error.h"
#include "lm/special_words.h"

namespace treeglot {
namespace {

constexpr std::size_t kLeft = 0, kRight = 1, kRootSide = 2;  // the sides of DependencySide, and roots

}  // namespace

DependencyTrainer::DependencyTrainer(DependencyUnit unit, const FallbackDiscounts& fallback,
                                     DependencyConditioning conditioning)
    : unit_(unit),
      conditioning_(conditioning),
      fallback_(fallback),
      counts_{WindowCounts(3), WindowCounts(3), WindowCounts(1)} {
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

  std::vector<Symbol> units, heads;
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
    units.push_back(child);
    heads.push_back(head);
  }

  for_each_arc(
      sentence, units,
      [&](std::size_t i) {
        if (sentence.head(i) == Dependency::kRoot) counts_[kRootSide].add(std::array{units[i]});
      },
      [&](std::size_t i, const DependencySiblings& siblings, DependencySide side) {
        const Symbol head = heads[static_cast<std::size_t>(sentence.head(i))];
        const auto [far, near] = child_context(conditioning_, head, siblings);
        const std::array window{far, near, units[i]};
        // Nothing stands before the head of a sequence, as nothing stands before <s> in a text.
        const bool begins = conditioning_ == DependencyConditioning::trigram && far == kNoSibling;
        counts_[static_cast<std::size_t>(side)].add(std::span<const Symbol>(window).subspan(begins ? 1 : 0));
      });
}

DependencyEstimate DependencyTrainer::finish() {
  if (sentences_ == 0) throw std::invalid_argument("there are no sentences; expected dependency trees");
  const auto estimate = [&](std::size_t side) {
    return estimate_windows(counts_[side].tables(vocabulary_.size()), vocabulary_, predicted_, fallback_);
  };
  return {estimate(kLeft), estimate(kRight), estimate(kRootSide)};
}

}  // namespace treeglot
