#include "syntax/span_errors.h"

#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "graph/inside_outside.h"
#include "graph/rewrite.h"
#include "syntax/forest_stages.h"
#include "syntax/forest_trees.h"

namespace treeglot {
namespace {

constexpr double kUnits = 268435456.0;  // 2^28: sums of multiples of its inverse are exact, so equal trees stay equal

std::uint64_t key_of(Span span) { return std::uint64_t{span.begin} << 32 | span.end; }

}  // namespace

Tree fewest_span_errors(const ParseForest& forest) {
  if (!forest.parsed()) return Tree();
  const Hypergraph& graph = forest.graph();
  const std::vector<double> scores = conditional_scores(forest);
  const std::vector<double> shares = posteriors(graph, scores);
  // A tree has one edge with several tails over each of its spans of two words or more. So their posteriors add up to
  // the span's, whichever nodes and unary chains are over it.
  std::unordered_map<std::uint64_t, double> by_span;
  for (EdgeId edge = 0; edge < graph.edges(); ++edge)
    if (graph.tails(edge).size() > 1) by_span[key_of(forest.span(graph.head(edge)))] += std::exp(shares[edge]);
  std::vector<double> gains(graph.edges(), 0.0);
  for (EdgeId edge = 0; edge < graph.edges(); ++edge) {
    if (graph.tails(edge).size() > 1)
      gains[edge] = std::round((by_span[key_of(forest.span(graph.head(edge)))] - 0.5) * kUnits) / kUnits;
  }
  return viterbi_tree(
      remapped(prune(graph, gains, 0.0), forest.labels(), forest.spans(), scores, ScoreKind::conditional));
}

}  // namespace treeglot
