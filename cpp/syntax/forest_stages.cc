#include "syntax/forest_stages.h"

#include <span>
#include <utility>
#include <vector>

#include "graph/rewrite.h"
#include "graph/semiring.h"

namespace treeglot {

namespace {

// `scores` are what is left with: by edge of the forest, of the kind `kind`.
ParseForest pruned(const ParseForest& forest, double margin, std::span<const double> scores, ScoreKind kind) {
  return remapped(prune(forest.graph(), forest.scores(), margin), forest.labels(), forest.spans(), scores, kind);
}

}  // namespace

ParseForest prune(const ParseForest& forest, double margin) {
  return forest.parsed() ? pruned(forest, margin, forest.scores(), forest.kind()) : forest;
}

std::vector<double> conditional_scores(const ParseForest& forest) {
  std::vector<double> scores(forest.scores().begin(), forest.scores().end());
  if (forest.kind() == ScoreKind::conditional) return scores;
  const Hypergraph& graph = forest.graph();
  for (NodeId node = 0; node < graph.nodes(); ++node) {
    LogSum::Sum sum;
    for (EdgeId edge = graph.edges_begin(node); edge < graph.edges_end(node); ++edge) sum.add(forest.score(edge));
    const double total = sum.value();
    for (EdgeId edge = graph.edges_begin(node); edge < graph.edges_end(node); ++edge) scores[edge] -= total;
  }
  return scores;
}

ParseForest conditional(const ParseForest& forest) {
  return ParseForest(forest.graph(), forest.labels(), {forest.spans().begin(), forest.spans().end()},
                     conditional_scores(forest), ScoreKind::conditional);
}

ParseForest prune_conditional(const ParseForest& forest, double margin) {
  return forest.parsed() ? pruned(forest, margin, conditional_scores(forest), ScoreKind::conditional)
                         : conditional(forest);
}

}  // namespace treeglot
