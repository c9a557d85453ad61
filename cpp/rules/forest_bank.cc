#include "rules/forest_bank.h"

#include "base/thread_pool.h"
#include "syntax/forest_stages.h"

namespace treeglot {

void ForestBank::append(std::span<const ParseForest* const> forests, unsigned threads) {
  const auto keep = [&](std::size_t i) {
    std::optional<ParseForest> kept;
    if (forests[i] != nullptr && forests[i]->parsed()) kept = prune_conditional(*forests[i], margin_);
    return kept;
  };
  ordered_map(
      forests.size(), threads, keep,
      [&](std::size_t i, std::optional<ParseForest>&& kept) {
        if (forests[i] != nullptr) {
          for (std::size_t node = forests[i]->words(); node < forests[i]->graph().nodes(); ++node)
            labels_.intern(forests[i]->label(static_cast<NodeId>(node)));
        }
        forests_.push_back(std::move(kept));
      },
      64);
}

void DependencyBank::append(const Dependency& dependency) {
  heads_.insert(heads_.end(), dependency.heads().begin(), dependency.heads().end());
  for (std::size_t word = 0; word < dependency.size(); ++word)
    tags_.push_back(dependency.tags().empty() ? Symbols::kNone : tag_names_.intern(dependency.tags()[word]));
  ends_.push_back(heads_.size());
}

}  // namespace treeglot
