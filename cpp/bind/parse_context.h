// Parses of source sentences, as Python gives them to joint models.
#pragma once

#include <optional>
#include <variant>

#include "neural/parse_context.h"

namespace treeglot {

using SourceParse = std::variant<const Tree*, const ParseForest*, const Dependency*>;

inline ParseContext to_context(const std::optional<SourceParse>& parse) {
  return parse ? std::visit([](const auto* given) { return parse_context(*given); }, *parse) : ParseContext{};
}

}  // namespace treeglot
