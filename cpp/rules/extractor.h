// What every extractor is: aligned sentence pairs in, a tally of rules out, and counts of what was seen.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/exclusive.h"
#include "base/strings.h"
#include "base/thread_pool.h"
#include "rules/bitext.h"
#include "rules/tally.h"

namespace treeglot {

using NamedCounts = std::vector<std::pair<std::string_view, std::uint64_t>>;

class Extractor : public Exclusive {
 public:
  explicit Extractor(std::shared_ptr<const Bitext> bitext) : bitext_(std::move(bitext)) {}
  virtual ~Extractor() = default;

  const Bitext& bitext() const { return *bitext_; }

  // Adds the rules of the pairs [begin, …) to `tally` until there are no more or it has grown over `memory` bytes.
  // Returns the first pair that was not read. The result is the same for any number of threads.
  virtual std::size_t extract(std::size_t begin, Tally& tally, std::size_t memory, unsigned threads) = 0;

  // Calls take(pair, rule) for the rules of every pair, in the order of pairs, after extract() has read them all. The
  // counts stay as they are.
  using Take = std::function<void(std::size_t, const CodedRule&)>;
  virtual void visit(unsigned threads, const Take& take) = 0;

  // Some labels are numbered as pairs come, by keys. Extractors of the parts of a corpus number the same labels alike
  // if their trees do. Each finds the keys of its pairs, and is given those of all parts in order.
  virtual void find_keys(std::size_t begin, unsigned threads) = 0;  // of the pairs from `begin` on
  virtual Strings keys() const { return {}; }                       // in the order in which they were found
  virtual void number_keys(const Strings& /*keys*/) {}

  virtual NamedCounts counts() const = 0;  // of all pairs extracted so far
  virtual Strings labels() const {         // by number, as the codes of rules have them
    Strings out;
    out.append("X");
    return out;
  }

 private:
  std::shared_ptr<const Bitext> bitext_;
};

// Pairs that one thread takes at a time, and how many such chunks there are between two looks at the memory.
inline constexpr std::size_t kChunk = 32, kChunks = 32;

// Calls make(first, last) for chunks of [begin, end) on several threads, and take(first, last, result) in order.
template <class Make, class Take>
void map_chunks(std::size_t begin, std::size_t end, unsigned threads, const Make& make, const Take& take) {
  const auto first = [&](std::size_t chunk) { return begin + chunk * kChunk; };
  const auto last = [&](std::size_t chunk) { return std::min(end, first(chunk) + kChunk); };
  ordered_map(
      (end - begin + kChunk - 1) / kChunk, threads, [&](std::size_t chunk) { return make(first(chunk), last(chunk)); },
      [&](std::size_t chunk, auto&& made) { take(first(chunk), last(chunk), std::forward<decltype(made)>(made)); });
}

// A struct of counts: numbers alone, and kNames has their names in the same order.
template <class Counts>
auto numbers_of(const Counts& counts) {
  return std::bit_cast<std::array<std::uint64_t, Counts::kNames.size()>>(counts);
}

// An extractor with counts of its own.
template <class Counts>
class CountingExtractor : public Extractor {
 public:
  using Extractor::Extractor;

  std::size_t extract(std::size_t begin, Tally& tally, std::size_t memory, unsigned threads) final {
    tally.set_occurrence_parts(bitext().occurrence_parts());
    while (begin < bitext().size() && tally.bytes() <= memory) {
      const std::size_t end = std::min(bitext().size(), begin + kChunk * kChunks);
      prepare(begin, end, threads);
      extract_batch(begin, end, tally, threads);
      begin = end;
    }
    return begin;
  }

  void find_keys(std::size_t begin, unsigned threads) final {
    for (; begin < bitext().size(); begin += kChunk * kChunks)
      prepare(begin, std::min(bitext().size(), begin + kChunk * kChunks), threads);
  }

  void visit(unsigned threads, const Extractor::Take& take) final {
    for (std::size_t begin = 0; begin < bitext().size(); begin += kChunk * kChunks) {
      const std::size_t end = std::min(bitext().size(), begin + kChunk * kChunks);
      prepare(begin, end, threads);
      map_chunks(
          begin, end, threads,
          [&](std::size_t first, std::size_t last) {
            std::vector<Occurrences> found(last - first);
            const Worker work = worker();
            Counts seen;
            for (std::size_t pair = first; pair < last; ++pair) work(pair, found[pair - first], seen);
            return found;
          },
          [&](std::size_t first, std::size_t, const std::vector<Occurrences>& found) {
            for (std::size_t i = 0; i < found.size(); ++i)
              found[i].visit([&](const CodedRule& rule) { take(first + i, rule); });
          });
    }
  }

  NamedCounts counts() const override {
    NamedCounts out;
    for (std::size_t i = 0; i < Counts::kNames.size(); ++i) out.emplace_back(Counts::kNames[i], sums_[i]);
    return out;
  }

 protected:
  using Worker = std::function<void(std::size_t pair, Occurrences& out, Counts& counts)>;

  virtual Worker worker() const = 0;  // for the pairs of a chunk; with buffers of its own
  // A worker that calls a PairExtractor's extract(pair, out, counts).
  template <class PairExtractor>
  static Worker work_of(PairExtractor extractor) {
    return [extractor = std::move(extractor)](std::size_t pair, Occurrences& out, Counts& counts) mutable {
      extractor.extract(pair, out, counts);
    };
  }
  // What must be known of a batch of pairs before workers start, such as the numbers of labels.
  virtual void prepare(std::size_t /*begin*/, std::size_t /*end*/, unsigned /*threads*/) {}

 private:
  // Two steps: pairs to occurrences, a chunk at a time; occurrences to the tally, a partition at a time, the chunks in
  // order. Neither depends on which thread does it.
  void extract_batch(std::size_t begin, std::size_t end, Tally& tally, unsigned threads) {
    using Found = std::pair<Occurrences, Counts>;
    std::vector<Occurrences> found;
    map_chunks(
        begin, end, threads,
        [&](std::size_t first, std::size_t last) {
          Found out;
          const Worker work = worker();
          for (std::size_t pair = first; pair < last; ++pair) work(pair, out.first, out.second);
          return out;
        },
        [&](std::size_t, std::size_t, Found&& chunk) {
          found.push_back(std::move(chunk.first));
          std::ranges::transform(sums_, numbers_of(chunk.second), sums_.begin(), std::plus{});
        });
    ordered_map(
        Tally::kPartitions, threads,
        [&](std::size_t partition) {
          for (const Occurrences& occurrences : found) tally.add(partition, occurrences);
          return true;
        },
        [](std::size_t, bool) {}, Tally::kPartitions);
  }

  std::array<std::uint64_t, Counts::kNames.size()> sums_ = {};
};

}  // namespace treeglot
