// Chart matching: every rule of a table on every span of a sentence.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "decode/matcher.h"
#include "rules/table.h"

namespace treeglot {

// Which source words pass through: X → f / f.
enum class PassThrough : std::uint8_t {
  none,
  unknown,  // those on which no rule of one word matches
  all,
};

struct ChartOptions {
  std::uint32_t span_limit = 10;  // the widest span a rule may cover, the paper's distortion limit; above it only glue
  PassThrough pass_through = PassThrough::unknown;
  bool glue = true;               // whether S → X and S → S X are there
  std::uint32_t label_limit = 0;  // labels kept on a span, those with the best estimates; 0: all
  std::uint32_t match_limit = 0;  // matches of source sides, likewise
  // What other decoders fix by name. The label that glue joins; empty: all.
  std::string glued = {};
  // The label of S, which rules of the table may have on either side, too; empty: one of its own, so that a table's
  // label S is a label like others.
  std::string goal = {};
  // The table's glue rules have <s> and </s>, as words around the input: these do not pass through, rules that begin
  // with the sentence have no span limit, and without a goal any label will do.
  bool marked = false;
  // The labels of words that pass through, and how much such a word counts as unknown under each; none: X, once.
  struct Passed {
    std::string label;
    float value;
  };
  std::vector<Passed> passed = {};
  std::string mark = {};  // what stands after words that passed through
};

// The rules X → Y whose source side is one nonterminal. They join nodes of one cell, so labels are ordered such that
// every Y comes before its X; where they form a circle, the rules that would close it are left out. Built-in glue is
// one of them where the sentence begins: rules from the label of sentences that would lead back to what glue joins are
// left out there.
struct UnaryRules {
  UnaryRules(const RuleTable& table, const ChartOptions& options);

  // Labels that the table does not have come first.
  std::uint32_t rank_of(Symbol label) const { return label < rank.size() ? rank[label] + 1 : 0; }

  std::vector<std::uint32_t> rank;  // by label
  std::size_t left_out = 0;         // rules
  bool any = false;
  bool goal_last = false;  // the label of sentences comes last where the sentence begins
};

class ChartMatcher final : public Matcher {
 public:
  ChartMatcher(std::shared_ptr<const RuleTable> table, const ChartOptions& options);

  std::size_t left_out() const override { return unary_.left_out; }
  bool marked() const override { return options_.marked; }

  TranslationForest match(const Input& input, RuleCache& cache, Glue& glue) const override;

 private:
  std::shared_ptr<const RuleTable> table_;
  ChartOptions options_;
  UnaryRules unary_;
};

}  // namespace treeglot
