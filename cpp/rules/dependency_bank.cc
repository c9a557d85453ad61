#include "rules/dependency_bank.h"

namespace treeglot {

void DependencyBank::append(const Dependency& dependency) {
  heads_.insert(heads_.end(), dependency.heads().begin(), dependency.heads().end());
  for (std::size_t word = 0; word < dependency.size(); ++word)
    tags_.push_back(dependency.tags().empty() ? Symbols::kNone : tag_names_.intern(dependency.tags()[word]));
  ends_.push_back(heads_.size());
}

}  // namespace treeglot
