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

class LexicalTable {
 public:
  static constexpr Symbol kNull = 0xffffffffu;

  // w(e|f) = links of f with e over links of f; a word without links has one with NULL.
  explicit LexicalTable(const Bitext& bitext);

  struct Both {
    float target_given_source = 0, source_given_target = 0;
  };
  Both weight(Symbol source, Symbol target) const;                       // 0 for words that were never linked
  const std::vector<LexicalEntry>& entries() const { return entries_; }  // sorted by source, then target

 private:
  std::vector<LexicalEntry> entries_;
  HashIndex index_;
};

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
