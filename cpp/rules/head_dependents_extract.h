// Rules from head-dependents relations, and bilingual phrases beside them (sections 3.2.3 and 4.2 of the dep2str page),
// with variables or without.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "rules/extractor.h"
#include "rules/head_dependents.h"
#include "syntax/dependency.h"

namespace treeglot {

// Declared, with defaults, help and ranges, in treeglot.rules.head_dependents.
struct HeadDependentsOptions {
  std::uint32_t max_phrase = 0;    // words of a bilingual phrase on either side (section 4.2)
  std::uint32_t max_variants = 0;  // ways to share out unaligned target words that are tried for a rule
  // Of phrases with variables: source words and symbols, and variables. Without variables there are none.
  std::uint32_t max_span = 0, max_symbols = 0, max_nonterminals = 0;
};

// The source trees of a bitext as numbers, made projective, and the labels of the rules taken from them.
class SourceTrees {
 public:
  // As many trees as pairs, each with as many words as its source sentence, and with tags. One without words is a
  // sentence that was not parsed; one with a cycle or a word without a head cannot be used either.
  SourceTrees(const Bitext& bitext, std::span<const Dependency* const> trees);

  bool usable(std::size_t pair) const { return ends_[pair] != ends_[pair + 1]; }
  Heads heads(std::size_t pair) const { return std::span(heads_).subspan(ends_[pair], ends_[pair + 1] - ends_[pair]); }
  std::span<const Symbol> tags(std::size_t pair) const {
    return std::span(tags_).subspan(ends_[pair], ends_[pair + 1] - ends_[pair]);
  }
  void append_counts(NamedCounts& counts) const;

  // Labels: 0 is X, then places of heads, tags of words, tags of subtrees, words, structures.
  const Strings& labels() const { return labels_; }
  Symbol head_place(std::size_t place) const { return static_cast<Symbol>(1 + place); }
  Symbol word_tag(Symbol tag) const { return first_tag_ + tag; }
  Symbol subtree_tag(Symbol tag) const { return first_tag_ + tag_count_ + tag; }
  Symbol subtree_word(Symbol word) const { return word_label_[word]; }
  Symbol structure(StructureRange range) const {
    return first_structure_ + range.first * kLongestStructure + range.last - range.first;
  }

 private:
  std::vector<std::uint64_t> ends_ = {0};
  std::vector<std::int32_t> heads_;
  std::vector<Symbol> tags_, word_label_;
  Strings labels_;
  Symbol first_tag_ = 0, tag_count_ = 0, first_structure_ = 0;
  std::uint64_t unparsed_ = 0;  // pairs
  std::uint64_t broken_ = 0;    // pairs whose trees have cycles or missing heads
  std::uint64_t lifted_ = 0;    // pairs whose trees were not projective
  std::uint64_t lifts_ = 0;
};

struct HeadDependentsCounts {
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"pairs", "unlinked", "relations", "acceptable", "rules", "phrases", "gappy", "capped"});
  std::uint64_t pairs = 0;       // sentence pairs read
  std::uint64_t unlinked = 0;    // of them without links, which give nothing
  std::uint64_t relations = 0;   // words with dependents
  std::uint64_t acceptable = 0;  // of them give rules
  std::uint64_t rules = 0;       // taken
  std::uint64_t phrases = 0;     // taken, without variables
  std::uint64_t gappy = 0;       // and with
  std::uint64_t capped = 0;      // rules with more variants than were tried
};

class HeadDependentsExtractor final : public CountingExtractor<HeadDependentsCounts> {
 public:
  // The trees are as SourceTrees takes them.
  HeadDependentsExtractor(std::shared_ptr<const Bitext> bitext, std::span<const Dependency* const> trees,
                          const HeadDependentsOptions& options);

  NamedCounts counts() const override;  // those of the trees too
  Strings labels() const override { return trees_.labels(); }

 private:
  Worker worker() const override;

  SourceTrees trees_;
  HeadDependentsOptions options_;
};

}  // namespace treeglot
