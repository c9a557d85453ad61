// The dependency language model of Shen et al. (2008), compiled: a file, and the probability of a child. All scores are
// log10, as those of n-gram models.
//
// Its vocabulary are *units*, words or tags: <unk> is 0, then <s> and </s>, which are no units of a sentence. The left
// and the right model have tables of an n-gram model of order 3, over child_context() and the child. In them, the unit
// u as a head is the word u + the number of units.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/sections.h"
#include "lm/dependency_connect.h"
#include "lm/dependency_train.h"
#include "lm/ngram_search.h"
#include "lm/ngram_table.h"
#include "lm/vocabulary.h"
#include "syntax/dependency.h"

namespace treeglot {

// The section "model" of the file.
struct DependencyFacts {
  std::uint32_t unit = 0;                                // DependencyUnit
  std::uint32_t conditioning = 0;                        // DependencyConditioning
  std::array<std::array<std::uint64_t, 3>, 3> counts{};  // n-grams given, of the left, right and root model, by order
};

class DependencyModel {
 public:
  static constexpr std::string_view kKind = "dependency-lm";
  static constexpr std::uint32_t kVersion = 1;
  // The section of the longest n-grams. Its name depends on the conditioning, so that programs without the second one
  // refuse its files.
  static constexpr std::string_view kLongest[] = {"windows", "trigrams"};

  explicit DependencyModel(Sections sections);  // refuses, with FormatError, sections that do not fit together
  static DependencyModel open(const std::string& path, bool verify) {
    return DependencyModel(Sections::open(path, kKind, kVersion, verify));
  }
  void write(const std::string& path) const { sections_.write(path); }

  DependencyUnit unit() const { return static_cast<DependencyUnit>(facts_->unit); }
  DependencyConditioning conditioning() const { return conditioning_; }
  const DependencyFacts& facts() const { return *facts_; }
  const Vocabulary& vocabulary() const { return vocabulary_; }
  std::uint64_t bytes() const { return sections_.size(); }

  // The number of a unit of a sentence. Whatever the model has not seen is <unk>, and so are its special words.
  WordId find(std::string_view text) const {
    const WordId found = vocabulary_.find(text);
    return found < std::size(kSpecialWords) ? Vocabulary::kUnknown : found;
  }

  // P_L or P_R of a child. `siblings` are nearer to the head.
  WordScore child(DependencySide side, DependencySiblings siblings, WordId head, WordId child) const {
    const Side& tables = sides_[static_cast<std::size_t>(side)];
    const auto [far, near] = child_context(conditioning_, head + units_, siblings);
    const NgramKey pair = extend_key(key_of(child), near), window = extend_key(pair, far);
    const NgramKey context = extend_key(key_of(near), far);
    tables.pairs.prefetch(pair);
    tables.windows.prefetch(window);
    tables.pairs.prefetch(context);
    const NgramValue alone = tables.unigrams[child];
    WordScore score{alone.log10(), 1, true};
    NgramValue value;
    if (alone.extends_left() && treeglot::find(tables.pairs, pair, value)) {
      score = {value.log10(), 2, true};
      // A window is in the model only with the pair that it ends in.
      if (value.extends_left() && treeglot::find(tables.windows, window, value)) return {value.log10(), 3, true};
    } else {
      score.log10 += tables.unigrams[near].backoff;
    }
    if (treeglot::find(tables.pairs, context, value)) score.log10 += value.backoff;
    return score;
  }
  // P_T of a unit.
  float root(WordId unit) const { return roots_[unit].log10(); }

  // The siblings, with <unk> for those that make no difference to any child that follows on this side of the head.
  DependencySiblings that_matter(DependencySide side, DependencySiblings siblings, WordId head) const {
    const Side& tables = sides_[static_cast<std::size_t>(side)];
    const auto [far, near] = child_context(conditioning_, head + units_, siblings);
    NgramValue value;
    const bool seen = treeglot::find(tables.pairs, extend_key(key_of(near), far), value);
    if (conditioning_ == DependencyConditioning::sibling) return {seen ? siblings.last : Vocabulary::kUnknown, 0};
    if (siblings.last == kNoSibling) return {kNoSibling, 0};
    if (!NgramValue::extends_right(tables.unigrams[near].backoff)) return {};
    return {siblings.last, seen && NgramValue::extends_right(value.backoff) ? siblings.before : Vocabulary::kUnknown};
  }

  // The score of a piece's roots as roots of the sentence.
  double complete(const DependencyState& piece) const {
    double log10 = 0;
    for (unsigned i = 0; i < piece.count; ++i) log10 += root(piece.roots[i]);
    return log10;
  }
  // What the roots of a piece may come to score once they have a head: it orders the search, nothing else. The better
  // of their probabilities as left and as right child of any head.
  double waiting(const DependencyState& piece) const {
    double log10 = 0;
    for (unsigned i = 0; i < piece.count; ++i) log10 += waiting(piece.roots[i]);
    return log10;
  }
  float waiting(WordId unit) const {
    return std::max(sides_[0].unigrams[unit].log10(), sides_[1].unigrams[unit].log10());
  }

  // Adds the score of each word of a sentence. A child's score is given its head and sibling. A root, and a word
  // without a head, has P_T. So every word has one score, whatever the heads are, even on a cycle. Throws
  // std::invalid_argument for a sentence without tags when the model is over tags.
  struct Scores {
    std::vector<float> log10;
    std::vector<std::uint8_t> length;   // of what was found: 3 with both of child_context(), 2 with the nearer, 1
    std::vector<std::uint8_t> unknown;  // 1: the model does not know the word
  };
  void score(const Dependency& sentence, Scores& out) const;

 private:
  struct Side {
    std::span<const NgramValue> unigrams;
    FastTable<FastBucket> pairs;
    FastTable<FastLastBucket> windows;
  };

  Sections sections_;
  const DependencyFacts* facts_ = nullptr;
  DependencyConditioning conditioning_ = DependencyConditioning::sibling;
  Vocabulary vocabulary_;
  WordId units_ = 0;
  std::array<Side, 2> sides_;
  std::span<const NgramValue> roots_;
};

// The compiled model of what training estimated. Throws std::invalid_argument for models of other orders.
DependencyModel compile_dependency(DependencyUnit unit, DependencyConditioning conditioning,
                                   const EstimatedNgrams& left, const EstimatedNgrams& right,
                                   const EstimatedNgrams& root);

// Sentences by pointer. One that cannot be scored is refused with std::invalid_argument, which says which, from 1 on.
DependencyModel::Scores score_words(const DependencyModel& model, std::span<const Dependency* const> sentences);
std::vector<double> score_sentences(const DependencyModel& model, std::span<const Dependency* const> sentences);

}  // namespace treeglot
