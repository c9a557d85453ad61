// What the n-grams of a derivation's yield are worth, as scores of edges: hope and fear of a whole hypergraph.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/hash_index.h"
#include "graph/derivation.h"
#include "graph/hypergraph.h"

namespace treeglot {

// A yield gains `per_word` for each word. Each of its n-grams gains by_order[n - 1] times the n-gram's share.
class NgramGains {
 public:
  NgramGains(double per_word, std::vector<double> by_order);

  // Adds `share` to that of each n-gram of the sentence, once for a sentence; no share is above 1. Words are ≥ 0.
  void add(std::span<const std::int32_t> sentence, double share = 1);

  std::size_t order() const { return by_order_.size(); }
  double per_word() const { return per_word_; }
  struct Ending {
    double gain = 0;        // of the n-grams that end where `words` end and have `least` words or more
    std::size_t words = 0;  // of the longest of them all that a sentence has
  };
  Ending ending(std::span<const std::int32_t> words, std::size_t least) const;

 private:
  struct Ngram {
    std::uint32_t rest;  // what follows its first word; kNone: nothing
    std::int32_t word;
    friend bool operator==(const Ngram&, const Ngram&) = default;
  };
  static std::uint64_t hash(const Ngram& ngram);

  double per_word_;
  std::vector<double> by_order_;
  struct Share {
    double value = 0;
    std::uint32_t last = 0;  // the sentence that added to it last, counted from 1
  };
  std::vector<Ngram> ngrams_;
  std::vector<Share> shares_;  // by n-gram
  HashIndex index_;            // of ngrams_
  std::uint32_t sentences_ = 0;
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
