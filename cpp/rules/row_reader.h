// Rows of a rule table as a builder takes them: from text, or from the codes of an extraction.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "base/symbols.h"
#include "rules/rule_text.h"
#include "rules/table.h"
#include "rules/table_builder.h"

namespace treeglot {

// The row at hand, while rows are added. Rules of a source side stand together, and most columns repeat themselves:
// what a row shares with the one before is not read again.
class RowReader {
 public:
  RowReader(RuleTableBuilder& builder, const RuleRows& rows)
      : features(rows.dense.size()), builder_(builder), rows_(rows), indicators_(rows.indicators.size()) {}
  virtual ~RowReader() = default;
  RowReader(const RowReader&) = delete;
  RowReader& operator=(const RowReader&) = delete;

  // Left-hand side and both sides. What follows them is stale after a row that was left out.
  virtual void read_sides(std::size_t row) = 0;
  virtual void read_notes(std::size_t row) = 0;
  void read_features(std::size_t row);
  void leave_out() { stale_ = true; }

  bool again = false;  // the source side is that of the row before
  Symbol lhs = 0;
  std::vector<Symbol> source, labels;
  std::vector<std::int32_t> target, structure, heads;
  std::vector<RuleLink> links;
  std::vector<float> features;
  std::vector<SparseFeature> sparse;

 protected:
  static bool same(const Codes& codes, std::size_t row) { return row > 0 && codes[row] == codes[row - 1]; }
  // Whether a column has something in this row that is not at hand.
  bool differs(const Codes& codes, std::size_t row) const { return codes.rows() > 0 && (stale_ || !same(codes, row)); }
  void add_link(std::uint32_t source_place, std::uint32_t target_place);

  RuleTableBuilder& builder_;
  const RuleRows& rows_;

 private:
  std::vector<SparseFeature> indicators_;
  std::string name_;
  bool stale_ = false;  // notes and features were not read of the row before
};

class TextRowReader : public RowReader {
 public:
  using RowReader::RowReader;
  void read_sides(std::size_t row) override;
  void read_notes(std::size_t row) override;

 private:
  void read_source(std::string_view text);

  Variables variables_;
  std::string_view root_;  // of a fragment
};

class CodedRowReader : public RowReader {
 public:
  CodedRowReader(RuleTableBuilder& builder, const RuleRows& rows, CodedSymbols& symbols)
      : RowReader(builder, rows), symbols_(symbols) {}
  void read_sides(std::size_t row) override;
  void read_notes(std::size_t row) override;

 private:
  void read_source(std::string_view code);
  void read_target(std::string_view code);

  CodedSymbols& symbols_;
  std::vector<std::uint32_t> variable_labels_;  // of the source side
};

}  // namespace treeglot
