// The trie of a table and its rules, level by level: what a file has from one end to the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_stream.h"
#include "base/scratch.h"
#include "base/sections.h"
#include "base/streamed_section.h"
#include "base/symbols.h"
#include "rules/rule_record.h"

namespace treeglot {

// The numbers that features have in a table. Sparse features that at least half of the rules have become dense.
struct FeatureNumbers {
  FeatureNumbers(std::size_t given_dense, std::span<const std::uint64_t> uses, std::size_t rules);

  std::size_t given, dense;           // features that were dense before, and those that are
  std::vector<std::uint32_t> number;  // by the number before
  std::uint64_t sparse = 0;           // values that stay sparse
};

// Source sides come in the order of their symbols, one that begins another before it. So the nodes of a level come in
// the order in which a file has them, which is breadth first. The same holds for the rules of the nodes.
class TableLevels {
 public:
  // With a folder, everything goes to a file there; else it stays in memory. `has` says which lists are not all empty.
  TableLevels(FeatureNumbers numbers, std::span<const bool, kRuleLists> has, const std::optional<std::string>& folder);

  void add_source(std::span<const Symbol> source, std::uint32_t rules);
  void add_rule(const RuleRecord& rule);  // of this source side; those of one left-hand side together

  std::uint64_t spilled() const { return file_ == nullptr ? 0 : file_->size() * sizeof(std::uint32_t); }  // bytes

  // The sections in the order of the file. They must be produced in this order, while this object lives.
  std::vector<StreamedSection> sections();

  // A part of a table has the source sides that begin with some of the symbols, in a file of its own.
  std::uint64_t write_part(const std::string& path);  // gives the size of the file; this is empty then
  // Adds a part whose source sides all come behind those that are here. Its sections must live as long as this.
  void append(const Sections& part);
  static constexpr std::string_view kPartKind = "rules-part";
  static constexpr std::uint32_t kPartVersion = 1;

 private:
  struct Level {
    explicit Level(ScratchFile* file);

    std::uint64_t nodes = 0, rules = 0;
    ByteStream symbol, parent, rules_of_node;  // parents are counted from the first of their level
    ByteStream lhs, features;
    std::vector<ByteStream> sizes, values;  // of lists
  };
  // The streams of a level, with the names that they have in a part.
  std::vector<std::pair<std::string, ByteStream*>> streams(std::size_t depth);
  std::uint64_t total(const std::function<std::uint64_t(const Level&)>& part) const;
  void add_lists(std::vector<StreamedSection>& out);

  FeatureNumbers numbers_;
  std::vector<bool> has_;
  std::unique_ptr<ScratchFile> file_;
  std::vector<Level> levels_;  // by depth; the root is level 0
  std::vector<Symbol> path_;   // the last source side
  std::vector<float> features_;
  std::vector<SparseFeature> sparse_;
};

}  // namespace treeglot
