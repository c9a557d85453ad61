// How extractors share a batch of sentence pairs among threads.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "base/thread_pool.h"
#include "rules/tally.h"

namespace treeglot {

// Calls extract(chunk, occurrences, counts) for every chunk in [0, chunks), and adds what it gave to `tally` and `counts`.
// Two steps: pairs to occurrences, a chunk at a time; occurrences to the tally, a partition at a time, the chunks in
// order. Neither depends on who does it: the result is the same for any number of threads.
template <class Counts, class Extract>
void tally_chunks(std::size_t chunks, unsigned threads, Tally& tally, Counts& counts, const Extract& extract) {
  using Found = std::pair<Occurrences, Counts>;
  std::vector<Occurrences> found;
  ordered_map(
      chunks, threads,
      [&](std::size_t chunk) {
        Found out;
        extract(chunk, out.first, out.second);
        return out;
      },
      [&](std::size_t, Found&& chunk) {
        found.push_back(std::move(chunk.first));
        counts += chunk.second;
      });
  ordered_map(
      Tally::kPartitions, threads,
      [&](std::size_t partition) {
        for (const Occurrences& occurrences : found) tally.add(partition, occurrences);
        return true;
      },
      [](std::size_t, bool) {}, Tally::kPartitions);
}

}  // namespace treeglot
