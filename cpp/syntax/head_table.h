// Which child of a constituent is its head: a table of rules, read from the text format of docs/formats.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/symbols.h"

namespace treeglot {

// A label without its functional tags, which begin with one of `marks`. One that begins with a mark has none.
std::string_view label_base(std::string_view label, std::string_view marks = "-=");

class HeadTable {
 public:
  using Label = std::uint32_t;  // a label that the table mentions, or unknown()

  // Refuses anything that is not a table with a FormatError, which names `file`.
  static HeadTable read(std::string_view text, const std::string& file);

  const std::string& text() const { return text_; }  // what it was read from, and the file's name
  const std::string& file() const { return file_; }

  // `label` without its functional tags, if the table does not know the whole: NP-SBJ-1 is NP, -LRB- is itself.
  std::string_view base(std::string_view label) const;

  // The position of the head among at least one child.
  std::size_t head_child(std::string_view label, std::span<const std::string_view> children) const;

  // The same by numbers, for whole trees; a child without a label (a word among phrases) is unknown().
  Label find(std::string_view label) const;
  Label unknown() const { return static_cast<Label>(labels_.size()); }
  std::size_t head_child(Label label, std::span<const Label> children) const;
  bool passed_over(Label label) const { return passed_over_[label] != 0; }  // punctuation, traces
  bool conjunction(Label label) const { return conjunction_[label] != 0; }

 private:
  friend class HeadTableReader;
  HeadTable() = default;

  // Steps in order of preference, turned around: each label's step. The step after the last takes any child.
  struct Rule {
    std::vector<std::uint32_t> step_of;   // by Label; unknown() is the last
    std::vector<std::uint8_t> from_last;  // by step
  };

  std::string_view cut(std::string_view label) const { return label_base(label, tag_marks_); }

  std::string text_, file_;
  Symbols labels_;
  std::string tag_marks_ = "-=";
  std::vector<Rule> rules_;
  std::vector<std::uint32_t> rule_of_;                   // by Label
  std::vector<std::uint8_t> passed_over_, conjunction_;  // by Label
};

}  // namespace treeglot
