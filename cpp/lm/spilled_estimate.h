// Estimation with the counts on disk: the same numbers as in memory, from data that is read in order.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/scratch.h"
#include "base/symbols.h"
#include "lm/estimated_ngrams.h"
#include "lm/kneser_ney.h"
#include "lm/ngram_runs.h"

namespace treeglot {

// Adjusted counts of all orders, on disk.

// A record of order k is k words, the last one first, and a SpilledCount in two words. As in NgramCounts, the adjusted
// count of an n-gram that nothing extends is its plain count.
struct SpilledCount {
  std::uint64_t count;
  bool pruned, extended;

  static SpilledCount of(const std::uint32_t* words) {
    const std::uint64_t value = get64(words);
    return {value & kCount, (value & kPruned) != 0, (value & kExtended) != 0};
  }
  std::uint64_t value() const { return count | (pruned ? kPruned : 0) | (extended ? kExtended : 0); }

 private:
  static constexpr std::uint64_t kPruned = std::uint64_t{1} << 63, kExtended = std::uint64_t{1} << 62,
                                 kCount = kExtended - 1;
};

struct SpilledCounts {
  std::vector<std::uint64_t> unigrams;
  std::vector<bool> pruned_unigrams;
  std::vector<bool> extended_unigrams;
  std::vector<ScratchFile> orders;               // of order 2 and up
  std::vector<std::uint64_t> sizes, kept;        // n-grams, and those that are not pruned; of order 1 and up
  std::vector<CountsOfCounts> counts_of_counts;  // of order 1 and up
  std::uint64_t total = 0;                       // of the plain counts

  std::uint64_t size(unsigned order) const { return sizes[order - 1]; }
  const ScratchFile& file(unsigned order) const { return orders[order - 2]; }
};

SpilledCounts adjust_counts(NgramRuns::Stream& ngrams, std::size_t vocabulary,
                            std::span<const std::uint64_t> thresholds, std::uint64_t memory, const std::string& folder);

// Takes the counts apart as it goes, so that the disk is free again as early as can be. `done` is told after each
// batch how many n-grams it had.
void estimate_spilled(SpilledCounts counts, std::span<const Discounts> discounts, const Symbols& vocabulary,
                      std::uint64_t memory, const std::string& folder, NgramSink& sink,
                      const std::function<void(std::uint64_t)>& done);

}  // namespace treeglot
