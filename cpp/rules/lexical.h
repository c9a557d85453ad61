// Word translation probabilities from the links of a bitext, and the lexical weights made of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rules/bitext.h"

namespace treeglot {

struct LexicalEntry {
  Symbol source, target;  // kNull for a word without links
  float target_given_source, source_given_target;
};

// How often two words are linked; in parts of an occurrence if the bitext is united.
struct LinkCount {
  Symbol source, target;  // kNull for a word without links
  std::uint64_t count;
};

// All of them, sorted by source, then target.
std::vector<LinkCount> count_links(const Bitext& bitext);

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
  void fill_slots();  // with all entries

  // A weight is found with one access to memory.
  struct Slot {
    std::uint64_t key = kNoKey;  // both words
    Both both;
  };
  static constexpr std::uint64_t kNoKey = ~std::uint64_t{0};  // NULL is not linked to NULL

  std::size_t place(std::uint64_t key) const;

  std::vector<LexicalEntry> entries_;
  std::vector<Slot> slots_;  // a power of two, at most half of them taken
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

struct LexicalWeights {
  double target_given_source = 1, source_given_target = 1;
};

// p_lex in both directions ("Phrase pairs" of the common page). Each word of a side has the mean over its links, or the
// weight with NULL if it has none. A thread has its own, for the memory it reuses.
class LexicalMeans {
 public:
  // The sides; kNull stands for symbols without lexical weight.
  std::vector<Symbol> source, target;

  void start() {
    source_means_.assign(source.size(), {});
    target_means_.assign(target.size(), {});
  }
  // A link between these places, whose words have these weights.
  void add(std::size_t s, std::size_t t, LexicalTable::Both weight) {
    source_means_[s].sum += weight.source_given_target;
    ++source_means_[s].links;
    target_means_[t].sum += weight.target_given_source;
    ++target_means_[t].links;
  }
  // weight(source, target) gives those of words with NULL.
  template <class Weight>
  LexicalWeights finish(const Weight& weight) const {
    constexpr Symbol kNull = LexicalTable::kNull;
    LexicalWeights out;
    for (std::size_t s = 0; s < source.size(); ++s) {
      if (source[s] == kNull) continue;
      out.source_given_target *= source_means_[s].links == 0 ? weight(source[s], kNull).source_given_target
                                                             : source_means_[s].sum / source_means_[s].links;
    }
    for (std::size_t t = 0; t < target.size(); ++t) {
      if (target[t] == kNull) continue;
      out.target_given_source *= target_means_[t].links == 0 ? weight(kNull, target[t]).target_given_source
                                                             : target_means_[t].sum / target_means_[t].links;
    }
    return out;
  }

 private:
  struct Mean {
    double sum = 0;
    std::uint32_t links = 0;
  };
  std::vector<Mean> source_means_, target_means_;
};

// The same of rules as codes.
class LexicalScorer {
 public:
  explicit LexicalScorer(const LexicalTable& table) : table_(table) {}

  LexicalWeights operator()(std::string_view source, std::string_view target, std::string_view alignment);

 private:
  const LexicalTable& table_;
  LexicalMeans means_;
  std::string last_source_;
};

// A product of many small weights stays positive, so that it has a logarithm.
inline float positive(double weight) { return std::max(static_cast<float>(weight), std::numeric_limits<float>::min()); }

}  // namespace treeglot
