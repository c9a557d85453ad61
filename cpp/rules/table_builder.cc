#include "rules/table_builder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "rules/row_reader.h"
#include "rules/rule_checks.h"

namespace treeglot {
namespace {

std::string text(std::size_t number) { return std::to_string(number); }

void check_columns(const RuleRows& rows, bool coded) {
  const auto check_rows = [&](std::size_t found, const std::string& column) {
    if (found != rows.source.rows())
      throw std::invalid_argument("the column " + quoted(column) + " has " + std::to_string(found) +
                                  " rows; expected " + std::to_string(rows.source.rows()) + ", as the source sides");
  };
  if (!coded) check_rows(rows.lhs.rows(), "lhs");
  check_rows(rows.target.rows(), "target");
  for (const Codes* optional : {&rows.alignment, &rows.labels, &rows.structure})
    if (optional->rows() != 0) check_rows(optional->rows(), "of notes");
  for (const std::span<const float>& column : rows.dense) check_rows(column.size(), "of a feature");
  for (const auto& [name, column] : rows.indicators) check_rows(column.rows(), name);
}

// Places where a match may choose where a nonterminal begins or ends: at the ends, and between two nonterminals.
std::uint32_t scope_of(std::span<const Symbol> source) {
  std::uint32_t scope = 0;
  bool before = true;  // the end of a source side is like a nonterminal beside it
  for (const Symbol symbol : source) {
    scope += before && is_nonterminal(symbol) ? 1 : 0;
    before = is_nonterminal(symbol);
  }
  return scope + (before && !source.empty() ? 1 : 0);
}

}  // namespace

// Half of the memory is for sorting rules. Then the sorted rules take the other half.
RuleTableBuilder::RuleTableBuilder(const std::vector<std::string>& dense_features, std::size_t memory,
                                   std::string folder)
    : dense_(dense_features.size()),
      sorter_(memory == 0 ? 0 : std::max<std::size_t>(memory / 2, 1), std::move(folder)) {
  for (const std::string& name : dense_features) {
    if (feature_names_.find(name) != Symbols::kNone)
      throw std::invalid_argument("the feature " + quoted(name) + " is named twice");
    feature_names_.intern(name);
  }
}

void RuleTableBuilder::check(Symbol lhs, std::span<const Symbol> source, std::span<const std::int32_t> target,
                             std::span<const float> features, const RuleNotes& notes) const {
  check_rule(source, target, notes.alignment);
  if (lhs >= labels_.size()) throw std::invalid_argument("the left-hand side is a label that the table lacks");
  for (const Symbol symbol : source) {
    if (is_nonterminal(symbol) ? label_of(symbol) >= labels_.size() : symbol >= source_words_.size())
      throw std::invalid_argument("the source side has a word or label that the table lacks");
  }
  if (std::ranges::any_of(target, [&](std::int32_t symbol) {
        return symbol >= 0 && static_cast<std::size_t>(symbol) >= target_words_.size();
      }))
    throw std::invalid_argument("the target side has a word that the table lacks");
  if (features.size() != dense_)
    throw std::invalid_argument("a rule with " + text(features.size()) + " features in a table with " + text(dense_));
  const auto finite = [&](std::size_t feature, float value) {
    if (!std::isfinite(value)) {
      throw std::invalid_argument("feature " + quoted(feature_names_.text(static_cast<Symbol>(feature))) + " is " +
                                  std::to_string(value) + "; expected a finite number");
    }
  };
  for (std::size_t f = 0; f < features.size(); ++f) finite(f, features[f]);
  for (const SparseFeature& sparse : notes.sparse) {
    if (sparse.feature < dense_ || sparse.feature >= feature_names_.size())
      throw std::invalid_argument("a sparse feature that is dense, or that the table lacks");
    finite(sparse.feature, sparse.value);
  }
}

void RuleTableBuilder::append(Symbol lhs, std::span<const Symbol> source, std::span<const std::int32_t> target,
                              std::span<const float> features, const RuleNotes& notes) {
  if (rules_ == kNone - 1) throw std::length_error("a rule table holds fewer than 2^32 rules");
  const std::size_t sizes[kRuleLists] = {target.size(), notes.sparse.size(), notes.alignment.size(),
                                         notes.labels.size(), notes.structure.size()};
  for (std::size_t list = 0; list < kRuleLists; ++list) {
    if ((values_[list] += sizes[list]) > std::numeric_limits<std::uint32_t>::max())
      throw std::length_error("the rules' sides and notes together have more than 2^32 parts");
  }
  if (!notes.sparse.empty() && uses_.size() < feature_names_.size()) uses_.resize(feature_names_.size(), 0);
  for (const SparseFeature& sparse : notes.sparse) ++uses_[sparse.feature];
  make_record(lhs, target, features, notes, record_);
  keep(source, record_);
  ++rules_;
}

void RuleTableBuilder::keep(std::span<const Symbol> source, std::span<const std::uint32_t> record) {
  if (!surveys_) return sorter_.add(source, record);
  if (!source.empty()) weights_[source.front()] += source.size() + record.size();
}

void RuleTableBuilder::add(Symbol lhs, std::span<const Symbol> source, std::span<const std::int32_t> target,
                           std::span<const float> features, const RuleNotes& notes) {
  check(lhs, source, target, features, notes);
  append(lhs, source, target, features, notes);
}

bool RuleTableBuilder::within_limits(const RowReader& row, std::size_t& too_long) {
  if (row.source.size() > kLongestSide || row.target.size() > kLongestSide) {
    ++too_long;
    keep(row.source, {});  // its prefixes are nodes
    return false;
  }
  if (max_scope_ != kNone && scope_of(row.source) > max_scope_) {
    ++left_out_by_scope_;  // and so are all other rows of this source side
    return false;
  }
  return true;
}

std::size_t RuleTableBuilder::add_rows(const RuleRows& rows, const std::string& file, std::size_t first_row) {
  check_columns(rows, false);
  TextRowReader reader(*this, rows);
  return add_all(reader, rows.source.rows(), file, first_row);
}

std::size_t RuleTableBuilder::add_coded_rows(const RuleRows& rows, const std::string& file, std::size_t first_row) {
  if (!coded_) throw std::invalid_argument("rows of codes need know_codes() before them");
  check_columns(rows, true);
  CodedRowReader reader(*this, rows, *coded_);
  return add_all(reader, rows.source.rows(), file, first_row);
}

std::size_t RuleTableBuilder::add_all(RowReader& reader, std::size_t rows, const std::string& file,
                                      std::size_t first_row) {
  std::size_t too_long = 0;
  const ExpandedFeatures::Names names = {[&](Symbol word) { return source_words_.text(word); },
                                         [&](Symbol word) { return target_words_.text(word); },
                                         [&](std::string_view added) { return feature(added); }};
  for (std::size_t row = 0; row < rows; ++row) {
    try {
      reader.read_sides(row);
      if (!within_limits(reader, too_long)) {
        reader.leave_out();
        continue;
      }
      reader.read_notes(row);
      reader.read_features(row);
      if (expanded_) expanded_->append(reader.source, reader.target, reader.links, names, reader.sparse);
      const RuleNotes notes = {reader.sparse, reader.links, reader.labels, reader.structure};
      check(reader.lhs, reader.source, reader.target, reader.features, notes);
      if (can_be_joined(reader.structure, reader.target.size(), reader.heads)) {
        append(reader.lhs, reader.source, reader.target, reader.features, notes);
      } else {
        keep(reader.source, {});
        ++left_out_by_structure_;
      }
    } catch (const std::invalid_argument& problem) {
      throw FormatError(file, first_row + row, problem.what());
    }
  }
  return too_long;
}

TableLevels RuleTableBuilder::empty_levels(const std::optional<std::string>& folder) {
  uses_.resize(feature_names_.size(), 0);
  FeatureNumbers numbers(dense_, uses_, rules_);
  std::vector<std::string_view> ordered(numbers.number.size());
  for (std::size_t f = 0; f < ordered.size(); ++f)
    ordered[numbers.number[f]] = feature_names_.text(static_cast<Symbol>(f));
  Symbols renamed;
  for (const std::string_view feature : ordered) renamed.intern(feature);
  feature_names_ = std::move(renamed);
  values_[kSparseList] = numbers.sparse;
  bool has[kRuleLists];
  std::ranges::transform(values_, has, [](std::uint64_t values) { return values > 0; });

  return {std::move(numbers), has, folder};
}

TableLevels RuleTableBuilder::levels() {
  TableLevels out = empty_levels(sorter_.in_files() ? std::optional(sorter_.folder()) : std::nullopt);
  const bool by_lhs = labels_.size() > 1;
  std::vector<RuleRecord> rules;
  sorter_.merge([&](std::span<const Symbol> source, std::span<const std::uint32_t> records, std::uint32_t number) {
    out.add_source(source, number);
    const std::uint32_t* at = records.data();
    rules.clear();
    for (std::uint32_t i = 0; i < number; ++i) rules.push_back(take_record(at, dense_));
    if (by_lhs) std::ranges::stable_sort(rules, {}, &RuleRecord::lhs);
    for (const RuleRecord& rule : rules) out.add_rule(rule);
  });
  return out;
}

Sections RuleTableBuilder::names() const {
  Sections out(RuleTable::kKind, RuleTable::kVersion);
  const auto add = [&](const std::string& name, const Symbols& symbols) {
    MappedSymbols::add(out, name, symbols.size(), [&](Symbol symbol) { return symbols.text(symbol); });
  };
  add("source", source_words_);
  add("target", target_words_);
  add("labels", labels_);
  add("features", feature_names_);
  return out;
}

RuleTable RuleTableBuilder::finish() {
  TableLevels sorted = levels();
  Sections out = names();
  *this = RuleTableBuilder({});
  for (const StreamedSection& section : sorted.sections()) {
    std::byte* at = out.add<std::byte>(section.name, section.size).data();
    section.produce([&](std::span<const std::byte> bytes) { at = std::ranges::copy(bytes, at).out; });
  }
  return RuleTable(std::make_shared<const Sections>(std::move(out)));
}

RuleTableBuilder::Written RuleTableBuilder::write(const std::string& path) {
  Written written = {rules_, 0, sorter_.spilled()};
  TableLevels sorted = levels();
  const Sections first = names();
  *this = RuleTableBuilder({});
  written.spilled += sorted.spilled();
  written.size = write_sections(path, RuleTable::kKind, RuleTable::kVersion, first, sorted.sections());
  return written;
}

}  // namespace treeglot
