// The compiled rule table: every rule of a model, with a trie over the source sides. Read-only, mapped from its file.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_strings.h"
#include "base/sections.h"
#include "base/symbols.h"
#include "base/verification.h"

namespace treeglot {

using RuleId = std::uint32_t;

// A symbol of a source side: a source word's number, or a nonterminal's label with the top bit set. So nonterminals
// follow the words wherever symbols are sorted.
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

// Half of the slots, or more, are empty, and a slot is a number alone. Texts are looked up when a model is loaded and
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

// The symbols of a table: those of its file, then those that corrections added.
class TableSymbols {
 public:
  TableSymbols() = default;
  TableSymbols(const Sections& sections, const std::string& name, bool at_once = false)
      : own_(sections, name, at_once) {}

  std::size_t size() const { return own_.size() + (more_ == nullptr ? 0 : more_->size()); }
  std::string_view text(Symbol symbol) const {
    return symbol < own_.size() ? own_.text(symbol) : more_->text(symbol - static_cast<Symbol>(own_.size()));
  }
  Symbol find(std::string_view text) const {  // its number, or Symbols::kNone
    const Symbol found = own_.find(text);
    return found != Symbols::kNone || more_ == nullptr ? found : find_more(text);
  }

 private:
  friend class RuleTable;
  Symbol find_more(std::string_view text) const {
    const Symbol found = more_->find(text);
    return found == Symbols::kNone ? found : found + static_cast<Symbol>(own_.size());
  }

  MappedSymbols own_;
  const Symbols* more_ = nullptr;
};

// The rules of a source side, those of one left-hand side together.
class RuleList {
 public:
  RuleList(RuleId begin, RuleId end) : first_(begin), size_(end - begin) {}
  explicit RuleList(std::span<const RuleId> list) : list_(list.data()), size_(list.size()) {}

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  RuleId operator[](std::size_t i) const { return list_ == nullptr ? first_ + static_cast<RuleId>(i) : list_[i]; }

 private:
  RuleId first_ = 0;
  const RuleId* list_ = nullptr;  // or they follow each other from the first on
  std::size_t size_ = 0;
};

struct TablePatch;

// A number that any thread may set, and that copies take along.
class SharedNumber {
 public:
  SharedNumber(std::size_t value = 0) : value_(value) {}  // NOLINT: it is a number
  SharedNumber(const SharedNumber& other) : value_(other) {}
  SharedNumber& operator=(const SharedNumber& other) { return *this = std::size_t{other}; }
  SharedNumber& operator=(std::size_t value) {
    value_.store(value, std::memory_order_relaxed);
    return *this;
  }
  operator std::size_t() const { return value_.load(std::memory_order_relaxed); }  // NOLINT

 private:
  std::atomic<std::size_t> value_;
};

// Corrections (rules/corrections.h) lie over the table as a patch. The patch has nodes of its own for the source sides
// that it changes, and for what they begin with. Its root comes first in every walk; where the patch ends, a walk goes
// on in the file's trie. Numbers of its nodes, rules and symbols follow the file's.
//
// A file need not be verified when it opens. Until it is, no node or rule counts as quick: then every access verifies
// what it reads (table_on_use.cc). So the check that tells the file's nodes from a patch's serves both, and a verified
// table costs nothing more.
class RuleTable {
 public:
  using Node = std::uint32_t;  // of the trie
  static constexpr Node kNoNode = 0xffffffffu;

  // Maps a file that write() made; a damaged one is a FormatError. Unless all is verified before, opening takes the
  // same time for any number of rules, and whoever meets damage throws.
  static RuleTable open(const std::string& path, Opening how = Opening::verified);
  void verify() const;                        // all of it now, if it is not
  void used() const;                          // by one more sentence: it may pay now to verify all of it
  void write(const std::string& path) const;  // not with a patch
  std::uint64_t file_size() const { return sections_->size(); }

  // The same rules under a patch.
  RuleTable patched(std::shared_ptr<const TablePatch> patch) const;
  const TablePatch* patch() const { return patch_.get(); }

  std::size_t own_rules() const { return lhs_.size(); }  // of the file
  std::size_t rules() const;                             // numbers of rules, also of those that a patch takes away
  const TableSymbols& source_words() const { return source_words_; }
  const TableSymbols& target_words() const { return target_words_; }
  const TableSymbols& labels() const { return labels_; }
  // Dense features come first: every rule has a value for each of the first dense_features().
  const TableSymbols& feature_names() const { return feature_names_; }
  std::size_t dense_features() const { return dense_; }

  Node root() const { return root_; }
  // The child that `symbol` leads to, or kNoNode.
  Node child(Node node, Symbol symbol) const {
    return is_quick(node) ? child(first_child_[node], first_child_[node + 1], symbol) : other_child(node, symbol);
  }
  // The children that nonterminals lead to, for child() below.
  struct VariableChildren {
    Node first = 0, last = 0;  // in the file's trie
    Node patched = kNoNode;    // the node, if the patch has such children of it
    bool empty() const { return first == last && patched == kNoNode; }
  };
  VariableChildren variables(Node node) const { return is_quick(node) ? own_variables(node) : other_variables(node); }
  Node child(const VariableChildren& variables, Symbol symbol) const {
    if (variables.patched != kNoNode) return child(variables.patched, symbol);
    return child(variables.first, variables.last, symbol);
  }
  std::vector<Node> variable_children(Node node) const;  // the same children as a list, sorted by symbol
  Symbol symbol(Node node) const;
  bool has_children(Node node) const {
    return is_quick(node) ? first_child_[node] != first_child_[node + 1] : other_children(node);
  }

  // The rules whose source side ends at `node`.
  RuleList rules_of(Node node) const {
    return is_quick(node) ? RuleList(first_rule_[node], first_rule_[node + 1]) : other_rules(node);
  }
  std::size_t nodes() const;        // those of the patch come last
  bool is_hidden(Node node) const;  // by one of the patch
  bool is_own_word(std::string_view text) const { return source_words_.own_.find(text) != Symbols::kNone; }
  bool is_own_label(std::string_view text) const { return labels_.own_.find(text) != Symbols::kNone; }
  Node own_child(Node node, Symbol symbol) const {  // without the patch
    return is_quick(node) ? child(first_child_[node], first_child_[node + 1], symbol) : child_on_use(node, symbol);
  }

  Symbol lhs(RuleId rule) const {
    const Rule* const patched = patched_rule(rule);
    return patched == nullptr ? lhs_[rule] : patched->lhs;
  }
  std::span<const std::int32_t> target(RuleId rule) const {
    const Rule* const patched = patched_rule(rule);
    return patched == nullptr ? target_.of(rule) : std::span<const std::int32_t>(patched->target);
  }
  std::span<const float> features(RuleId rule) const {
    const Rule* const patched = patched_rule(rule);
    return patched == nullptr ? features_.subspan(rule * dense_, dense_) : std::span<const float>(patched->features);
  }
  std::span<const SparseFeature> sparse_features(RuleId rule) const {
    const Rule* const patched = patched_rule(rule);
    return patched == nullptr ? sparse_.of(rule) : std::span<const SparseFeature>(patched->sparse);
  }
  std::span<const RuleLink> alignment(RuleId rule) const {
    if (const Rule* const patched = patched_rule(rule)) return patched->alignment;
    if (rule >= quick_rules_) use_links(rule);
    return links_.of(rule);
  }
  std::span<const Symbol> rule_labels(RuleId rule) const {
    const Rule* const patched = patched_rule(rule);
    return patched == nullptr ? rule_labels_.of(rule) : std::span<const Symbol>(patched->labels);
  }
  std::span<const std::int32_t> structure(RuleId rule) const {
    const Rule* const patched = patched_rule(rule);
    return patched == nullptr ? structure_.of(rule) : std::span<const std::int32_t>(patched->structure);
  }

  // The whole rule, its source side found by walking up the trie: for output, not for the search.
  Rule rule(RuleId rule) const;

 private:
  friend class RuleTableBuilder;

  static constexpr std::string_view kKind = "rules";
  static constexpr std::uint32_t kVersion = 2;
  explicit RuleTable(std::shared_ptr<const Sections> sections);

  Node node_of(RuleId rule) const;
  bool is_own(Node node) const { return node < symbol_.size(); }
  bool is_own_rule(RuleId rule) const { return rule < lhs_.size(); }
  bool is_quick(Node node) const { return node < quick_nodes_; }  // of the file, and verified
  Node child(Node begin, Node end, Symbol symbol) const;          // among the children [begin, end) of a node
  VariableChildren own_variables(Node node) const;
  // Of a patch, or of a file that is not verified.
  Node other_child(Node node, Symbol symbol) const;
  VariableChildren other_variables(Node node) const;
  bool other_children(Node node) const;
  RuleList other_rules(Node node) const;
  // The rule of a patch; nullptr for one of the file, which is verified.
  const Rule* patched_rule(RuleId rule) const { return rule < quick_rules_ ? nullptr : other_rule(rule); }
  const Rule* other_rule(RuleId rule) const;
  // Of a file that is not verified (table_on_use.cc).
  void watch();          // lets it be verified on use
  bool settled() const;  // whether all is verified by now
  std::uint32_t last_of(std::span<const std::uint32_t> numbers) const;
  Node child_on_use(Node node, Symbol symbol) const;
  VariableChildren variables_on_use(Node node) const;
  Node node_on_use(RuleId rule) const;
  Node owner(RuleId first, RuleId last) const;
  void use_node(Node node) const;
  void use_symbol(Node node) const;
  void use_child(Node node, Node child) const;
  void use_rule(RuleId rule) const;
  void use_rules(Node node) const;
  void use_links(RuleId rule) const;
  struct SourceSide {
    std::size_t symbols, variables;
  };
  SourceSide source_side(Node node) const;
  void use_values(SourceSide source, RuleId first, RuleId last) const;
  void use_links(SourceSide source, RuleId first, RuleId last) const;
  [[noreturn]] void fail(const char* problem) const;

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
  bool sound_links(const Rules& rules) const;

  struct OnUse;

  std::shared_ptr<const Sections> sections_;
  std::shared_ptr<const TablePatch> patch_;
  std::shared_ptr<OnUse> on_use_;  // of a file that was not verified when it opened; copies share it
  mutable SharedNumber quick_nodes_, quick_rules_;
  Node root_ = 0;
  TableSymbols source_words_, target_words_, labels_, feature_names_;
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
