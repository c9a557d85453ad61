// Word translation probabilities from the links of a bitext, and the lexical weights made of them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/hash_index.h"
#include "rules/bitext.h"

namespace treeglot {

struct LexicalEntry {
  Symbol source, target;  // kNull for a word without links
  float target_given_source, source_given_target;
};

// How often two words are linked.
struct LinkCount {
  Symbol source, target;  // kNull for a word without links
  std::uint64_t count;
};

class LexicalTable {
 public:
  static constexpr Symbol kNull = 0xffffffffu;

  // w(e|f) = links of f with e over links of f; a word without links has one with NULL.
  explicit LexicalTable(const Bitext& bitext);
  // The same, from the counts of links in any order, each pair of words once.
  explicit LexicalTable(std::vector<LinkCount> counts);
  // From the entries of a table.
  explicit LexicalTable(std::span<const LexicalEntry> entries);

  struct Both {
    float target_given_source = 0, source_given_target = 0;
  };
  Both weight(Symbol source, Symbol target) const;                       // 0 for words that were never linked
  const std::vector<LexicalEntry>& entries() const { return entries_; }  // sorted by source, then target

 private:
  void add(const LexicalEntry& entry);

  std::vector<LexicalEntry> entries_;
  HashIndex index_;
};

// Calls take(source, target) for the links of a sentence pair, those of words without links with NULL among them.
template <class Take>
void visit_links(std::span<const Symbol> source, std::span<const Symbol> target, std::span<const Link> links,
                 const Take& take) {
  std::vector<bool> linked_source(source.size(), false), linked_target(target.size(), false);
  for (const Link link : links) {
    take(source[link.source], target[link.target]);
    linked_source[link.source] = linked_target[link.target] = true;
  }
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (!linked_source[i]) take(source[i], LexicalTable::kNull);
  }
  for (std::size_t i = 0; i < target.size(); ++i) {
    if (!linked_target[i]) take(LexicalTable::kNull, target[i]);
  }
}

// p_lex of rules in both directions ("Phrase pairs" of the common page): for each word of a side the mean over its
// links, the weight with NULL when it has none. A thread has its own, for the memory it reuses.
class LexicalScorer {
 public:
  explicit LexicalScorer(const LexicalTable& table) : table_(table) {}

  struct Weights {
    double target_given_source = 1, source_given_target = 1;
  };
  Weights operator()(std::string_view source, std::string_view target, std::string_view alignment);  // codes

 private:
  struct Mean {
    double sum = 0;
    std::uint32_t links = 0;
  };
  const LexicalTable& table_;
  std::vector<Symbol> source_, target_;
  std::vector<Mean> source_means_, target_means_;
};

}  // namespace treeglot
