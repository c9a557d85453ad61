// Corrections of a compiled table: rules added, forbidden and reweighted, without compiling it again.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rules/table.h"

namespace treeglot {

enum class CorrectionAction : std::uint8_t { add, forbid, reweight };

// A correction as text (docs/corrections.md).
struct RuleCorrection {
  std::size_t line = 0;
  CorrectionAction action = CorrectionAction::add;
  std::string lhs;  // empty: any
  std::string source;
  std::optional<std::string> target;  // none: any
  std::string alignment, labels, structure;
  std::vector<std::pair<std::string, float>> features;  // as the table has them: logarithms of probabilities
};

struct Corrected {
  RuleTable table;
  std::vector<std::uint32_t> rules;  // by correction: how many it added, forbade or changed
};

// Applies corrections one after the other. A table that has some already loses them first. A bad one is a FormatError
// with its line. The table gives the same translations as one that is compiled of the corrected rules, in which added
// rules come last.
Corrected correct(const RuleTable& table, std::span<const RuleCorrection> corrections, const std::string& file);

}  // namespace treeglot
