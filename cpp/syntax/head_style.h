// One constituent as the choice of its head sees it, and how a style departs from the head table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "syntax/head_table.h"
#include "syntax/to_dependency.h"

namespace treeglot {

struct Constituent {
  HeadTable::Label label;
  std::string_view base;  // its label's text without functional tags
  std::vector<HeadTable::Label> children;
  std::vector<std::string_view> bases;
  std::vector<std::uint8_t> tags;  // whether the child is the tag of a word
};

// The position of the head child; coordination is left to coordinate().
std::size_t head_of(const Constituent& node, const HeadTable& table, const HeadStyle& style);

// Which child each child hangs from in a coordination, and which one is the head of all (it hangs from itself). Empty
// if the constituent is no coordination: it is one if conjunctions stand between two or more conjuncts. Conjuncts are
// parted by conjunctions, and by punctuation that stands between two children with the same label before a conjunction.
std::vector<std::size_t> coordinate(const Constituent& node, const HeadTable& table, const HeadStyle& style);

}  // namespace treeglot
