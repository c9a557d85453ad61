#include "decode/match_structures.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "syntax/dependency_checks.h"
#include "syntax/structure.h"

namespace treeglot {
namespace {

std::set<std::pair<std::uint32_t, std::uint32_t>> subtrees_of(Heads heads) {
  const auto size = static_cast<std::uint32_t>(heads.size());
  std::vector<Span> spans(size);
  for (std::uint32_t word = 0; word < size; ++word) spans[word] = {word, word + 1};
  for (std::uint32_t word = 0; word < size; ++word) {
    for (std::int32_t above = heads[word]; above >= 0; above = heads[static_cast<std::size_t>(above)]) {
      Span& span = spans[static_cast<std::size_t>(above)];
      span = {std::min(span.begin, word), std::max(span.end, word + 1)};
    }
  }
  std::set<std::pair<std::uint32_t, std::uint32_t>> out;
  for (const Span span : spans) out.insert({span.begin, span.end});
  return out;
}

// The derivations of a forest whose edges are all allowed.
template <class Allowed>
TranslationForest restricted(const TranslationForest& forest, const Allowed& allowed) {
  const Hypergraph& graph = forest.graph;
  TranslationForestBuilder out;
  std::vector<NodeId> made(graph.nodes(), kNoNode), tails;
  for (NodeId node = 0; node < graph.nodes(); ++node) {
    for (EdgeId edge = graph.edges_begin(node); edge < graph.edges_end(node); ++edge) {
      tails.clear();
      for (const NodeId tail : graph.tails(edge)) tails.push_back(made[tail]);
      if (std::ranges::find(tails, kNoNode) != tails.end() || !allowed(edge)) continue;
      if (made[node] == kNoNode) made[node] = out.copy_node(forest, node);
      out.copy_edge(forest, edge, made[node], tails, forest.alternatives[edge]);
    }
  }
  return out.freeze_like(forest, graph.goal() == kNoNode ? kNoNode : made[graph.goal()]);
}

}  // namespace

TranslationForest StructureMatcher::match(const Input& input, RuleCache& cache, Glue& glue) const {
  if (input.dependency == nullptr) throw std::invalid_argument("the input has no dependency tree; expected one");
  const std::vector<std::int32_t> heads = projectivise(input.dependency->heads()).heads;
  const auto subtrees = subtrees_of(heads);
  const Structures structures(heads, true);
  const TranslationForest forest = chart_.match(input, cache, glue);
  return restricted(forest, [&](EdgeId edge) {
    const NodeId head = forest.graph.head(edge);
    const Span span = forest.spans[head];
    if (forest.labels[head] == Symbols::kNone || span.size() == 1 || subtrees.contains({span.begin, span.end}))
      return true;
    if (spans_ == TreeSpans::subtrees || (spans_ == TreeSpans::phrases && !forest.graph.tails(edge).empty()))
      return false;
    return structures.of(span).kind != Structure::Kind::ill_formed;
  });
}

}  // namespace treeglot
