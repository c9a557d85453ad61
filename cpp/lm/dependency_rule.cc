#include "lm/dependency_rule.h"

#include <stdexcept>
#include <string>

#include "lm/dependency_piece.h"

namespace treeglot {

DependencyStep score_parts(const DependencyModel& model, std::span<const std::int32_t> heads,
                           std::span<const std::variant<WordId, DependencyState>> parts, DependencyState& out) {
  if (heads.size() != parts.size())
    throw std::invalid_argument("a rule has " + std::to_string(parts.size()) + " items and " +
                                std::to_string(heads.size()) + " heads; expected one for each");
  check_rule_heads(heads);
  std::vector<DependencyItem> items;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const DependencyState* const piece = std::get_if<DependencyState>(&parts[i]);
    items.push_back({heads[i], piece == nullptr ? std::get<WordId>(parts[i]) : 0, piece});
    if (piece == nullptr) {
      check_unit(model, items.back().unit);
    } else {
      check_state(model, *piece);
    }
  }
  return score_rule(model, items, out);
}

void check_unit(const DependencyModel& model, WordId unit) {
  if (unit >= model.vocabulary().size())
    throw std::invalid_argument("the number " + std::to_string(unit) + " is no word; the model has words 0 to " +
                                std::to_string(model.vocabulary().size() - 1));
}

void check_state(const DependencyModel& model, const DependencyState& state) {
  for (const auto& [last, before] : {state.left, state.right}) {
    check_unit(model, last);
    check_unit(model, before);
  }
  for (const WordId root : state.roots) check_unit(model, root);
}

}  // namespace treeglot
