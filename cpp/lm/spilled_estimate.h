// Estimation with the counts on disk: the same numbers as in memory, from data that is read in order.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "base/symbols.h"
#include "lm/ngram_sink.h"
#include "lm/spilled_counts.h"

namespace treeglot {

// Takes the counts apart as it goes, so that the disk is free again as early as can be. `done` is told after each
// batch how many n-grams it had.
void estimate_spilled(SpilledCounts counts, std::span<const Discounts> discounts, const Symbols& vocabulary,
                      std::uint64_t memory, const std::string& folder, NgramSink& sink,
                      const std::function<void(std::uint64_t)>& done);

}  // namespace treeglot
