// Hierarchical rules by subtracting phrase pairs from phrase pairs (Chiang 2007; "Hiero" of the t2t page).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
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
  std::uint32_t min_hole = 1;                  // source words that a nonterminal stands for
  bool adjacent = false;                       // nonterminals side by side on the source side
  // Unaligned words at the ends: of phrases that rules with nonterminals are made from, their holes among them …
  std::uint32_t loose_source = 0;
  std::uint32_t loose_target = 0;
  // … and of phrases that are rules themselves.
  std::uint32_t phrase_loose_source = kNoLimit;
  std::uint32_t phrase_loose_target = 1;
};

// Which phrases of a pair may be used, and under which labels. One object per thread.
class LabelPolicy {
 public:
  static constexpr Symbol kRefused = 0xffffffffu;  // the phrase is neither a rule nor a hole

  virtual ~LabelPolicy() = default;
  // A label for each phrase of pair `pair`: 0 is X. Called once for every pair, from the thread that owns the object.
  virtual void label(std::size_t pair, std::span<const PhrasePair> phrases, std::vector<Symbol>& labels) = 0;
  // Whether labels are part of the rules (its variables and left-hand side carry them), or counted along with X rules.
  virtual bool hard() const = 0;
};
using LabelPolicyFactory = std::function<std::unique_ptr<LabelPolicy>()>;  // none: every phrase is an X

struct HieroCounts {
  std::uint64_t pairs = 0;        // sentence pairs read
  std::uint64_t unlinked = 0;     // of them without links, which give nothing
  std::uint64_t phrases = 0;      // initial phrase pairs
  std::uint64_t refused = 0;      // of them refused by the labels
  std::uint64_t flat = 0;         // rules taken, without nonterminals
  std::uint64_t gappy = 0;        // and with

  HieroCounts& operator+=(const HieroCounts& other);
};

// Adds the rules of the pairs [begin, …) to `tally` until there are no more or it has grown over `memory` bytes, and
// returns the first pair that was not read: the same for any number of threads. Only pairs marked in `core` give rules
// with nonterminals; an empty `core` is all.
std::size_t extract_hiero(const Bitext& bitext, std::size_t begin, std::span<const std::uint8_t> core,
                          const HieroOptions& options, const LabelPolicyFactory& labels, Tally& tally, std::size_t memory, unsigned threads,
                          HieroCounts& counts);

}  // namespace treeglot
