// Rules sorted by their source sides: in memory, or in sorted runs on disk that are merged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/scratch.h"
#include "base/symbols.h"

namespace treeglot {

class RuleSorter {
 public:
  // Records beyond `memory` bytes go to a file in `folder`. With 0, all stay in memory.
  explicit RuleSorter(std::size_t memory = 0, std::string folder = {});

  // Adds a record (rules/rule_record.h) of a source side. Without a record, the source side alone is known.
  void add(std::span<const Symbol> source, std::span<const std::uint32_t> record);

  // Adds records that another sorter wrote: those between two places of its file. They come behind what was added
  // before. The file stays open until they are merged. One that ends too early is a FormatError.
  void add_run(const std::string& path, std::uint64_t begin, std::uint64_t end);
  // Writes all records to a file, sorted, for add_run of other sorters. Gives the place where each piece begins, and
  // the end. A piece begins with the first source side that begins with its symbol of `begins` or a higher one; the
  // first piece has all before. The sorter is empty then.
  std::vector<std::uint64_t> write_run(const std::string& path, std::span<const Symbol> begins);

  bool in_files() const { return !runs_.empty(); }
  std::uint64_t spilled() const { return file_ ? file_->size() * sizeof(std::uint32_t) : 0; }  // bytes
  const std::string& folder() const { return folder_; }

  // Calls take(source, records, number) for all source sides in the order of their symbols; one that begins another
  // comes before it. Records have the order in which they were added. To be called once; the sorter is empty then, also
  // if take() throws.
  template <class Take>
  void merge(const Take& take) {
    try {
      if (in_files()) {
        merge_files(take);
      } else {
        merge_buckets(take);
      }
    } catch (...) {
      clear();
      throw;
    }
    clear();
  }

 private:
  // Records of one source side that were added one after the other. First come their number, the words that they take
  // and the number of symbols. The symbols and the records follow.
  static constexpr std::size_t kHead = 3;
  struct Group {
    explicit Group(const std::uint32_t* words)
        : number(words[0]), source(words + kHead, words[2]), records(words + kHead + words[2], words[1]) {}
    bool is_of(std::span<const Symbol> other) const;
    bool operator<(const Group& other) const;
    std::size_t words() const { return kHead + source.size() + records.size(); }

    std::uint32_t number;
    std::span<const Symbol> source;
    std::span<const std::uint32_t> records;
  };
  // A group that is in memory. Most are told apart by their first symbols.
  struct Place {
    std::uint64_t first, second;
    std::uint32_t block, at;
  };
  // The groups in memory whose source sides begin with symbols of a range.
  struct Bucket {
    const std::uint32_t* at(const Place& place) const { return blocks[place.block].data() + place.at; }
    void sort();

    std::vector<std::vector<std::uint32_t>> blocks;
    std::vector<Place> places;
  };
  struct Run {
    std::size_t file;  // 0: its own, or one of the others from 1 on
    std::uint64_t begin, end;
  };
  // Groups of a run, read with a buffer.
  class RunReader {
   public:
    RunReader(ScratchFile& file, Run run, std::size_t buffer);
    const std::uint32_t* get() const { return filled_ == 0 ? nullptr : buffer_.data() + at_; }
    void advance();

   private:
    void fill();

    ScratchFile* file_;
    Run run_;
    std::vector<std::uint32_t> buffer_;
    std::size_t at_ = 0, filled_ = 0;
  };
  // All groups of the files in order.
  class Groups {
   public:
    explicit Groups(RuleSorter& sorter);
    const std::uint32_t* next();  // null behind the last; the one before is gone

   private:
    bool before(std::size_t a, std::size_t b) const;
    void sift_down(std::size_t at);

    std::vector<RunReader> runs_;
    std::vector<std::uint32_t> heap_;  // runs that are not at their end, the one with the least group first
    bool moved_ = true;                // the least run is at a group that was not given yet
  };

  template <class Take>
  void merge_files(const Take& take) {
    std::vector<Symbol> source;
    std::vector<std::uint32_t> records;
    std::uint32_t number = 0;
    for (Groups groups(*this); const std::uint32_t* group = groups.next();) {
      const Group found(group);
      if (!source.empty() && !found.is_of(source)) {
        take(std::span<const Symbol>(source), std::span<const std::uint32_t>(records), number);
        records.clear();
        number = 0;
      }
      source.assign(found.source.begin(), found.source.end());
      records.insert(records.end(), found.records.begin(), found.records.end());
      number += found.number;
    }
    if (!source.empty()) take(std::span<const Symbol>(source), std::span<const std::uint32_t>(records), number);
  }
  // Groups are taken where they are. Few source sides have several. A bucket is free when its groups were taken.
  template <class Take>
  void merge_buckets(const Take& take) {
    while (!buckets_.empty()) {
      Bucket& bucket = buckets_.begin()->second;
      bucket.sort();
      merge_bucket(bucket, take);
      buckets_.erase(buckets_.begin());
    }
  }
  template <class Take>
  static void merge_bucket(const Bucket& bucket, const Take& take) {
    constexpr std::size_t kLookAhead = 8;
    const std::vector<Place>& places = bucket.places;
    std::vector<std::uint32_t> records;
    for (std::size_t begin = 0, end = 0; begin < places.size(); begin = end) {
      if (begin + kLookAhead < places.size()) __builtin_prefetch(bucket.at(places[begin + kLookAhead]));
      const Group first(bucket.at(places[begin]));
      const auto same = [&](const Place& place) {
        return place.first == places[begin].first && place.second == places[begin].second &&
               Group(bucket.at(place)).is_of(first.source);
      };
      end = begin + 1;
      while (end < places.size() && same(places[end])) ++end;
      if (end == begin + 1) {
        take(first.source, first.records, first.number);
        continue;
      }
      records.clear();
      std::uint32_t number = 0;
      for (std::size_t i = begin; i < end; ++i) {
        const Group found(bucket.at(places[i]));
        records.insert(records.end(), found.records.begin(), found.records.end());
        number += found.number;
      }
      take(first.source, std::span<const std::uint32_t>(records), number);
    }
  }

  Bucket& bucket_of(Symbol first);
  std::uint32_t* room(Bucket& bucket, std::size_t words);  // at the end of its last block, or in a new one
  std::size_t bytes() const { return block_bytes_ + groups_ * sizeof(Place); }
  void spill();
  void clear();

  std::size_t memory_;
  std::string folder_;
  std::map<Symbol, Bucket> buckets_;
  Bucket* last_ = nullptr;  // of buckets_, that was added to
  Symbol last_key_ = 0;
  std::size_t block_bytes_ = 0, groups_ = 0;  // of all buckets
  std::optional<ScratchFile> file_;
  std::vector<ScratchFile> others_;
  std::vector<Run> runs_;
};

}  // namespace treeglot
