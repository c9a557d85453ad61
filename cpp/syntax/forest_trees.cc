#include "syntax/forest_trees.h"

#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <tuple>

#include "base/error.h"
#include "base/limits.h"
#include "base/symbols.h"
#include "graph/derivation.h"
#include "graph/inside_outside.h"
#include "graph/kbest.h"
#include "graph/rewrite.h"
#include "graph/semiring.h"

namespace treeglot {

Tree derived_tree(const ParseForest& forest, std::span<const EdgeId> edges) {
  const Hypergraph& graph = forest.graph();
  TreeBuilder builder;
  std::vector<std::size_t> missing;  // children that the open nodes still wait for
  for (const EdgeId edge : edges) {
    const NodeId head = graph.head(edge);
    if (forest.is_word(head)) {
      builder.word(forest.label(head));
    } else {
      builder.open(forest.label(head));
      missing.push_back(graph.tails(edge).size());
      continue;
    }
    while (!missing.empty() && --missing.back() == 0) {
      builder.close();
      missing.pop_back();
    }
  }
  return builder.finish();
}

std::vector<EdgeId> chosen_edges(const ParseForest& forest, std::span<const EdgeId> edges) {
  if (!forest.parsed()) return {};
  const Hypergraph& graph = forest.graph();
  std::vector<EdgeId> taken = best_derivations(graph, forest.scores()).edge;
  std::vector<std::uint8_t> given(graph.nodes(), 0);
  for (const EdgeId edge : edges) {
    if (edge >= graph.edges())
      throw std::invalid_argument("edge " + std::to_string(edge) + " of a forest with " +
                                  std::to_string(graph.edges()));
    const NodeId head = graph.head(edge);
    if (given[head]++ != 0)
      throw std::invalid_argument("two edges into " + quoted(forest.label(head)) + "; expected one");
    taken[head] = edge;
  }
  std::vector<EdgeId> preorder;
  std::vector<NodeId> open = {graph.goal()};
  while (!open.empty()) {
    preorder.push_back(taken[open.back()]);
    open.pop_back();
    const auto tails = graph.tails(preorder.back());
    open.insert(open.end(), tails.rbegin(), tails.rend());
  }
  return preorder;
}

Tree viterbi_tree(const ParseForest& forest) {
  const std::optional<Derivation> best = viterbi(forest.graph(), forest.scores());
  return best ? derived_tree(forest, best->edges) : Tree();
}

std::vector<ScoredTree> kbest_trees(const ParseForest& forest, std::size_t k) {
  std::vector<ScoredTree> trees;
  KBest best(forest.graph(), forest.scores());
  while (trees.size() < k) {
    const std::optional<Derivation> derivation = best.next();
    if (!derivation) break;
    trees.emplace_back(derivation->score, derived_tree(forest, derivation->edges));
  }
  return trees;
}

std::vector<Tree> sample_trees(const ParseForest& forest, std::size_t number, std::uint64_t seed) {
  std::vector<Tree> trees;
  check_at_most("the number of samples", number, kMostSamples);
  if (!forest.parsed()) return std::vector<Tree>(number);
  for (const Derivation& derivation : sample(forest.graph(), forest.scores(), number, seed))
    trees.push_back(derived_tree(forest, derivation.edges));
  return trees;
}

double count_trees(const ParseForest& forest) {
  if (!forest.parsed()) return 0.0;
  return inside<Count>(forest.graph(), [](EdgeId) { return 1.0; })[forest.graph().goal()];
}

ParseForest forest_of(const Tree& tree) {
  if (tree.empty()) throw std::invalid_argument("the empty tree has no words: there is no forest of it");
  ForestBuilder builder;
  for (std::size_t word = 0; word < tree.words(); ++word) builder.add_word(tree.word(word));
  std::vector<NodeId> ids(tree.size()), below;
  for (auto node = static_cast<std::uint32_t>(tree.size()); node-- > 0;) {  // children before parents
    if (tree.is_word(node)) {
      ids[node] = tree.span(node).begin;
      continue;
    }
    below.clear();
    for (std::uint32_t child = tree.first_child(node); child != tree.end(node); child = tree.end(child))
      below.push_back(ids[child]);
    ids[node] = builder.add_node(tree.label(node), tree.span(node));
    builder.add_edge(ids[node], below, 0.0);
  }
  return builder.finish(ids[0], ScoreKind::conditional);
}

namespace {

using SpanKey = std::pair<std::uint32_t, std::uint32_t>;
SpanKey key(Span span) { return {span.begin, span.end}; }

bool is_unary(const Tree& tree, std::uint32_t node) {
  const std::uint32_t child = tree.first_child(node);
  return !tree.is_word(node) && !tree.is_word(child) && tree.end(child) == tree.end(node);
}

// The spans over which the unary edges of all trees, put together, have a cycle.
std::set<SpanKey> cyclic_spans(std::span<const ScoredTree> trees) {
  using Labelled = std::pair<std::string_view, SpanKey>;
  std::map<Labelled, NodeId> ids;
  std::vector<SpanKey> spans;
  std::set<std::pair<NodeId, NodeId>> edges;
  for (const auto& [score, tree] : trees) {
    const auto id = [&, &t = tree](std::uint32_t node) {
      const auto [at, is_new] = ids.try_emplace({t.label(node), key(t.span(node))}, static_cast<NodeId>(ids.size()));
      if (is_new) spans.push_back(key(t.span(node)));
      return at->second;
    };
    for (std::uint32_t node = 0; node < tree.size(); ++node) {
      if (is_unary(tree, node)) edges.emplace(id(node), id(tree.first_child(node)));
    }
  }
  std::vector<std::vector<NodeId>> parents(ids.size());
  std::vector<std::uint32_t> children(ids.size(), 0);
  for (const auto& [parent, child] : edges) {
    parents[child].push_back(parent);
    ++children[parent];
  }
  std::vector<NodeId> ready;  // Kahn's algorithm, from below: what is never ready is on or above a cycle of its span
  for (NodeId node = 0; node < children.size(); ++node) {
    if (children[node] == 0) ready.push_back(node);
  }
  while (!ready.empty()) {
    const NodeId node = ready.back();
    ready.pop_back();
    for (const NodeId parent : parents[node]) {
      if (--children[parent] == 0) ready.push_back(parent);
    }
  }
  std::set<SpanKey> cyclic;
  for (NodeId node = 0; node < children.size(); ++node) {
    if (children[node] > 0) cyclic.insert(spans[node]);
  }
  return cyclic;
}

void check_kbest(std::span<const ScoredTree> trees) {
  if (trees.empty()) throw std::invalid_argument("an empty k-best list; expected at least one tree");
  const Tree& first = trees[0].second;
  for (std::size_t i = 0; i < trees.size(); ++i) {
    const auto& [score, tree] = trees[i];
    const auto refuse = [&](const char* why) {
      throw std::invalid_argument("tree " + std::to_string(i) + " of a k-best list " + why);
    };
    if (tree.empty()) refuse("is empty");
    if (!std::isfinite(score)) refuse("has no finite log probability");
    bool same = tree.words() == first.words();
    for (std::size_t word = 0; same && word < tree.words(); ++word) same = tree.word(word) == first.word(word);
    if (!same) refuse("has other words than the first");
  }
}

// By node: the unary steps below it.
std::vector<std::uint32_t> unary_heights(const Tree& tree) {
  std::vector<std::uint32_t> out(tree.size(), 0);
  for (auto node = static_cast<std::uint32_t>(tree.size()); node-- > 0;)
    if (is_unary(tree, node)) out[node] = out[tree.first_child(node)] + 1;
  return out;
}

}  // namespace

ParseForest forest_of_kbest(std::span<const ScoredTree> trees, std::string_view top) {
  check_kbest(trees);
  const std::set<SpanKey> cyclic = cyclic_spans(trees);
  LogSum::Sum total;
  for (const auto& [score, tree] : trees) total.add(score);

  ForestBuilder builder;
  const std::size_t words = trees[0].second.words();
  for (std::size_t word = 0; word < words; ++word) builder.add_word(trees[0].second.word(word));
  std::vector<LogSum::Sum> sums(words);  // by edge; words are in every tree
  std::map<std::tuple<std::string_view, SpanKey, std::uint32_t>, NodeId> nodes;
  std::map<std::vector<NodeId>, std::size_t> edges;  // the head and the tails
  const auto add_to_edge = [&](const std::vector<NodeId>& edge, double score) {
    const auto [at, is_new] = edges.try_emplace(edge, sums.size());
    if (is_new) {
      builder.add_edge(edge[0], std::span(edge).subspan(1), 0.0);
      sums.emplace_back();
    }
    sums[at->second].add(score);
  };

  std::vector<std::pair<NodeId, double>> roots;
  std::vector<NodeId> edge;
  for (const auto& [score, tree] : trees) {
    std::vector<NodeId> ids(tree.size());
    const std::vector<std::uint32_t> heights = unary_heights(tree);
    for (auto node = static_cast<std::uint32_t>(tree.size()); node-- > 0;) {  // children before parents
      const Span span = tree.span(node);
      if (tree.is_word(node)) {
        ids[node] = span.begin;
        continue;
      }
      const std::uint32_t height = cyclic.contains(key(span)) ? heights[node] : 0;
      const auto [at, is_new] = nodes.try_emplace({tree.label(node), key(span), height}, 0);
      if (is_new) at->second = builder.add_node(tree.label(node), span);
      ids[node] = at->second;
      edge.assign(1, ids[node]);
      for (std::uint32_t child = tree.first_child(node); child != tree.end(node); child = tree.end(child))
        edge.push_back(ids[child]);
      add_to_edge(edge, score);
    }
    roots.emplace_back(ids[0], score);
  }
  NodeId goal = roots[0].first;
  if (std::ranges::any_of(roots, [&](const auto& root) { return root.first != goal; })) {
    goal = builder.add_node(top, trees[0].second.span(0));
    for (const auto& [root, score] : roots) add_to_edge({goal, root}, score);
  }
  for (std::size_t e = words; e < sums.size(); ++e) builder.score(e) = sums[e].value() - total.value();
  return builder.finish(goal, ScoreKind::posterior);
}

}  // namespace treeglot
