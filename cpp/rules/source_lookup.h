// The rules that can meet a sentence, counted in an index (Lopez 2007).
//
// The words of a source side are blocks: words side by side, with a variable between two blocks. Blocks are found by
// the suffix array. Source sides with several blocks are found around the places of the rarest block: the others must
// stand within the width of an initial phrase. Variables at the ends of a source side share the places of its words.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "rules/indexed_corpus.h"
#include "rules/side_counts.h"

namespace treeglot {

// Declared, with defaults, help and ranges, in treeglot.rules.on_demand. 0 is no limit, and then counts are exact.
struct DemandOptions {
  std::uint32_t samples = 0;         // places of a source side's words that are looked at
  std::uint32_t scanned = 0;         // places of the rarest words of a source side with variables, to find the others
  std::uint32_t target_samples = 0;  // places of a target side's rarest words that are looked at
};

class SourceLookup {
 public:
  // `words` are those of the sentence by the corpus's numbers, kNone for others. A rule covers at most `span_limit`.
  SourceLookup(const IndexedCorpus& corpus, const DemandOptions& options, std::span<const Symbol> words,
               std::uint32_t span_limit);

  // Calls take(source, counts, scale) for each source side that was found: the counts of all its places are about
  // `scale` times these.
  template <class Take>
  void run(const Take& take) {
    find_cores();
    for (const Core& core : cores_) {
      const double scale = count(core);
      for (std::size_t ends = 0; ends < kEnds; ++ends) {
        if (counts_[ends].empty()) continue;
        source_side(core, ends, source_);
        take(std::span<const Symbol>(source_), std::as_const(counts_[ends]), scale);
      }
    }
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffffu;
  static constexpr std::size_t kLeft = 1, kRight = 2, kEnds = 4;  // variables at the ends of a source side

  struct Block {
    std::uint32_t begin, length;  // words of the sentence, where it stands first
    CorpusRange range;
    std::uint64_t places;
    std::vector<std::uint32_t> starts;  // all its places in the sentence
  };
  // The words of source sides: blocks with variables between them.
  struct Core {
    std::vector<std::uint32_t> blocks;
    std::uint32_t words = 0;                                     // of all blocks
    std::uint32_t prefix = kNone, suffix = kNone;                // cores without the last and the first block
    std::uint32_t rarest = 0;                                    // the place of the rarest block
    std::uint8_t fits = 0;                                       // a bit for each way to have variables at the ends
    std::vector<std::pair<std::uint32_t, std::uint32_t>> spans;  // of the sentence, from the first to the last block
    double scale = 1;
    bool extends_right() const { return rarest + 1 < blocks.size(); }  // its places are looked for to the right
    std::vector<std::uint32_t> places;  // for each: the index, and where the blocks begin; of one block none
  };
  // Cores that have a block more than another one, by the first or last word of that block.
  struct Extension {
    std::uint32_t core;
    const Block* block;
  };

  struct Place {
    std::size_t index;
    std::span<const std::uint32_t> blocks;
  };
  void find_blocks();
  void find_cores();
  void add_span(Core& core, std::uint32_t begin, std::uint32_t end);
  std::vector<std::uint32_t> extend_cores(std::span<const std::uint32_t> cores);
  void find_places(std::span<const std::uint32_t> cores);
  template <class Take>
  std::uint64_t visit_places(const Core& core, std::uint32_t most, const Take& take) const;
  Extension extension(std::uint32_t number) const;
  std::uint32_t extended_at(const Core& core) const;
  template <class Look>
  void scan(const Core& core, std::span<const std::uint32_t> group, const Look& look);
  void scan_right(const Core& core, std::span<const std::uint32_t> group);
  void scan_left(const Core& core, std::span<const std::uint32_t> group);
  bool stands_at(const Block& block, std::size_t index, std::uint32_t place) const;
  void found(std::uint32_t core, const Place& place, std::uint32_t at, bool right);

  double count(const Core& core);
  void count_place(const Core& core, const Place& place);
  void count_phrase(const Core& core, const Place& place, std::uint32_t begin, std::uint32_t number, std::size_t ends);
  void choose_holes(std::size_t hole);
  void give();
  std::size_t wanted_ends(const Core& core) const;  // a bit for each
  void source_side(const Core& core, std::size_t ends, std::vector<Symbol>& out) const;

  const IndexedCorpus& corpus_;
  const DemandOptions& options_;
  const PairIndex::Options& limits_;
  std::span<const Symbol> words_;
  std::uint32_t span_limit_;

  std::vector<std::vector<Symbol>> local_;          // the sentence, by index
  std::vector<std::uint32_t> first_;                // for each word of the sentence, its first place there
  std::vector<std::vector<Extension>> extensions_;  // of the part at hand, by first places of words
  std::vector<std::vector<std::uint32_t>> marks_;   // by index and word: 1 + its first place in the sentence, or 0
  std::vector<Block> blocks_;
  std::vector<Core> cores_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> extended_;  // cores by prefix and last block

  // Of the core at hand.
  std::array<SideCounts, kEnds> counts_;
  std::size_t wanted_ = 0;  // a bit for each way to have variables at the ends
  // Of the phrase at hand.
  const PairIndex* index_ = nullptr;
  std::size_t index_number_ = 0;
  std::size_t ends_ = 0;
  std::uint32_t begin_ = 0, phrase_ = 0;
  std::vector<IndexedHole> holes_;  // in source order
  // Of the rule at hand.
  std::vector<std::uint32_t> order_;
  std::vector<std::int32_t> target_;
  std::vector<RuleLink> links_;
  std::vector<Symbol> source_;
};

}  // namespace treeglot
