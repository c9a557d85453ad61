// What the n-grams of a derivation's yield are worth, as scores of edges: hope and fear of a whole hypergraph.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/hash_index.h"
#include "graph/derivation.h"
#include "graph/hypergraph.h"

namespace treeglot {

// A yield gains `per_word` for each word and by_order[n - 1] for each of its n-grams that was added.
class NgramGains {
 public:
  NgramGains(double per_word, std::vector<double> by_order);

  void add(std::span<const std::int32_t> sentence);  // all its n-grams; words are ≥ 0

  std::size_t order() const { return by_order_.size(); }
  double per_word() const { return per_word_; }
  // Of the n-grams that end where `words` end and have `least` words or more.
  double ending(std::span<const std::int32_t> words, std::size_t least) const;

 private:
  struct Ngram {
    std::uint32_t rest;  // what follows its first word; kNone: nothing
    std::int32_t word;
    friend bool operator==(const Ngram&, const Ngram&) = default;
  };
  static std::uint64_t hash(const Ngram& ngram);

  double per_word_;
  std::vector<double> by_order_;
  std::vector<Ngram> ngrams_;
  HashIndex index_;  // of ngrams_
};

struct GainedGraph {
  Mapped mapped;
  std::vector<double> scores;  // by edge
};

// The same derivations, each with its score and its gain: nodes are split by the words at the ends of their yields. A
// node keeps the best `beam` of its parts; 0: all. The goal has an edge of its own for each of its parts. Refuses
// yields that do not have every tail once.
GainedGraph with_gains(const Hypergraph& graph, std::span<const double> scores, const Yields& yields,
                       const NgramGains& gains, std::uint32_t beam);

}  // namespace treeglot
