#include "syntax/forest_stages.h"

#include <utility>
#include <vector>

#include "graph/rewrite.h"
#include "graph/semiring.h"

namespace treeglot {

ParseForest prune(const ParseForest& forest, double margin) {
  if (!forest.parsed()) return forest;
  Mapped pruned = prune(forest.graph(), forest.scores(), margin);
  Strings labels;
  std::vector<Span> spans;
  std::vector<double> scores;
  for (const NodeId node : pruned.node_map) {
    labels.append(forest.label(node));
    spans.push_back(forest.span(node));
  }
  for (const EdgeId edge : pruned.edge_map) scores.push_back(forest.score(edge));
  return ParseForest(std::move(pruned.graph), std::move(labels), std::move(spans), std::move(scores), forest.kind());
}

ParseForest conditional(const ParseForest& forest) {
  if (forest.kind() == ScoreKind::conditional) return forest;
  const Hypergraph& graph = forest.graph();
  std::vector<double> scores(graph.edges());
  for (NodeId node = 0; node < graph.nodes(); ++node) {
    LogSum::Sum sum;
    for (EdgeId edge = graph.edges_begin(node); edge < graph.edges_end(node); ++edge) sum.add(forest.score(edge));
    const double total = sum.value();
    for (EdgeId edge = graph.edges_begin(node); edge < graph.edges_end(node); ++edge)
      scores[edge] = forest.score(edge) - total;
  }
  return ParseForest(graph, forest.labels(), {forest.spans().begin(), forest.spans().end()}, std::move(scores),
                     ScoreKind::conditional);
}

}  // namespace treeglot
