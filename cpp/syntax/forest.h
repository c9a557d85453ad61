// A packed parse forest: a hypergraph whose nodes are labelled spans and words, with a score for every edge.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/span.h"
#include "base/strings.h"
#include "graph/hypergraph.h"

namespace treeglot {

// What a parser's edge scores are (natural logarithms all). Extraction wants conditional ones.
enum class ScoreKind : std::uint8_t {
  conditional,  // log P(tails | head), as a PCFG's
  posterior,    // log of the edge's posterior, as a max-rule parser's (Egret)
  arbitrary,    // any log score
};

// Words are nodes too: word i is a node over [i, i + 1) whose label is the word, with one edge that has no tails and
// scores 0. So every leaf of a fragment is a node, and words and constituents can be mixed below one head.
// The goal is TOP. An unparsed sentence is a forest with words and no goal: parsed() is false, its graph has word
// nodes alone.
class ParseForest {
 public:
  ParseForest(Hypergraph graph, Strings labels, std::vector<Span> spans, std::vector<std::uint32_t> word_nodes,
              std::vector<double> scores, ScoreKind kind);  // refuses what is not a forest over its words

  const Hypergraph& graph() const { return graph_; }
  std::string_view label(NodeId node) const { return labels_[node]; }
  Span span(NodeId node) const { return spans_[node]; }
  bool is_word(NodeId node) const { return is_word_[node]; }
  double score(EdgeId edge) const { return scores_[edge]; }
  std::span<const double> scores() const { return scores_; }
  ScoreKind kind() const { return kind_; }

  std::size_t words() const { return word_nodes_.size(); }
  NodeId word_node(std::size_t position) const { return word_nodes_[position]; }

 private:
  Hypergraph graph_;
  Strings labels_;
  std::vector<Span> spans_;
  std::vector<std::uint32_t> word_nodes_;
  std::vector<bool> is_word_;
  std::vector<double> scores_;
  ScoreKind kind_;
};

}  // namespace treeglot
