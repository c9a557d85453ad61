// Probabilities of counted rules, as the SQL of treeglot.rules.sql defines them, where the sums of all target sides fit
// into memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/exclusive.h"
#include "base/hash_index.h"
#include "rules/render.h"

namespace treeglot {

struct RuleSmoothing {
  // Good-Turing: what a count is multiplied by, from one occurrence on; 1 for more occurrences.
  std::vector<double> factors;
  // Kneser-Ney: what is taken from one occurrence, two, …; the last is for all that follow. There are so many rules.
  std::vector<double> discounts;
  double rules = 0;
};

struct RuleScoring {
  RuleSmoothing smoothing;
  std::uint32_t least = 1, least_gappy = 1;  // occurrences
  std::size_t targets_per_source = 0;        // 0: all
  bool roots = false;                        // left-hand sides differ
  bool apart = false;                        // target sides of phrases are counted separately
};

// Rows of counts. Those of a source side stand together.
struct CountsOfRules {
  std::span<const std::int64_t> source_row;  // the first row with the same source side
  std::span<const double> count;
  std::span<const std::uint32_t> occurrences, lhs;
  std::span<const std::uint8_t> variables;
};

struct ScoredRules {
  std::vector<std::int64_t> kept;  // places among the rows
  std::vector<float> target_given_source, source_given_target;
  std::vector<float> given_root;  // none without roots
};

// Reads all rows twice. The sums are exact in any order (rules/tally.h).
class RuleScores : public Exclusive {
 public:
  explicit RuleScores(RuleScoring scoring);

  // Adds rows with these target sides.
  void add(const Codes& targets, const CountsOfRules& rows);
  std::size_t bytes() const;  // of memory
  // The most that it may take while rows are added: what grows is in memory twice.
  std::size_t bytes_to_add(const Codes& targets, const CountsOfRules& rows) const;
  // After the last row: forgets what target sides look like.
  void finish();
  std::size_t waiting() const { return target_of_row_.size() - next_; }  // rows that were added and not scored
  // The rows in the same order; all rows of a source side come at once.
  ScoredRules score(const CountsOfRules& rows);

 private:
  struct Sum {
    double count = 0;
    double lost = 0, rules = 0;  // for discounts alone
  };

  void check(const CountsOfRules& rows) const;
  Sum target(std::uint32_t number) const;
  std::uint32_t number_of(std::string_view target, bool phrase, std::uint64_t hash);
  void add_row(const CountsOfRules& rows, std::size_t row, std::uint32_t target);
  double factor(std::uint32_t occurrences) const;
  double lost(double count, std::uint32_t occurrences) const;
  void score_source(const CountsOfRules& rows, std::size_t begin, std::size_t end, ScoredRules& out);
  double probability(double kept, const Sum& given, const Sum& side) const;

  RuleScoring scoring_;
  std::vector<std::uint32_t> target_of_row_;
  std::vector<double> counts_;      // by target side
  std::vector<double> lost_rules_;  // for discounts alone: what was taken from its counts, and its rules
  std::vector<double> roots_;       // counts by left-hand side
  std::size_t next_ = 0;            // row to be scored

  // While rows are added: target sides, each with a byte before it if phrases are apart.
  HashIndex index_;
  std::vector<char> bytes_;
  std::vector<std::uint64_t> begins_ = {0};

  // Of a source side.
  struct Place {
    float probability;
    std::size_t at;  // among those of `out`
  };
  std::vector<Place> ranked_;
};

}  // namespace treeglot
