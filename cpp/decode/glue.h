// What a sentence needs beyond the table's rules: glue, words that pass through, translations that the user gave,
// the end of the sentence. Once, for all matchers.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash_index.h"
#include "decode/rule_cache.h"
#include "decode/translation_forest.h"

namespace treeglot {

inline constexpr std::uint32_t kLocalRule = 0x80000000u;  // set in the number of a rule that is not the table's
inline constexpr RuleId kNoRule = 0xffffffffu;

enum class LocalKind : std::uint8_t {
  first,    // S → X
  glue,     // S → S X
  end,      // goal → S
  unknown,  // X → f / f: a source word as its own translation
  given,    // X → f… / e…: what markup or a glossary says
  pseudo,   // in source order, where the table has no rule for a part of the input's structure
  phrase,   // a table's rule under features of its own
  reading,  // what variants of words give, at their score
};

struct LocalRule {
  LocalKind kind;
  std::vector<std::int32_t> target;
  std::vector<std::int32_t> structure;  // as TargetSide has it
  std::vector<FeatureValue> features;
  RuleId origin = kNoRule;  // of a phrase: the table's rule
};

// The local rules and words of one sentence. Addresses stay as they are until the next sentence.
class Glue {
 public:
  Glue(const TargetWords& words, const FeatureSpace& space, std::span<const float> weights);

  void begin_sentence();  // forgets the words and rules of the last one

  // The number of a target word: the table's, or a new one of this sentence.
  std::int32_t target_word(std::string_view text);
  std::int32_t find_word(std::string_view text) const;  // or -1, if there is no such word yet
  std::int32_t first_word() const { return first_word_; }
  std::span<const std::string> words() const { return words_; }
  std::string_view text(std::int32_t word) const;

  std::span<const Alternative> first() const { return {&fixed_[0], 1}; }
  std::span<const Alternative> glue() const { return {&fixed_[1], 1}; }
  std::span<const Alternative> end() const { return {&fixed_[2], 1}; }
  // Two or three parts in source order, joined as by glue.
  std::span<const Alternative> side_by_side(std::size_t parts) const { return {&fixed_[parts == 2 ? 1 : 3], 1}; }
  std::span<const Alternative> unknown(std::string_view source_word) {  // a word as its own translation
    return add(LocalKind::unknown, {target_word(source_word)},
               {{space_.word_penalty(), 1.0f}, {space_.unknown(), 1.0f}});
  }
  // Translations that a user gave; `bonus` is the value of the feature preferred.
  std::span<const Alternative> given(std::span<const std::vector<std::int32_t>> translations, float bonus = 0);

  // The feature of a lattice's arcs, and what a value of it adds to a score.
  FeatureId lattice() const { return space_.lattice(); }
  float lattice_score(float value) const { return finite(double{weights_[space_.lattice()]} * value); }

  // One alternative that a matcher made; without a structure every symbol is a root.
  std::span<const Alternative> add(LocalKind kind, std::vector<std::int32_t> target, std::vector<FeatureValue> features,
                                   std::vector<std::int32_t> structure = {});

  // For a matcher's own lists: a local rule, or a rule of the table with other variables and the same features. Then
  // the list that they end up in.
  Alternative make(LocalKind kind, std::vector<std::int32_t> target, std::vector<FeatureValue> features,
                   std::vector<std::int32_t> structure = {}, RuleId origin = kNoRule);
  // The words between variables stay as they are, so what was prepared of them holds for retarget(), too.
  Alternative retarget(const Alternative& rule, std::vector<std::int32_t> target);
  std::span<const Alternative> keep(std::vector<Alternative> alternatives);

  const LocalRule& rule(std::uint32_t id) const { return rules_[id & ~kLocalRule]; }

 private:
  const TargetWords& known_;
  const FeatureSpace& space_;
  std::span<const float> weights_;
  std::int32_t first_word_;
  std::vector<std::string> words_;
  HashIndex word_index_;
  std::deque<LocalRule> rules_;
  std::vector<Alternative> fixed_;
  std::deque<std::vector<Alternative>> alternatives_;
  std::deque<std::vector<std::int32_t>> targets_;  // of rules with other variables
};

}  // namespace treeglot
