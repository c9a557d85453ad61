// Counts that were written in parts, added up.
#pragma once

#include <cstdint>
#include <span>

#include "rules/render.h"
#include "rules/tally.h"

namespace treeglot {

// Rows of one part, as Tally::columns gives them unmerged: sorted by source side, else in the order of first sight.
struct CountedRows {
  Codes source, target, alignment, labels;
  std::span<const double> count;
  std::span<const std::uint32_t> occurrences, lhs;
  std::span<const std::uint8_t> variables;
  std::span<const float> lex_target_given_source, lex_source_given_target;

  std::size_t rows() const { return source.rows(); }
};

// A row for each rule, as one tally of all parts gives them merged. An occurrence has so many parts in the rows.
RuleColumns add_up(std::span<const CountedRows> parts, std::uint32_t occurrence_parts);

}  // namespace treeglot
