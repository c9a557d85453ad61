// Rules in any order in, a compiled table out.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/exclusive.h"
#include "base/hash_index.h"
#include "base/strings.h"
#include "base/symbols.h"
#include "rules/expanded_features.h"
#include "rules/render.h"
#include "rules/table.h"

namespace treeglot {

class RowReader;
class RuleTableBuilder;

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
  // The dense features: every rule has a value for each.
  explicit RuleTableBuilder(const std::vector<std::string>& dense_features);

  Symbol source_word(std::string_view text) { return source_words_.intern(text); }
  Symbol target_word(std::string_view text) { return target_words_.intern(text); }
  Symbol label(std::string_view text) { return labels_.intern(text); }
  std::uint32_t feature(std::string_view name) { return feature_names_.intern(name); }

  std::size_t rules() const { return lhs_.size(); }
  void reserve(std::size_t rules);  // as many as are expected

  struct Notes {
    std::span<const SparseFeature> sparse = {};
    std::span<const RuleLink> alignment = {};
    std::span<const Symbol> labels = {};
    std::span<const std::int32_t> structure = {};
  };
  // Refuses an empty source side, a wrong number of features, values that are not finite, and links outside the rule.
  // Also refuses a variable that the source side lacks, and one used twice or not at all.
  void add(Symbol lhs, std::span<const Symbol> source, std::span<const std::int32_t> target,
           std::span<const float> features, const Notes& notes);

  // From now on, leaves out and counts rows whose source sides have a greater scope (Hopkins and Langmead 2010). A rule
  // of scope s matches in up to n^s ways on n words.
  void limit_scope(std::uint32_t most) { max_scope_ = most; }
  std::size_t left_out_by_scope() const { return left_out_by_scope_; }

  // Rows left out since their structures have cycles or arcs that cross.
  std::size_t left_out_by_structure() const { return left_out_by_structure_; }

  // Rows added from now on have these features too.
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

 private:
  using Node = std::uint32_t;
  static constexpr std::uint32_t kNone = 0xffffffffu;
  static constexpr Node kRoot = 0;

  // A list for each rule. Most kinds of list are empty in all rules of a table: then they take no room.
  template <class T>
  struct Lists {
    std::vector<std::uint32_t> ends;  // where the list of each rule ends; empty while all lists are
    std::vector<T> values;
    std::size_t lists = 0;

    void append(std::span<const T> list);
    std::span<const T> operator[](std::size_t rule) const;
  };
  // The trie as it grows: a node for each prefix of a source side. Most nodes have one child, which they name. Further
  // children are found by parent and symbol.
  struct TrieNode {
    Node parent = kRoot;
    Symbol symbol = 0;
    std::uint32_t depth = 0;
    Node first_child = kNone;
  };
  struct Trie {
    std::vector<TrieNode> nodes = {{}};
    HashIndex index;

    Node child(Node node, Symbol symbol);
  };

  void check(Symbol lhs, std::span<const Symbol> source, std::span<const std::int32_t> target,
             std::span<const float> features, const Notes& notes) const;
  void append(Symbol lhs, Node node, std::span<const std::int32_t> target, std::span<const float> features,
              const Notes& notes);
  std::size_t add_all(RowReader& reader, std::size_t rows, const std::string& file, std::size_t first_row);
  // Whether a row may be added; otherwise counts why not.
  bool within_limits(const RowReader& row, std::size_t& too_long);
  Node node_of(std::span<const Symbol> source);
  std::vector<Node> path_;            // the nodes of the source side before, and its symbols: source sides that follow
  std::vector<Symbol> path_symbols_;  // each other begin alike
  void make_dense();

  Symbols source_words_, target_words_, labels_, feature_names_;
  std::optional<ExpandedFeatures> expanded_;
  std::optional<CodedSymbols> coded_;
  std::size_t left_out_by_structure_ = 0;
  std::uint32_t max_scope_ = kNone;
  std::size_t left_out_by_scope_ = 0;
  std::size_t dense_;
  Trie trie_;
  // By rule.
  std::vector<Symbol> lhs_;
  std::vector<Node> node_;
  std::vector<float> features_;
  Lists<std::int32_t> target_, structure_;
  Lists<SparseFeature> sparse_;
  Lists<RuleLink> links_;
  Lists<Symbol> rule_labels_;
};

}  // namespace treeglot
