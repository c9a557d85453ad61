#include "rules/add_up.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/hash_index.h"
#include "base/symbols.h"
#include "rules/grouped.h"

namespace treeglot {
namespace {

struct Row {
  const CountedRows* part;
  std::size_t row;

  std::string_view target() const { return part->target[row]; }
  std::string_view alignment() const { return part->alignment[row]; }
  std::string_view labels() const { return part->labels[row]; }
  std::uint32_t occurrences() const { return part->occurrences[row]; }
};

void check(const CountedRows& part) {
  const std::size_t rows = part.rows();
  for (const std::size_t size : {part.target.rows(), part.alignment.rows(), part.labels.rows(), part.count.size(),
                                 part.occurrences.size(), part.lhs.size(), part.variables.size(),
                                 part.lex_target_given_source.size(), part.lex_source_given_target.size()}) {
    if (size != rows) throw std::invalid_argument("the columns of counts differ in length");
  }
}

// Gives the rows of one source side after the other, in the order of source sides; of one, those of earlier parts
// first.
class BySource {
 public:
  explicit BySource(std::span<const CountedRows> parts) : parts_(parts), next_(parts.size(), 0) {}

  bool take(std::vector<Row>& rows) {
    rows.clear();
    const CountedRows* first = nullptr;
    std::string_view least;
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      if (next_[p] == parts_[p].rows()) continue;
      const std::string_view source = parts_[p].source[next_[p]];
      if (first == nullptr || source < least) {
        first = &parts_[p];
        least = source;
      }
    }
    if (first == nullptr) return false;
    for (std::size_t p = 0; p < parts_.size(); ++p) take_from(p, least, rows);
    return true;
  }

 private:
  void take_from(std::size_t p, std::string_view source, std::vector<Row>& rows) {
    const CountedRows& part = parts_[p];
    std::size_t& next = next_[p];
    while (next < part.rows() && part.source[next] == source) rows.push_back({&part, next++});
    if (next < part.rows() && part.source[next] < source)
      throw std::invalid_argument("row " + std::to_string(next) + " of the counts is out of order");
  }

  std::span<const CountedRows> parts_;
  std::vector<std::size_t> next_;
};

// Adds the rows of one rule to a row of the result.
class RuleAdder {
 public:
  RuleAdder(RuleColumns& out, std::uint32_t occurrence_parts) : out_(out), occurrence_parts_(occurrence_parts) {}

  void append(std::string_view source, std::uint32_t source_row, std::span<const Row> rows) {
    double count = 0;
    std::uint64_t occurrences = 0;
    for (const Row& row : rows) {
      count += row.part->count[row.row];  // exact: counts are multiples of 2^-28
      occurrences += row.occurrences();
    }
    if (occurrence_parts_ > 1) {  // a rule that was taken has a count
      count = std::max(count, 1.0 / kCountUnit);
      occurrences = std::max<std::uint64_t>((occurrences + occurrence_parts_ / 2) / occurrence_parts_, 1);
    }
    if (occurrences > std::numeric_limits<std::uint32_t>::max())
      throw std::length_error("a rule occurs more than 2^32 times");
    const std::string_view alignment = most_frequent(rows, &Row::alignment);
    const Row& aligned = *std::ranges::find(rows, alignment, &Row::alignment);
    out_.source.append(source);
    out_.target.append(aligned.target());
    out_.alignment.append(alignment);
    out_.labels.append(most_frequent(rows, &Row::labels));
    out_.count.push_back(count);
    out_.occurrences.push_back(static_cast<std::uint32_t>(occurrences));
    out_.lhs.push_back(aligned.part->lhs[aligned.row]);
    out_.variables.push_back(aligned.part->variables[aligned.row]);
    out_.lex_target_given_source.push_back(aligned.part->lex_target_given_source[aligned.row]);
    out_.lex_source_given_target.push_back(aligned.part->lex_source_given_target[aligned.row]);
    out_.source_row.push_back(source_row);
  }

 private:
  std::string_view most_frequent(std::span<const Row> rows, std::string_view (Row::*note)() const) {
    const std::string_view first = (rows.front().*note)();
    if (std::ranges::all_of(rows, [&](const Row& row) { return (row.*note)() == first; })) return first;
    grouped_.clear();
    for (const Row& row : rows) grouped_.add((row.*note)(), 0, row.occurrences());
    return grouped_.most_frequent();
  }

  RuleColumns& out_;
  std::uint32_t occurrence_parts_;
  Grouped grouped_;
};

// Brings rows with the same target side together, in the order in which target sides were first seen.
class ByTarget {
 public:
  void sort(std::vector<Row>& rows) {
    index_.clear();
    targets_.clear();
    std::uint32_t different = 0;
    for (std::uint32_t i = 0; i < rows.size(); ++i) {
      const std::string_view target = rows[i].target();
      const std::uint32_t first =
          index_.intern(hash_bytes(target), i, [&](std::uint32_t known) { return rows[known].target() == target; });
      different += first == i ? 1 : 0;
      targets_.push_back({first, rows[i]});
    }
    if (different == rows.size()) return;
    std::ranges::stable_sort(targets_, {}, &Found::first);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = targets_[i].row;
  }

 private:
  struct Found {
    std::uint32_t first;  // row with this target side
    Row row;
  };
  HashIndex index_;
  std::vector<Found> targets_;
};

}  // namespace

RuleColumns add_up(std::span<const CountedRows> parts, std::uint32_t occurrence_parts) {
  for (const CountedRows& part : parts) check(part);
  RuleColumns out;
  RuleAdder adder(out, occurrence_parts);
  BySource by_source(parts);
  ByTarget by_target;
  std::vector<Row> rows;
  while (by_source.take(rows)) {
    const std::string_view source = rows.front().part->source[rows.front().row];
    if (rows.size() > 1) by_target.sort(rows);
    const auto source_row = static_cast<std::uint32_t>(out.rows());
    for (std::size_t begin = 0; begin < rows.size();) {
      std::size_t end = begin + 1;
      while (end < rows.size() && rows[end].target() == rows[begin].target()) ++end;
      adder.append(source, source_row, std::span(rows).subspan(begin, end - begin));
      begin = end;
    }
  }
  for (const BinaryColumn* column : {&out.source, &out.target, &out.alignment, &out.labels}) {
    if (column->bytes.size() > std::numeric_limits<std::int32_t>::max())
      throw std::length_error("a partition of the counts outgrew 2 GB");
  }
  return out;
}

}  // namespace treeglot
