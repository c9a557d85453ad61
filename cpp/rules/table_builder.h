// Rules in any order in, a compiled table out.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/exclusive.h"
#include "base/strings.h"
#include "base/symbols.h"
#include "rules/expanded_features.h"
#include "rules/render.h"
#include "rules/rule_record.h"
#include "rules/rule_sorter.h"
#include "rules/table.h"
#include "rules/table_levels.h"

namespace treeglot {

class RowReader;
class RuleTableBuilder;

// What all parts of a table must know of the whole: the numbers of names, and what its rules have.
struct TableFacts {
  Strings source_words, target_words, labels, features;  // by number
  std::uint64_t rules = 0;
  std::vector<std::uint64_t> values;   // of each kind of list, in all rules
  std::vector<std::uint64_t> uses;     // of sparse features, by number
  std::vector<Symbol> begun;           // symbols that source sides begin with
  std::vector<std::uint64_t> weights;  // of each of these, as parts are made equal
};

// Rows of a rule table (docs/rules.md), as Arrow columns of text. `alignment`, `labels` and `structure` may have no
// rows. Rows of codes (rules/code.h) have no `lhs` and no `structure`: their sides tell both.
struct RuleRows {
  Codes lhs, source, target, alignment, labels, structure;
  std::vector<std::span<const float>> dense;              // a column for each of the builder's dense features
  std::vector<std::pair<std::string, Codes>> indicators;  // a column x with the value v is the feature x=v, 1
};

// The numbers that codes have for words and labels, and those that a builder gave them so far.
class CodedSymbols {
 public:
  CodedSymbols(Strings source_words, Strings target_words, Strings labels);  // by number: label 0 is X

  // These refuse numbers that are not listed.
  Symbol source_word(RuleTableBuilder& builder, std::uint32_t number);
  Symbol target_word(RuleTableBuilder& builder, std::uint32_t number);
  Symbol label(RuleTableBuilder& builder, std::uint32_t number);
  Symbol opening(RuleTableBuilder& builder, std::uint32_t label);  // the source word that opens a node

 private:
  static constexpr Symbol kUnseen = 0xffffffffu;
  struct Numbers {
    Strings texts;
    std::vector<Symbol> symbols;

    template <class Intern>
    Symbol find(std::uint32_t number, const Intern& intern) {
      if (number >= symbols.size()) throw std::invalid_argument("a rule's code has a word or label that is not listed");
      if (symbols[number] == kUnseen) symbols[number] = intern(texts[number]);
      return symbols[number];
    }
  };
  Numbers source_, target_, labels_;
  std::vector<Symbol> openings_;
};

class RuleTableBuilder : public Exclusive {
 public:
  // The dense features: every rule has a value for each. Rules that take more than half of `memory` bytes go through
  // files in `folder`. The bytes of the table stay the same. With 0, all rules stay in memory.
  explicit RuleTableBuilder(const std::vector<std::string>& dense_features, std::size_t memory = 0,
                            std::string folder = {});

  Symbol source_word(std::string_view text) { return source_words_.intern(text); }
  Symbol target_word(std::string_view text) { return target_words_.intern(text); }
  Symbol label(std::string_view text) { return labels_.intern(text); }
  std::uint32_t feature(std::string_view name) { return feature_names_.intern(name); }

  std::size_t rules() const { return rules_; }

  // Refuses an empty source side, a wrong number of features, values that are not finite, and links outside the rule.
  // Also refuses a variable that the source side lacks, and one used twice or not at all.
  void add(Symbol lhs, std::span<const Symbol> source, std::span<const std::int32_t> target,
           std::span<const float> features, const RuleNotes& notes);

  // From now on, leaves out and counts rows whose source sides have a greater scope (Hopkins and Langmead 2010). A rule
  // of scope s matches in up to n^s ways on n words.
  void limit_scope(std::uint32_t most) { max_scope_ = most; }
  std::size_t left_out_by_scope() const { return left_out_by_scope_; }

  // The number of rows left out because their structures have cycles or crossing arcs.
  std::size_t left_out_by_structure() const { return left_out_by_structure_; }

  // Gives rows that are added from now on these features, too.
  void expand(const ExpandedOptions& options) { expanded_.emplace(options); }

  // Adds all rows; a bad one is a FormatError with its number, the first being `first_row`. A side that is longer than
  // links can tell (255 symbols) is left out: gives the number of such rows.
  std::size_t add_rows(const RuleRows& rows, const std::string& file, std::size_t first_row);
  // The same for rows of codes, after `know_codes` said what they mean. The table has the bytes that text would give.
  void know_codes(CodedSymbols symbols) { coded_.emplace(std::move(symbols)); }
  std::size_t add_coded_rows(const RuleRows& rows, const std::string& file, std::size_t first_row);

  // The builder is empty afterwards. Rules with the same source and left-hand side keep their order. Sparse features
  // that at least half of the rules have become dense.
  RuleTable finish();
  // The same, into a file: the table need not fit into memory. Gives what was written.
  struct Written {
    std::size_t rules;
    std::uint64_t size, spilled;  // bytes of the file, and of those that went through scratch files
  };
  Written write(const std::string& path);

  // A table in parts (rules/table_parts.cc), which is made in four steps. Its bytes are those that write() gives.
  // 1. A builder for each range of rows surveys them. Another adds up what they found, in the order of the rows.
  void survey() { surveys_ = true; }  // rows added from now on are counted, and not kept
  TableFacts facts() const;
  void add_facts(const TableFacts& facts);
  // 2. A builder for each range of rows that knows the names sorts them, and writes them in pieces.
  void know_names(const TableFacts& facts);
  std::vector<Symbol> split(
      std::size_t parts) const;  // what each part but the first begins with; of about equal weight
  std::vector<std::uint64_t> write_run(const std::string& path, std::span<const Symbol> begins) {
    return sorter_.write_run(path, begins);
  }
  // 3. A builder for each part that knows all facts merges its pieces of all runs.
  void add_run(const std::string& path, std::uint64_t begin, std::uint64_t end) { sorter_.add_run(path, begin, end); }
  std::uint64_t write_part(const std::string& path);
  // 4. A builder that knows all facts joins the parts.
  Written join_parts(const std::vector<std::string>& parts, const std::string& path);

 private:
  static constexpr std::uint32_t kNone = 0xffffffffu;

  void check(Symbol lhs, std::span<const Symbol> source, std::span<const std::int32_t> target,
             std::span<const float> features, const RuleNotes& notes) const;
  void append(Symbol lhs, std::span<const Symbol> source, std::span<const std::int32_t> target,
              std::span<const float> features, const RuleNotes& notes);
  std::size_t add_all(RowReader& reader, std::size_t rows, const std::string& file, std::size_t first_row);
  // Whether a row may be added; otherwise counts why not.
  bool within_limits(const RowReader& row, std::size_t& too_long);
  void keep(std::span<const Symbol> source, std::span<const std::uint32_t> record);  // or survey it
  TableLevels empty_levels(const std::optional<std::string>& folder);                // feature names get their numbers
  TableLevels levels();  // of all rules, which are gone then
  Sections names() const;

  Symbols source_words_, target_words_, labels_, feature_names_;
  std::optional<ExpandedFeatures> expanded_;
  std::optional<CodedSymbols> coded_;
  std::size_t left_out_by_structure_ = 0;
  std::uint32_t max_scope_ = kNone;
  std::size_t left_out_by_scope_ = 0;
  std::size_t dense_;
  std::size_t rules_ = 0;
  std::uint64_t values_[kRuleLists] = {};  // of each kind of list, in all rules
  std::vector<std::uint64_t> uses_;        // of sparse features
  std::vector<std::uint32_t> record_;
  bool surveys_ = false;
  std::unordered_map<Symbol, std::uint64_t> weights_;  // of what source sides begin with, while rows are surveyed
  RuleSorter sorter_;
};

}  // namespace treeglot
