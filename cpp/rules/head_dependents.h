// Head-dependents relations (the dep2str page): a word with all its dependents, in word order. What extraction and
// matching both need: who is in them, what they cover, and how rules write them.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/span.h"
#include "rules/frontier.h"
#include "syntax/dependency_checks.h"

namespace treeglot {

// The relations of a dependency tree, or of several side by side. Heads must be projective and without cycles.
class Relations {
 public:
  Relations() = default;
  explicit Relations(Heads heads) { assign(heads); }
  void assign(Heads heads);

  std::size_t words() const { return subtree_.size(); }
  bool is_leaf(std::size_t word) const { return members(word).size() == 1; }
  // The word and its dependents in word order, and where among them the word is.
  std::span<const std::uint32_t> members(std::size_t word) const {
    return std::span<const std::uint32_t>(members_).subspan(first_[word], first_[word + 1] - first_[word]);
  }
  std::size_t head_at(std::size_t word) const { return head_at_[word]; }
  Span subtree(std::size_t word) const { return subtree_[word]; }
  // The span that a member covers in the relation of `head`: its whole subtree; for the head itself, only its word.
  Span covered(std::size_t head, std::size_t member) const {
    const auto word = static_cast<std::uint32_t>(head);
    return member == head ? Span{word, word + 1} : subtree_[member];
  }
  std::span<const std::uint32_t> bottom_up() const { return bottom_up_; }  // every word after its dependents
  std::span<const std::uint32_t> roots() const { return roots_; }

 private:
  std::vector<std::uint32_t> first_, members_, head_at_, bottom_up_, roots_;
  std::vector<Span> subtree_;
};

// Section 3.2.1: the target words of every node of an aligned source tree.
class Annotation {
 public:
  void assign(const Relations& relations, const Frontier& frontier);

  // The closure of the target words linked to a word; `consistent` where the two are a consistent phrase pair.
  Span head_span(std::size_t word) const { return head_span_[word]; }
  bool consistent(std::size_t word) const { return consistent_[word] != 0; }
  // The closure of the consistent head spans in a word's subtree; empty if there are none.
  Span dependency_span(std::size_t word) const { return dependency_span_[word]; }
  // The target words of a member of the relation of `head`.
  Span span_of(std::size_t head, std::size_t member) const {
    return member == head ? head_span_[member] : dependency_span_[member];
  }

  // Section 3.2.2. A leaf has no relation. That of any other word is acceptable on three conditions. Its head span is
  // consistent, all its dependents but leaves have a dependency span, and the spans do not overlap.
  bool acceptable(const Relations& relations, std::size_t head) const;

 private:
  std::vector<Span> head_span_, dependency_span_;
  std::vector<std::uint8_t> consistent_;
};

// How rules write relations. The left-hand side says where the head is: H2 for the second symbol. A variable's label is
// a tag: NN for a leaf or the head. A word with its own dependents stands for its whole subtree. Its label is *NN, or
// the word itself: =给. So that none looks like another, a leaf's tag that begins with *, = or a backslash has a
// backslash before it.
std::string head_place_label(std::size_t place);  // from 0
std::string word_tag_label(std::string_view tag);
inline std::string subtree_tag_label(std::string_view tag) { return "*" + std::string(tag); }
inline std::string subtree_word_label(std::string_view word) { return "=" + std::string(word); }

// A fixed or floating structure of a relation: neighbouring members; the rest are those outside its subtrees. Under the
// strict definitions any two or more neighbours are one: fixed if the head is among them, else floating. All members
// together are a whole subtree and no structure here. Written as 2-3: the second and third symbol.
struct StructureRange {
  std::uint32_t first = 0, last = 0;  // members, from 0, both included
  friend auto operator<=>(StructureRange, StructureRange) = default;
};
inline constexpr std::uint32_t kLongestStructure = 16;  // members; longer ones are not looked at
std::string structure_label(StructureRange range);
std::optional<StructureRange> parse_structure_label(std::string_view label);  // none for what is no such label

}  // namespace treeglot
