// Chart matching as other decoders define it: what passes through, what is glued, which label a sentence has.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "decode/feature_set.h"
#include "decode/match_chart.h"
#include "lm/ngram.h"

namespace treeglot {

// Which source words pass through: X → f / f.
enum class PassThrough : std::uint8_t {
  none,
  unknown,  // those on which no rule of one word matches
  all,
};

struct ForeignOptions {
  ChartOptions chart;
  PassThrough pass_through = PassThrough::unknown;
  bool glue = true;   // whether S → X and S → S X are there
  std::string glued;  // the label that glue joins; empty: all
  // The label of S. Rules of the table may have it on either side, too. If it is empty, S has a label of its own, and a
  // table's label S is like others.
  std::string goal;
  // The table's glue rules have <s> and </s>, as words around the input. These do not pass through. Rules that begin
  // with the sentence have no span limit, and without a goal any label will do.
  bool marked = false;
  std::string mark;      // what stands after words that passed through
  bool lengths = false;  // words that pass through have the features of add_unknown_lengths()
  // The labels of words that pass through, and how much such a word counts as unknown under each; none: X, once.
  struct Passed {
    std::string label;
    float value;
  };
  std::vector<Passed> passed;
};

class ForeignMatcher final : public Matcher {
 public:
  ForeignMatcher(FeatureSet& features, const ForeignOptions& options);

  std::size_t left_out() const override { return unary_.left_out; }
  TranslationForest match(const Input& input, RuleCache& cache, Glue& glue) const override;

 private:
  friend class ForeignChart;
  UnaryRules unary_rules();

  std::shared_ptr<const RuleTable> table_;
  ForeignOptions options_;
  FeatureId word_penalty_, unknown_;
  std::vector<FeatureId> lengths_;  // by class
  Symbol sentence_, glued_;         // labels
  // The label of sentences comes last where the sentence begins: rules from it that would lead back to what glue joins
  // are left out there.
  bool goal_last_ = false;
  UnaryRules unary_;
};

// Adds features of words that pass through, by their length: unknown_length_1 to unknown_length_6 (cdec's PassThrough_1
// and so on). Their numbers.
std::vector<FeatureId> add_unknown_lengths(FeatureSet& features);

// Adds the features "lm" and "lm_unknown" for rules that have <s> and </s> themselves. A first word <s> begins the
// sentence and has no score. A last word </s> ends it.
void add_marked_ngram(FeatureSet& features, std::shared_ptr<const NgramModel> model);

}  // namespace treeglot
