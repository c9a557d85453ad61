#include "lm/dependency_lm.h"

#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

namespace treeglot {

namespace {

constexpr std::string_view kSideNames[] = {"left", "right"};

}  // namespace

DependencyModel::DependencyModel(Sections sections) : sections_(std::move(sections)), vocabulary_(sections_) {
  const auto facts = sections_.array<DependencyFacts>("model");
  if (facts.size() != 1) sections_.fail("is damaged: its section 'model' has another size");
  facts_ = facts.data();
  const bool known = facts_->conditioning < std::size(kLongest);
  if (!known) sections_.fail("is damaged: its section 'model' names no known conditioning");
  conditioning_ = static_cast<DependencyConditioning>(facts_->conditioning);
  const std::size_t units = vocabulary_.size();
  units_ = static_cast<WordId>(units);
  roots_ = sections_.array<NgramValue>("root.unigrams");
  bool fits = facts_->unit <= static_cast<std::uint32_t>(DependencyUnit::tags) && units >= std::size(kSpecialWords) &&
              units <= Symbols::kNone / 2 && roots_.size() == units;
  for (std::size_t side = 0; side < sides_.size(); ++side) {
    const std::string name(kSideNames[side]);
    sides_[side].unigrams = sections_.array<NgramValue>(name + ".unigrams");
    const auto pairs = sections_.array<FastBucket>(name + ".pairs");
    const auto windows = sections_.array<FastLastBucket>(name + "." + std::string(kLongest[facts_->conditioning]));
    fits = fits && sides_[side].unigrams.size() == 2 * units && !pairs.empty() && !windows.empty();
    sides_[side].pairs = FastTable<FastBucket>(pairs);
    sides_[side].windows = FastTable<FastLastBucket>(windows);
    if (sections_.untrusted())
      fits = fits && std::ranges::none_of(sides_[side].unigrams, unsound_value) && sides_[side].pairs.sound() &&
             sides_[side].windows.sound() && std::ranges::none_of(roots_, unsound_value);
  }
  if (!fits) sections_.fail("is damaged: its section 'model' contradicts the others");
}

void DependencyModel::score(const Dependency& sentence, Scores& out) const {
  const Strings& texts = unit() == DependencyUnit::words ? sentence.words() : sentence.tags();
  if (texts.size() != sentence.size()) throw std::invalid_argument("has no tags; expected one for each word");
  const std::size_t words = sentence.size(), begin = out.log10.size();
  std::vector<WordId> units(words);
  for (std::size_t i = 0; i < words; ++i) units[i] = find(texts[i]);

  out.log10.resize(begin + words);
  out.length.resize(begin + words);
  for (std::size_t i = 0; i < words; ++i) out.unknown.push_back(units[i] == Vocabulary::kUnknown ? 1 : 0);
  for_each_arc(
      sentence, units,
      [&](std::size_t i) {
        out.log10[begin + i] = root(units[i]);
        out.length[begin + i] = 1;
      },
      [&](std::size_t i, const DependencySiblings& siblings, DependencySide side) {
        const auto head = static_cast<std::size_t>(sentence.head(i));
        const WordScore score = child(side, siblings, units[head], units[i]);
        out.log10[begin + i] = score.log10;
        out.length[begin + i] = static_cast<std::uint8_t>(score.length);
      });
}

namespace {

void add(const DependencyModel& model, const Dependency& sentence, std::size_t index, DependencyModel::Scores& scores) {
  try {
    model.score(sentence, scores);
  } catch (const std::invalid_argument& problem) {
    throw std::invalid_argument("sentence " + std::to_string(index + 1) + ": " + problem.what());
  }
}

}  // namespace

DependencyModel::Scores score_words(const DependencyModel& model, std::span<const Dependency* const> sentences) {
  DependencyModel::Scores scores;
  for (std::size_t i = 0; i < sentences.size(); ++i) add(model, *sentences[i], i, scores);
  return scores;
}

std::vector<double> score_sentences(const DependencyModel& model, std::span<const Dependency* const> sentences) {
  std::vector<double> out;
  out.reserve(sentences.size());
  DependencyModel::Scores scores;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    scores.log10.clear();
    scores.length.clear();
    scores.unknown.clear();
    add(model, *sentences[i], i, scores);
    out.push_back(std::accumulate(scores.log10.begin(), scores.log10.end(), 0.0));
  }
  return out;
}

}  // namespace treeglot
