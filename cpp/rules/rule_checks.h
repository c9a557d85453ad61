// What a rule must look like, wherever it comes from.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rules/table.h"

namespace treeglot {

// Refuses an empty source side, long sides, and links outside the rule. Also refuses a variable that the source side
// lacks, and one used twice or not at all.
void check_rule(std::span<const Symbol> source, std::span<const std::int32_t> target, std::span<const RuleLink> links);

// Whether search can put together what the structure of a target side says: heads among its symbols, no cycles, no arcs
// that cross. A structure may be marked as ill-formed by a number more. `heads` is room to work in.
bool can_be_joined(std::span<const std::int32_t> structure, std::size_t symbols, std::vector<std::int32_t>& heads);

}  // namespace treeglot
