#include <algorithm>
#include <unordered_map>
#include <vector>

#include "decode/target_constraints.h"

namespace treeglot {
namespace {

using List = std::span<const Alternative>;

bool drops_tail(const TargetSide& target, std::size_t tails) {
  return static_cast<std::size_t>(std::ranges::count_if(target, [](std::int32_t symbol) { return symbol < 0; })) <
         tails;
}

// The rules without these words; nothing if one of the list drops a tail.
std::optional<std::vector<Alternative>> rules_without(List all, std::span<const std::int32_t> words,
                                                      std::size_t tails) {
  std::vector<Alternative> kept;
  for (const Alternative& rule : all) {
    if (drops_tail(rule.target, tails)) return std::nullopt;
    if (std::ranges::none_of(rule.target, [&](auto symbol) { return std::ranges::count(words, symbol) > 0; }))
      kept.push_back(rule);
  }
  return kept;
}

// The nodes that still have a derivation through edges with `lists`, as far as the goal needs them.
std::vector<bool> useful_nodes(const Hypergraph& graph, const std::vector<List>& lists) {
  std::vector<bool> derived(graph.nodes(), false), used(graph.nodes(), false);
  const auto stays = [&](EdgeId edge) {
    return !lists[edge].empty() && std::ranges::all_of(graph.tails(edge), [&](NodeId tail) { return derived[tail]; });
  };
  for (NodeId node = 0; node < graph.nodes(); ++node)
    for (EdgeId edge = graph.edges_begin(node); edge < graph.edges_end(node) && !derived[node]; ++edge)
      derived[node] = stays(edge);
  if (graph.goal() == kNoNode) return used;
  used[graph.goal()] = derived[graph.goal()];
  for (NodeId node = graph.goal() + 1; node-- > 0;)
    for (EdgeId edge = graph.edges_begin(node); edge < graph.edges_end(node) && used[node]; ++edge)
      if (stays(edge))
        for (const NodeId tail : graph.tails(edge)) used[tail] = true;
  return used;
}

}  // namespace

std::vector<bool> words_there(const TranslationForest& forest, std::span<const std::int32_t> words) {
  std::unordered_map<std::int32_t, bool> found;
  for (const std::int32_t word : words) found[word] = false;
  std::vector<bool> asked(words.empty() ? 0 : static_cast<std::size_t>(std::ranges::max(words)) + 1, false);
  for (const std::int32_t word : words) asked[static_cast<std::size_t>(word)] = true;
  std::vector<List> lists = forest.alternatives;
  std::ranges::sort(lists, {}, &List::data);
  const auto repeated = std::ranges::unique(lists, {}, &List::data);
  lists.erase(repeated.begin(), repeated.end());
  for (const List list : lists)
    for (const Alternative& rule : list)
      for (const std::int32_t symbol : rule.target)
        if (symbol >= 0 && static_cast<std::size_t>(symbol) < asked.size() && asked[static_cast<std::size_t>(symbol)])
          found[symbol] = true;
  std::vector<bool> out;
  for (const std::int32_t word : words) out.push_back(found[word]);
  return out;
}

std::optional<TranslationForest> without_words(const TranslationForest& forest, std::span<const std::int32_t> words,
                                               Glue& glue) {
  const Hypergraph& graph = forest.graph;
  std::unordered_map<const Alternative*, List> known;  // lists are shared by edges
  std::vector<List> lists;
  for (EdgeId edge = 0; edge < graph.edges(); ++edge) {
    const List all = forest.alternatives[edge];
    const auto [at, is_new] = known.try_emplace(all.data(), all);
    if (is_new) {
      std::optional<std::vector<Alternative>> kept = rules_without(all, words, graph.tails(edge).size());
      if (!kept) return std::nullopt;
      if (kept->size() < all.size()) at->second = glue.keep(std::move(*kept));
    }
    lists.push_back(at->second);
  }
  TranslationForestBuilder out;
  std::vector<NodeId> made(graph.nodes(), kNoNode), tails;
  const std::vector<bool> used = useful_nodes(graph, lists);
  for (NodeId node = 0; node < graph.nodes(); ++node) {
    if (!used[node]) continue;
    made[node] = out.copy_node(forest, node);
    for (EdgeId edge = graph.edges_begin(node); edge < graph.edges_end(node); ++edge) {
      tails.clear();
      for (const NodeId tail : graph.tails(edge)) tails.push_back(made[tail]);
      if (lists[edge].empty() || std::ranges::count(tails, kNoNode) > 0) continue;
      out.copy_edge(forest, edge, made[node], tails, lists[edge]);
    }
  }
  return out.freeze_like(forest, graph.goal() == kNoNode ? kNoNode : made[graph.goal()]);
}

}  // namespace treeglot
