// Hierarchical rules by subtracting phrase pairs from phrase pairs (Chiang 2007; "Hiero" of the t2t page).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rules/bitext.h"
#include "rules/phrase.h"
#include "rules/tally.h"

namespace treeglot {

// Defaults of the limits: Chiang 2010, table 2, Chinese-English.
struct HieroOptions {
  std::uint32_t max_phrase = 10;               // source words of an initial phrase
  std::uint32_t max_target_phrase = kNoLimit;  // and its target words
  std::uint32_t max_symbols = 6;               // source symbols of a rule, its "final size"
  std::uint32_t max_nonterminals = 2;
  std::uint32_t min_hole = 1;  // source words that a nonterminal stands for
  bool adjacent = false;       // nonterminals side by side on the source side
  // Unaligned words at the ends: of phrases that rules with nonterminals are made from, their holes among them …
  std::uint32_t loose_source = 0;
  std::uint32_t loose_target = 0;
  // … and of phrases that are rules themselves.
  std::uint32_t phrase_loose_source = kNoLimit;
  std::uint32_t phrase_loose_target = 1;
};

struct PhraseLabel {
  static constexpr Symbol kRefused = 0xffffffffu;
  Symbol hard = 0;  // part of the rules: of left-hand sides and variables; 0 is X. kRefused: not to be used
  Symbol source = 0, target = 0;  // noted beside them
};

// Which phrases of a pair may be used, and under which labels. Phrases are labelled for many pairs at a time, so that
// the numbers of labels can be given in the order of the pairs, whatever the number of threads.
class PhraseLabels {
 public:
  struct Labelled {
    std::span<const PhrasePair> phrases;  // as append_phrase_pairs gives them
    std::span<const PhraseLabel> labels;
  };

  virtual ~PhraseLabels() = default;
  virtual void prepare(const Bitext& bitext, std::size_t begin, std::size_t end, const PhraseLimits& limits,
                       unsigned threads) = 0;
  virtual Labelled of(std::size_t pair) const = 0;  // one of those prepared last; asked by many threads
  // Whether the rule's labels are noted, then those of its variables in source order: Yf Ye X1f X1e X2f X2e.
  virtual bool noted() const = 0;
  // Where labels are not noted: adds what belongs to the code of a rule's target side after its symbols, and to the
  // notes on the rule. `holes` are its variables' target sides, in order.
  virtual void complete(std::size_t /*pair*/, Span /*target*/, std::span<const Span> /*holes*/, std::string& /*code*/,
                        std::string& /*notes*/) const {}
};

struct HieroCounts {
  std::uint64_t pairs = 0;     // sentence pairs read
  std::uint64_t unlinked = 0;  // of them without links, which give nothing
  std::uint64_t phrases = 0;   // initial phrase pairs
  std::uint64_t refused = 0;   // of them refused by the labels
  std::uint64_t flat = 0;      // rules taken, without nonterminals
  std::uint64_t gappy = 0;     // and with

  HieroCounts& operator+=(const HieroCounts& other);
};

// Adds the rules of the pairs [begin, …) to `tally` until there are no more or it has grown over `memory` bytes, and
// returns the first pair that was not read: the same for any number of threads. Only pairs marked in `core` give rules
// with nonterminals; an empty `core` is all. Without `labels` every phrase is an X.
std::size_t extract_hiero(const Bitext& bitext, std::size_t begin, std::span<const std::uint8_t> core,
                          const HieroOptions& options, PhraseLabels* labels, Tally& tally, std::size_t memory,
                          unsigned threads, HieroCounts& counts);

}  // namespace treeglot
