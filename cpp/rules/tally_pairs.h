// How extractors share a batch of sentence pairs among threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/thread_pool.h"
#include "rules/tally.h"

namespace treeglot {

// Pairs that one thread takes at a time, and how many such chunks there are between two looks at the memory.
inline constexpr std::size_t kChunk = 32, kChunks = 32;

// Makes a worker for each chunk of [begin, end), calls worker(pair, occurrences, counts) for its pairs, and adds what
// it gave to `tally` and `counts`. Two steps: pairs to occurrences, a chunk at a time; occurrences to the tally, a
// partition at a time, the chunks in order. Neither depends on who does it: the result is the same for any number of
// threads.
template <class Counts, class MakeWorker>
void tally_pairs(std::size_t begin, std::size_t end, unsigned threads, Tally& tally, Counts& counts,
                 const MakeWorker& make_worker) {
  using Found = std::pair<Occurrences, Counts>;
  std::vector<Occurrences> found;
  ordered_map((end - begin + kChunk - 1) / kChunk, threads,
              [&](std::size_t chunk) {
                Found out;
                auto worker = make_worker();
                const std::size_t first = begin + chunk * kChunk;
                for (std::size_t pair = first; pair < std::min(end, first + kChunk); ++pair)
                  worker(pair, out.first, out.second);
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

// Calls extract(begin, end) for one batch of pairs after another until all are done or the tally has grown beyond
// `memory`; gives the first pair that was not done.
template <class Extract>
std::size_t tally_batches(std::size_t begin, std::size_t pairs, const Tally& tally, std::size_t memory,
                          const Extract& extract) {
  while (begin < pairs && tally.bytes() <= memory) {
    const std::size_t end = std::min(pairs, begin + kChunk * kChunks);
    extract(begin, end);
    begin = end;
  }
  return begin;
}

}  // namespace treeglot
