// The compiled rule table: every rule of a model, with a trie over the source sides. Read-only, mapped from its file.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mapped_strings.h"
#include "base/sections.h"
#include "base/symbols.h"

namespace treeglot {

using RuleId = std::uint32_t;

// A symbol of a source side: a source word's number, or a nonterminal's label with the top bit set (so that the
// nonterminals follow the words wherever symbols are sorted).
inline constexpr Symbol kNonterminal = 0x80000000u;
inline constexpr Symbol nonterminal(Symbol label) { return label | kNonterminal; }
inline constexpr bool is_nonterminal(Symbol symbol) { return (symbol & kNonterminal) != 0; }
inline constexpr Symbol label_of(Symbol symbol) { return symbol & ~kNonterminal; }

// The word-for-word correspondence inside a rule: positions in its source and target sides.
struct RuleLink {
  std::uint8_t source = 0;
  std::uint8_t target = 0;
  friend bool operator==(RuleLink, RuleLink) = default;
};

// A feature that few rules have.
struct SparseFeature {
  std::uint32_t feature = 0;
  float value = 0;
  friend bool operator==(SparseFeature, SparseFeature) = default;
};

inline constexpr std::size_t kLongestSide = 255;  // symbols, so that a link takes two bytes

struct Rule {
  Symbol lhs = 0;                     // a label
  std::vector<Symbol> source;         // words and nonterminals
  std::vector<std::int32_t> target;   // ≥ 0 a target word, −1 − k the k-th nonterminal of the source side
  std::vector<float> features;        // one value for each of the table's dense features
  std::vector<SparseFeature> sparse;  // and values of others
  std::vector<RuleLink> alignment;
  std::vector<Symbol> labels;           // of the rule and its variables, where they are no part of its sides
  std::vector<std::int32_t> structure;  // of the target side: what the numbers mean is the model's business
  friend bool operator==(const Rule&, const Rule&) = default;
};

// Half of the slots, or more, are empty, and a slot is a number alone: texts are asked for when a model is loaded and
// once for each word of an input. Features' names can be long: 64 bits say where they end.
struct SymbolLayout {
  using End = std::uint64_t;
  using Slot = Symbol;
  static constexpr bool kBytesFirst = false;
  static std::size_t slots(std::size_t symbols) { return std::max<std::size_t>(4, std::bit_ceil(symbols * 2)); }
  static std::size_t home(std::uint64_t hash, std::size_t slots) { return hash & (slots - 1); }
  static Slot slot(std::uint64_t /*hash*/, Symbol symbol) { return symbol; }
  static Symbol number(Slot slot) { return slot; }
  static bool may_be(Slot /*slot*/, std::uint64_t /*hash*/) { return true; }
};
using MappedSymbols = MappedStrings<SymbolLayout>;

class RuleTable {
 public:
  using Node = std::uint32_t;  // of the trie
  static constexpr Node kNoNode = 0xffffffffu;
  static constexpr Node kRoot = 0;

  // Maps a file that write() made; a damaged one is a FormatError. `verify` false trusts its bytes, and then opening
  // takes the same time whatever its size.
  static RuleTable open(const std::string& path, bool verify = true);
  void write(const std::string& path) const { sections_->write(path); }
  std::uint64_t file_size() const { return sections_->size(); }

  std::size_t rules() const { return lhs_.size(); }
  const MappedSymbols& source_words() const { return source_words_; }
  const MappedSymbols& target_words() const { return target_words_; }
  const MappedSymbols& labels() const { return labels_; }
  // Dense features come first: every rule has a value for each of the first dense_features().
  const MappedSymbols& feature_names() const { return feature_names_; }
  std::size_t dense_features() const { return dense_; }

  // The child that `symbol` leads to, or kNoNode.
  Node child(Node node, Symbol symbol) const { return child(first_child_[node], first_child_[node + 1], symbol); }
  // The same among the children [begin, end) of some node.
  Node child(Node begin, Node end, Symbol symbol) const;
  // The children that nonterminals lead to: a range of nodes, whose symbols are symbol(child).
  std::pair<Node, Node> nonterminal_children(Node node) const;
  Symbol symbol(Node node) const { return symbol_[node]; }
  bool has_children(Node node) const { return first_child_[node] != first_child_[node + 1]; }

  // The rules whose source side ends at `node`, those of one left-hand side together.
  RuleId rules_begin(Node node) const { return first_rule_[node]; }
  RuleId rules_end(Node node) const { return first_rule_[node + 1]; }
  std::size_t nodes() const { return symbol_.size(); }

  Symbol lhs(RuleId rule) const { return lhs_[rule]; }
  std::span<const std::int32_t> target(RuleId rule) const { return target_.of(rule); }
  std::span<const float> features(RuleId rule) const { return features_.subspan(rule * dense_, dense_); }
  std::span<const SparseFeature> sparse_features(RuleId rule) const { return sparse_.of(rule); }
  std::span<const RuleLink> alignment(RuleId rule) const { return links_.of(rule); }
  std::span<const Symbol> rule_labels(RuleId rule) const { return rule_labels_.of(rule); }
  std::span<const std::int32_t> structure(RuleId rule) const { return structure_.of(rule); }

  // The whole rule, its source side found by walking up the trie: for output, not for the search.
  Rule rule(RuleId rule) const;

 private:
  friend class RuleTableBuilder;

  static constexpr std::string_view kKind = "rules";
  static constexpr std::uint32_t kVersion = 2;
  explicit RuleTable(std::shared_ptr<const Sections> sections);

  Node node_of(RuleId rule) const;

  // A list for each rule; what no rule has takes no room.
  template <class T>
  struct Lists {
    std::span<const std::uint32_t> ends;  // one more than rules, or none
    std::span<const T> values;

    std::span<const T> of(RuleId rule) const {
      if (ends.empty()) return {};
      return values.subspan(ends[rule], ends[rule + 1] - ends[rule]);
    }
  };
  template <class T>
  Lists<T> lists(const std::string& name) const;
  // What opening an untrusted file asks for (table_check.cc).
  void check() const;
  struct Nodes;
  struct Rules;
  bool sound(const Nodes& nodes, std::span<std::uint8_t> variables) const;
  bool sound_values(const Rules& rules) const;
  bool sound_quickly(const Rules& rules) const;
  bool sound_by_rule(const Rules& rules) const;

  std::shared_ptr<const Sections> sections_;
  MappedSymbols source_words_, target_words_, labels_, feature_names_;
  // The trie, breadth first: the children of a node are consecutive, sorted by symbol.
  std::span<const std::uint32_t> symbol_, first_child_, first_rule_, parent_;
  std::span<const Symbol> lhs_;
  std::size_t dense_ = 0;
  std::span<const float> features_;
  Lists<std::int32_t> target_;
  Lists<SparseFeature> sparse_;
  Lists<RuleLink> links_;
  Lists<Symbol> rule_labels_;
  Lists<std::int32_t> structure_;
};

}  // namespace treeglot
