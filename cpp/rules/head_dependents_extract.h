// Rules from head-dependents relations, and bilingual phrases beside them (sections 3.2.3 and 4.2 of the dep2str page).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/strings.h"
#include "rules/bitext.h"
#include "rules/head_dependents.h"
#include "rules/tally.h"
#include "syntax/dependency.h"

namespace treeglot {

struct HeadDependentsOptions {
  std::uint32_t max_phrase = 7;     // words of a bilingual phrase on either side (section 4.2)
  std::uint32_t max_variants = 32;  // ways to share out unaligned target words that are tried for a rule
};

// The source trees of a bitext as numbers, made projective, and the labels of the rules taken from them.
class SourceTrees {
 public:
  // As many trees as pairs, each with as many words as its source sentence, and with tags. One without words is a
  // sentence that was not parsed; one with a cycle or a word without a head cannot be used either.
  SourceTrees(std::shared_ptr<const Bitext> bitext, std::span<const Dependency* const> trees);

  const Bitext& bitext() const { return *bitext_; }
  bool usable(std::size_t pair) const { return ends_[pair] != ends_[pair + 1]; }
  Heads heads(std::size_t pair) const { return std::span(heads_).subspan(ends_[pair], ends_[pair + 1] - ends_[pair]); }
  std::span<const Symbol> tags(std::size_t pair) const {
    return std::span(tags_).subspan(ends_[pair], ends_[pair + 1] - ends_[pair]);
  }
  std::size_t unparsed() const { return unparsed_; }  // pairs
  std::size_t broken() const { return broken_; }      // pairs: cycles, missing heads
  std::size_t lifted() const { return lifted_; }      // pairs that were not projective
  std::uint64_t lifts() const { return lifts_; }

  // Labels: 0 is X, then places of heads, tags of words, tags of subtrees, words, structures.
  const Strings& labels() const { return labels_; }
  Symbol head_place(std::size_t place) const { return static_cast<Symbol>(1 + place); }
  Symbol word_tag(Symbol tag) const { return first_tag_ + tag; }
  Symbol subtree_tag(Symbol tag) const { return first_tag_ + tag_count_ + tag; }
  Symbol subtree_word(Symbol word) const { return word_label_[word]; }
  Symbol structure(StructureRange range) const {
    return first_structure_ + range.first * kLongestStructure + range.last - range.first;
  }
  static constexpr Symbol kLongestStructure = 16;  // members; a longer one is not labelled

 private:
  std::shared_ptr<const Bitext> bitext_;
  std::vector<std::uint64_t> ends_ = {0};
  std::vector<std::int32_t> heads_;
  std::vector<Symbol> tags_, word_label_;
  Strings labels_;
  Symbol first_tag_ = 0, tag_count_ = 0, first_structure_ = 0;
  std::size_t unparsed_ = 0, broken_ = 0, lifted_ = 0;
  std::uint64_t lifts_ = 0;
};

struct HeadDependentsCounts {
  std::uint64_t pairs = 0;       // sentence pairs read
  std::uint64_t unlinked = 0;    // of them without links, which give nothing
  std::uint64_t relations = 0;   // words with dependents
  std::uint64_t acceptable = 0;  // of them give rules
  std::uint64_t rules = 0;       // taken
  std::uint64_t phrases = 0;     // taken
  std::uint64_t capped = 0;      // rules with more variants than were tried

  HeadDependentsCounts& operator+=(const HeadDependentsCounts& other);
};

// Adds the rules of the pairs [begin, …) to `tally` until there are no more or it has grown over `memory` bytes, and
// returns the first pair that was not read: the same for any number of threads.
std::size_t extract_head_dependents(const SourceTrees& trees, std::size_t begin, const HeadDependentsOptions& options,
                                    Tally& tally, std::size_t memory, unsigned threads, HeadDependentsCounts& counts);

}  // namespace treeglot
