// Rules on demand: the rules that can meet a sentence, found and scored in an index when the sentence arrives.
//
// Without sampling they are the rules that extraction, scoring and compiling of the same pairs give, with the same
// scores. With samples, counts are those of the places that were looked at, times the share of these among all.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rules/indexed_corpus.h"
#include "rules/side_counts.h"
#include "rules/source_lookup.h"
#include "rules/table.h"
#include "rules/target_lookup.h"

namespace treeglot {

enum class RuleSmoothing : std::uint8_t { none, good_turing, kneser_ney };

// What treeglot.rules.sql.ScoreOptions says, and the discounts that its statements compute from all rules.
struct DemandScoring {
  RuleSmoothing smoothing = RuleSmoothing::none;
  std::uint32_t min_occurrences = 1, min_gappy_occurrences = 1;
  std::uint32_t targets_per_source = 20;  // 0: all
  // Good-Turing: factors of counts seen once, twice, …; Kneser-Ney: what is taken from such counts.
  std::vector<double> discounts;
  double rules = 0;  // of the corpus, different ones: for Kneser-Ney
};

// A rule with the columns of a rule table.
struct DemandedRule {
  std::vector<Symbol> source;        // words by the corpus's numbers, and nonterminals
  std::vector<std::int32_t> target;  // as in Rule
  std::vector<RuleLink> alignment;
  double count = 0, occurrences = 0;
  float target_given_source = 0, source_given_target = 0;
  float lex_target_given_source = 0, lex_source_given_target = 0;
};

class RulesOnDemand {
 public:
  // `features` are columns of numbers, as treeglot.rules.table.CompileOptions has them.
  RulesOnDemand(std::vector<std::shared_ptr<const PairIndex>> indexes, const std::vector<std::string>& features,
                const DemandOptions& options, const DemandScoring& scoring);

  static std::span<const std::string_view> columns();  // those that features can be

  const IndexedCorpus& corpus() const { return corpus_; }
  // A table without rules: the words, the label X and the features.
  const std::shared_ptr<const RuleTable>& table() const { return table_; }

  // The rules that can meet a sentence on at most `span_limit` words. Threads may ask at the same time.
  std::vector<DemandedRule> find(std::span<const std::string_view> words, std::uint32_t span_limit) const;
  // The same as a table, whose words and features are numbered as those of table().
  std::shared_ptr<const RuleTable> rules_for(std::span<const std::string_view> words, std::uint32_t span_limit) const;

 private:
  // The rules of a source side.
  struct Candidate {
    const SideCounts::Target* target;
    double count, occurrences, kept;
    float probability;
    TargetCounts of_target;
  };
  class Scorer;

  double discount(double count, double occurrences) const;  // what is left of a count
  TargetCounts target_counts(std::span<const std::int32_t> target, TargetLookup& lookup) const;
  float value(const DemandedRule& rule, std::size_t feature) const;

  IndexedCorpus corpus_;
  DemandOptions options_;
  DemandScoring scoring_;
  LostCount lost_;
  std::vector<std::size_t> columns_;  // of the features
  std::shared_ptr<const RuleTable> table_;
  // Target sides are common to many sentences. What a lookup gives never depends on what is kept here.
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::string, TargetCounts> targets_;
};

}  // namespace treeglot
