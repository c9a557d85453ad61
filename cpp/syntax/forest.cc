#include "syntax/forest.h"

#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/error.h"

namespace treeglot {
namespace {

[[noreturn]] void refuse(const std::string& problem) { throw std::invalid_argument(problem); }

void check_count(const char* name, std::size_t found, const char* what, std::size_t wanted) {
  if (found != wanted) {
    refuse("a forest with " + std::to_string(wanted) + " " + what + " has " + std::to_string(found) + " " + name);
  }
}

std::string bracketed(Span span) {
  std::string out = "[";  // not "[" + …: GCC 12 warns wrongly of an overlap (bug 105651)
  return out.append(std::to_string(span.begin)).append(",").append(std::to_string(span.end)).append(")");
}

std::string named(const ParseForest& forest, NodeId node) {
  return "node " + std::to_string(node) + " " + quoted(forest.label(node)) + " over " + bracketed(forest.span(node));
}

void check_word(const ParseForest& forest, NodeId node) {
  const EdgeId edge = forest.graph().edges_begin(node);
  if (forest.span(node) != Span{node, node + 1})
    refuse(named(forest, node) + " has an edge without tails; expected word " + std::to_string(node));
  if (forest.graph().edges_end(node) != edge + 1 || forest.score(edge) != 0.0)
    refuse(named(forest, node) + " is a word: expected one edge, without tails, that scores 0");
}

void check_tails(const ParseForest& forest, NodeId node, std::span<const NodeId> tails) {
  std::uint32_t at = forest.span(node).begin;
  for (const NodeId tail : tails) {
    if (forest.span(tail).begin != at) {
      refuse("an edge into " + named(forest, node) + " has the tail " + named(forest, tail) +
             "; expected one that begins at " + std::to_string(at));
    }
    at = forest.span(tail).end;
  }
  if (tails.empty()) refuse(named(forest, node) + " has an edge without tails; expected words before all other nodes");
  if (at != forest.span(node).end)
    refuse("the tails of an edge into " + named(forest, node) + " end at " + std::to_string(at));
}

}  // namespace

ParseForest::ParseForest(Hypergraph graph, Strings labels, std::vector<Span> spans, std::vector<double> scores,
                         ScoreKind kind)
    : graph_(std::move(graph)),
      labels_(std::move(labels)),
      spans_(std::move(spans)),
      scores_(std::move(scores)),
      kind_(kind) {
  check_count("labels", labels_.size(), "nodes", graph_.nodes());
  check_count("spans", spans_.size(), "nodes", graph_.nodes());
  check_count("scores", scores_.size(), "edges", graph_.edges());

  for (double& score : scores_) score += 0.0;  // no −0, so that equal forests have equal bytes
  for (NodeId node = 0; node < graph_.nodes(); ++node, ++words_) {
    const EdgeId edge = graph_.edges_begin(node);
    if (edge == graph_.edges_end(node) || !graph_.tails(edge).empty()) break;
    check_word(*this, node);
  }
  for (NodeId node = 0; node < graph_.nodes(); ++node) {
    if (labels_[node].empty()) refuse("node " + std::to_string(node) + " has an empty label");
    if (is_word(node)) continue;
    if (!parsed()) refuse(named(*this, node) + " in an unparsed forest: expected words alone");
    if (graph_.edges_begin(node) == graph_.edges_end(node)) refuse(named(*this, node) + " has no edges");
    for (EdgeId edge = graph_.edges_begin(node); edge < graph_.edges_end(node); ++edge) {
      if (!std::isfinite(scores_[edge])) refuse("an edge into " + named(*this, node) + " has no finite score");
      check_tails(*this, node, graph_.tails(edge));
    }
  }
  if (parsed()) {
    const NodeId goal = graph_.goal();
    if (is_word(goal)) refuse("the goal, " + named(*this, goal) + ", is a word");
    if (spans_[goal] != Span{0, static_cast<std::uint32_t>(words_)})
      refuse("the goal, " + named(*this, goal) + ", does not cover the " + std::to_string(words()) + " words");
  }
}

ParseForest remapped(Mapped graph, const Strings& labels, std::span<const Span> spans, std::span<const double> scores,
                     ScoreKind kind) {
  Strings new_labels;
  std::vector<Span> new_spans;
  std::vector<double> new_scores;
  new_labels.reserve(graph.node_map.size(), labels.bytes().size());
  new_spans.reserve(graph.node_map.size());
  new_scores.reserve(graph.edge_map.size());
  for (const NodeId node : graph.node_map) {
    new_labels.append(labels[node]);
    new_spans.push_back(spans[node]);
  }
  for (const EdgeId edge : graph.edge_map) new_scores.push_back(scores[edge]);
  return ParseForest(std::move(graph.graph), std::move(new_labels), std::move(new_spans), std::move(new_scores), kind);
}

void ForestBuilder::add_word(std::string_view word) {
  const auto at = static_cast<std::uint32_t>(spans_.size());
  add_edge(add_node(word, {at, at + 1}), {}, 0.0);
}

void ForestBuilder::clear() {
  labels_.clear();
  spans_.clear();
  heads_.clear();
  tails_.clear();
  first_tail_.resize(1);
  scores_.clear();
}

ParseForest ForestBuilder::finish(NodeId goal, ScoreKind kind) const {
  return remapped(assemble(edges(), goal), labels_, spans_, scores_, kind);
}

}  // namespace treeglot
