#include "rules/rule_checks.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "syntax/dependency_checks.h"

namespace treeglot {
namespace {

std::string text(std::size_t number) { return std::to_string(number); }

}  // namespace

void check_rule(std::span<const Symbol> source, std::span<const std::int32_t> target, std::span<const RuleLink> links) {
  if (source.empty()) throw std::invalid_argument("a rule needs a source side");
  if (source.size() > kLongestSide || target.size() > kLongestSide)
    throw std::invalid_argument("a side of a rule has more than " + text(kLongestSide) + " symbols");
  const auto variables = static_cast<std::size_t>(std::ranges::count_if(source, is_nonterminal));
  std::size_t used = 0;
  for (std::size_t i = 0; i < target.size(); ++i) {
    if (target[i] >= 0) continue;
    const auto variable = static_cast<std::size_t>(-(static_cast<std::int64_t>(target[i]) + 1));
    if (variable >= variables) {
      throw std::invalid_argument("the target side uses variable " + text(variable + 1) + ", the source side has " +
                                  text(variables));
    }
    if (std::ranges::count(target.first(i), target[i]) > 0)
      throw std::invalid_argument("the target side uses variable " + text(variable + 1) + " twice");
    ++used;
  }
  if (used != variables) {
    throw std::invalid_argument("the source side has " + text(variables) + " variables, the target side uses " +
                                text(used));
  }
  for (const RuleLink link : links) {
    if (link.source >= source.size() || link.target >= target.size()) {
      throw std::invalid_argument("link " + text(link.source) + "-" + text(link.target) + " is outside a rule of " +
                                  text(source.size()) + " source and " + text(target.size()) + " target symbols");
    }
  }
}

bool can_be_joined(std::span<const std::int32_t> structure, std::size_t symbols, std::vector<std::int32_t>& heads) {
  heads.clear();
  for (const std::int32_t number : structure.first(std::min(structure.size(), symbols))) {
    if (number < 0 || static_cast<std::size_t>(number) > symbols) return false;
    heads.push_back(number - 1);
  }
  heads.resize(symbols, -1);
  return structure.empty() || (nonprojective_arcs(heads).empty() && cycles(heads).empty());
}

}  // namespace treeglot
