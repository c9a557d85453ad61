#include "rules/ghkm_frontier.h"

namespace treeglot {

void ForestFrontier::assign(const ParseForest& forest, const Frontier& links, const Structures* structures) {
  const std::size_t nodes = forest.graph().nodes();
  targets_.assign(nodes, {});
  for (auto node = static_cast<NodeId>(forest.words()); node < nodes; ++node) {
    Span target = links.tight_target(forest.span(node));
    if (target.empty()) continue;
    if (node == forest.graph().goal()) target = {0, static_cast<std::uint32_t>(links.target_length())};
    if (structures != nullptr && structures->of(target).kind == Structure::Kind::ill_formed) continue;
    targets_[node] = target;
  }
}

}  // namespace treeglot
