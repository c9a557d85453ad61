// Counting on disk: blocks of text become sorted runs of n-grams with their counts, which are merged into one stream.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/scratch.h"
#include "base/symbols.h"

namespace treeglot {

// A record is an n-gram of the highest order with its last word first, then its plain count in two words. Where a
// sentence begins inside of it, the rest is <s>. Because words are reversed, records are in the order of their words.
// The shorter n-grams that end an n-gram are the beginnings of its record.
//
// Another machine may sort a block: it writes the records of the run to a file, which is then added here.
using RunWriter = std::function<void(std::span<const std::uint32_t> words)>;

// Gives the records of a block of whole sentences, in pieces. Throws std::invalid_argument for other words.
void sort_block(std::span<const Symbol> words, unsigned order, const RunWriter& write);

class NgramRuns {
 public:
  NgramRuns(unsigned order, std::uint64_t memory, const std::string& folder);

  // Sorts and counts the n-grams of a block of whole sentences, each from <s> to </s>.
  void add(std::span<const Symbol> words, std::size_t vocabulary);

  // Copies a run that sort_block gave, from a file. Throws FormatError if it is no run of that vocabulary.
  void add_file(const std::string& path, std::size_t vocabulary);

  std::size_t size() const { return runs_.size(); }
  std::size_t width() const { return order_ + 2; }

  // All runs in one stream, equal n-grams added up. To be called once, after the last add().
  class Stream;
  std::unique_ptr<Stream> merge() const;

 private:
  struct Run {
    std::uint64_t begin, end;
  };

  unsigned order_;
  std::uint64_t memory_;
  ScratchFile file_;
  std::vector<Run> runs_;
};

class NgramRuns::Stream {
 public:
  Stream(std::vector<ScratchReader> runs, unsigned order);

  const std::uint32_t* get() const { return ended_ ? nullptr : current_.data(); }
  void advance();

 private:
  bool before(std::size_t a, std::size_t b) const;
  void sift_down(std::size_t at);

  std::vector<ScratchReader> runs_;
  std::vector<std::uint32_t> heap_;  // runs that are not at their end, the one with the least record first
  unsigned order_;
  std::vector<std::uint32_t> current_;
  bool ended_ = false;
};

}  // namespace treeglot
