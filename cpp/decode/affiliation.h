// Which source word each target word of a derivation is affiliated with (Devlin et al. 2014, section 2.1).
//
// Rules keep the most frequent word alignment that they were seen with. A target word is affiliated with the middle one
// of its linked words. A word without links has the source word of its nearest neighbour in the rule. Target sides
// without any links follow the source words of their edge: words that pass through, and translations that a user gave.
// A word of a rule without source words has a place at the border of its nearest variable.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decode/translation_forest.h"
#include "rules/table.h"
#include "syntax/alignment.h"

namespace treeglot {

// The links of a rule, in places that count its words alone.
struct WordLinks {
  std::uint32_t source_words = 0, target_words = 0;
  std::vector<Link> links;
};
WordLinks word_links(const RuleTable& table, std::span<const Symbol> source, RuleId rule);

// What TargetSide::affiliations points at: the number of source words, then a byte for each target word. The byte is
// the place of its source word among them, or kUnlinked. The number of links follows, in two bytes, low one first. Then
// come the links: the places of a source word and of a target word.
inline constexpr std::uint8_t kUnlinked = 255;
void append_affiliations(const RuleTable& table, std::span<const Symbol> source, RuleId rule,
                         std::vector<std::uint8_t>& out);

// The part of the sentence that an edge covers: source words outside its tails, or else the spans of these.
struct EdgeSource {
  std::span<const std::uint32_t> own;
  std::span<const Span> tails;
};

// Writes the source word of each of the rule's words; `out` has room for all its symbols.
void affiliate(const TargetSide& target, const EdgeSource& source, std::span<std::uint32_t> out);

// Appends the links that the rule was seen with: source words of the sentence, and places among the rule's words.
void append_known_links(const TargetSide& target, const EdgeSource& source, std::vector<Link>& out);

// The same, but a target side without links gets the affiliations above as links. Without source words there are none.
void append_links(const TargetSide& target, const EdgeSource& source, std::vector<Link>& out);

// Finds the part of the sentence that each edge covers.
class EdgeSources {
 public:
  EdgeSources() = default;
  explicit EdgeSources(const TranslationForest& forest);  // all edges
  void add(const TranslationForest& forest, EdgeId edge);

  EdgeSource operator[](std::size_t edge) const {  // by the order in which they were added
    const auto part = [edge](const auto& all, const std::vector<std::uint32_t>& first) {
      return std::span(all).subspan(first[edge], first[edge + 1] - first[edge]);
    };
    return {part(own_, first_own_), part(tails_, first_tail_)};
  }

 private:
  std::vector<std::uint32_t> first_own_ = {0}, first_tail_ = {0};  // by edge, and one more
  std::vector<std::uint32_t> own_;
  std::vector<Span> tails_;
};

}  // namespace treeglot
