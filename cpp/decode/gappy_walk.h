// Hierarchical phrases on the parts of an analysed sentence, for all matchers that have such parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/span.h"
#include "base/symbols.h"
#include "rules/table.h"

namespace treeglot {

// `Part` names what a variable may stand for.
template <class Part>
class GappyWalk {
 public:
  // Words that the table lacks, and those that no phrase may translate, are Symbols::kNone. `x` is the label X.
  void begin(const RuleTable& table, Symbol x, std::vector<Symbol> words) {
    table_ = &table;
    x_ = x;
    words_ = std::move(words);
    from_.assign(words_.size(), {});
  }
  void add(Span span, Part part) { from_[span.begin].emplace_back(span.end, part); }
  // Other words that a span may be read as.
  void add_variant(Span span, std::vector<Symbol> words, std::uint32_t number) {
    variants_.resize(words_.size());
    variants_[span.begin].push_back({span.end, std::move(words), number});
  }

  // Calls take(node of the trie, parts of the variables, uses) for each way in which words, variants and variables make
  // up the span. At least one of them is a variable or a variant. `uses` is what uses_of(word) allows for all words,
  // and `uses` to begin with.
  template <class UsesOf, class Take>
  void visit(Span span, std::uint8_t uses, const UsesOf& uses_of, const Take& take) {
    extend(table_->root(), span.begin, span.end, uses, uses_of, take);
  }

  // The numbers of the variants in the match that is being taken.
  const std::vector<std::uint32_t>& read() const { return read_; }

 private:
  struct Variant {
    std::uint32_t end;
    std::vector<Symbol> words;
    std::uint32_t number;
  };

  // Follows the trie from `node`, which has matched the words before `at`.
  template <class UsesOf, class Take>
  void extend(RuleTable::Node node, std::uint32_t at, std::uint32_t end, std::uint8_t uses, const UsesOf& uses_of,
              const Take& take) {
    if (at == end) {
      if (!gaps_.empty() || !read_.empty()) take(node, gaps_, uses);
      return;
    }
    if (!variants_.empty()) extend_by_variants(node, at, end, uses, uses_of, take);
    if (words_[at] != Symbols::kNone) {
      const RuleTable::Node child = table_->child(node, words_[at]);
      if (child != RuleTable::kNoNode)
        extend(child, at + 1, end, static_cast<std::uint8_t>(uses & uses_of(at)), uses_of, take);
    }
    const RuleTable::Node child = table_->child(node, nonterminal(x_));
    if (child == RuleTable::kNoNode) return;
    for (std::size_t i = 0; i < from_[at].size(); ++i) {
      const auto [gap_end, part] = from_[at][i];
      if (gap_end > end) continue;
      gaps_.push_back(part);
      extend(child, gap_end, end, uses, uses_of, take);
      gaps_.pop_back();
    }
  }

  template <class UsesOf, class Take>
  void extend_by_variants(RuleTable::Node node, std::uint32_t at, std::uint32_t end, std::uint8_t uses,
                          const UsesOf& uses_of, const Take& take) {
    for (const Variant& variant : variants_[at]) {
      if (variant.end > end) continue;
      RuleTable::Node child = node;
      for (std::size_t i = 0; i < variant.words.size() && child != RuleTable::kNoNode; ++i)
        child = table_->child(child, variant.words[i]);
      if (child == RuleTable::kNoNode) continue;
      read_.push_back(variant.number);
      extend(child, variant.end, end, uses, uses_of, take);
      read_.pop_back();
    }
  }

  const RuleTable* table_ = nullptr;
  Symbol x_ = Symbols::kNone;
  std::vector<Symbol> words_;
  std::vector<std::vector<std::pair<std::uint32_t, Part>>> from_;  // by first word: last + 1, and the part
  std::vector<std::vector<Variant>> variants_;                     // by first word; none at all if there are none
  std::vector<Part> gaps_;                                         // of the walk at hand
  std::vector<std::uint32_t> read_;                                // likewise: variants
};

}  // namespace treeglot
