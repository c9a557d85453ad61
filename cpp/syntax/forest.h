// A packed parse forest: a hypergraph whose nodes are labelled spans and words, with a score for every edge.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/span.h"
#include "base/strings.h"
#include "graph/rewrite.h"

namespace treeglot {

// What a parser's edge scores are (natural logarithms all). Extraction wants conditional ones.
enum class ScoreKind : std::uint8_t {
  conditional,  // log P(tails | head), as a PCFG's
  posterior,    // log of the edge's posterior, as a max-rule parser's (Egret)
  arbitrary,    // any log score
};

// Words are nodes too. Word i is node i, over [i, i + 1), and its label is the word. It has one edge without tails,
// which scores 0. So every leaf of a fragment is a node, and words and constituents can be mixed below one head. The
// tails of an edge cover its head's span from left to right; every node has an edge, so every node has a derivation.
// Two nodes may have the same label and span (a parser may tell them apart by what it does not print). The goal is TOP,
// over all words. An unparsed sentence is a forest with words and no goal: parsed() is false, its graph has word nodes
// alone.
class ParseForest {
 public:
  // Refuses what is not a forest over its words.
  ParseForest(Hypergraph graph, Strings labels, std::vector<Span> spans, std::vector<double> scores, ScoreKind kind);

  const Hypergraph& graph() const { return graph_; }
  std::string_view label(NodeId node) const { return labels_[node]; }
  Span span(NodeId node) const { return spans_[node]; }
  bool is_word(NodeId node) const { return node < words_; }
  double score(EdgeId edge) const { return scores_[edge]; }
  std::span<const double> scores() const { return scores_; }
  ScoreKind kind() const { return kind_; }
  bool parsed() const { return graph_.goal() != kNoNode; }

  std::size_t words() const { return words_; }
  std::string_view word(std::size_t position) const { return labels_[position]; }

  const Strings& labels() const { return labels_; }
  std::span<const Span> spans() const { return spans_; }

  friend bool operator==(const ParseForest&, const ParseForest&) = default;

 private:
  Hypergraph graph_;
  Strings labels_;
  std::vector<Span> spans_;
  std::vector<double> scores_;
  ScoreKind kind_;
  std::size_t words_ = 0;
};

// The forest on a graph that a stage made: labels, spans and scores are those that the nodes and edges had before.
ParseForest remapped(Mapped graph, const Strings& labels, std::span<const Span> spans, std::span<const double> scores,
                     ScoreKind kind);

// Nodes and edges in, a forest out. Words come first, all else in any order.
class ForestBuilder {
 public:
  void add_word(std::string_view word);  // and its edge
  NodeId add_node(std::string_view label, Span span) {
    labels_.append(label);
    spans_.push_back(span);
    return static_cast<NodeId>(spans_.size() - 1);
  }
  std::size_t add_edge(NodeId head, std::span<const NodeId> tails, double score) {  // its number
    heads_.push_back(head);
    tails_.insert(tails_.end(), tails.begin(), tails.end());
    first_tail_.push_back(static_cast<std::uint32_t>(tails_.size()));
    scores_.push_back(score);
    return scores_.size() - 1;
  }

  Span span(NodeId node) const { return spans_[node]; }
  double& score(std::size_t edge) { return scores_[edge]; }
  LooseEdges edges() const { return {spans_.size(), heads_, first_tail_, tails_}; }
  ParseForest finish(NodeId goal, ScoreKind kind) const;  // kNoNode: no parse. Refuses cycles
  void clear();                                           // keeps its memory

 private:
  Strings labels_;
  std::vector<Span> spans_;
  std::vector<NodeId> heads_, tails_;
  std::vector<std::uint32_t> first_tail_ = {0};
  std::vector<double> scores_;
};

}  // namespace treeglot
