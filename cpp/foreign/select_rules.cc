#include "foreign/select_rules.h"

#include <algorithm>

#include "decode/rule_cache.h"

namespace treeglot {
namespace {

using Nodes = std::vector<RuleTable::Node>;

// Marks the trie's nodes that lead along symbols of one sentence, and along nonterminals.
void mark(const RuleTable& table, std::span<const std::string> sentence, std::vector<bool>& marked) {
  std::vector<Symbol> symbols;
  for (const std::string& word : sentence)
    if (const Symbol symbol = table.source_words().find(word); symbol != Symbols::kNone) symbols.push_back(symbol);
  std::ranges::sort(symbols);
  symbols.erase(std::unique(symbols.begin(), symbols.end()), symbols.end());
  Nodes open = {RuleTable::kRoot};
  while (!open.empty()) {
    const RuleTable::Node node = open.back();
    open.pop_back();
    marked[node] = true;
    if (!table.has_children(node)) continue;
    for (const Symbol symbol : symbols)
      if (const auto child = table.child(node, symbol); child != RuleTable::kNoNode) open.push_back(child);
    const auto [first, last] = table.nonterminal_children(node);
    for (auto child = first; child < last; ++child) open.push_back(child);
  }
}

}  // namespace

std::vector<RuleId> select_rules(const FeatureSet& features, std::span<const std::pair<std::string, float>> weights,
                                 const RuleSelection& selection) {
  const RuleTable& table = features.table();
  std::vector<float> values(features.space().names().size(), 0.0f);
  for (const auto& [name, weight] : weights)
    if (const Symbol id = features.space().names().find(name); id != Symbols::kNone) values[id] = weight;
  std::vector<bool> marked(table.nodes(), !selection.filtered);
  for (const auto& sentence : selection.sentences) mark(table, sentence, marked);
  const Scorer scorer(features.make(), std::move(values));
  RuleCache cache(table, features.space(), scorer, selection.per_source);
  std::vector<RuleId> out;
  for (RuleTable::Node node = 0; node < table.nodes(); ++node) {
    if (!marked[node] || table.rules_begin(node) == table.rules_end(node)) continue;
    for (const RuleCache::Group& group : cache.at(node))
      for (const Alternative& alternative : group.alternatives) out.push_back(alternative.rule);
    cache.trim();
  }
  std::ranges::sort(out);
  return out;
}

}  // namespace treeglot
