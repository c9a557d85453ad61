// Builds a compiled n-gram model from its n-grams, given order by order, the 1-grams first.
//
// What it makes whole: an n-gram may lack the (n−1)-gram that it ends in, because toolkits prune so. It gets this as a
// blank, with the score that backing off gives, as in KenLM. So looking up from the newest word on never stops too
// early. What it refuses: an n-gram twice, an unknown word, an n-gram without the (n−1)-gram that it begins with.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/held_pages.h"
#include "base/mapped_file.h"
#include "base/scratch.h"
#include "base/scratch_pages.h"
#include "base/sections.h"
#include "base/streamed_section.h"
#include "base/symbols.h"
#include "lm/ngram.h"
#include "lm/ngram_table.h"
#include "lm/ngram_words.h"
#include "lm/rest_costs.h"
#include "lm/word_classes.h"

namespace treeglot {

// A hash table that grows, of the fast layout's buckets. With a folder, it is in a file there.
template <class Bucket>
class GrowingTable {
 public:
  explicit GrowingTable(std::uint64_t expected = 0, std::string folder = {});

  struct Place {
    Bucket* bucket;
    unsigned index;
  };
  std::optional<Place> find(NgramKey key);
  Place insert(NgramKey key);  // of a key that is not in it; places found before are void
  std::uint64_t size() const { return size_; }
  std::span<const Bucket> buckets() const { return buckets_; }
  const std::string& folder() const { return folder_; }  // empty: it is in memory

  void prefetch(NgramKey key) const { BucketTable<Bucket>(std::span<const Bucket>(buckets_)).prefetch(key); }

  static std::size_t buckets_for(std::uint64_t count);  // their number for `count` n-grams
  void fit() { resize(buckets_for(size_)); }            // to as many as it needs
  Pages take_pages() && { return std::move(pages_); }   // of a table in memory
  void release() const { scratch_.release(); }          // the pages of a file

 private:
  void resize(std::size_t buckets);
  std::span<Bucket> make(std::size_t buckets, Pages& pages, ScratchPages& scratch) const;

  std::string folder_;
  Pages pages_;
  ScratchPages scratch_;
  std::span<Bucket> buckets_;
  std::uint64_t size_ = 0;
};

// What is wrong with an n-gram, and the line that was given with it.
class NgramError : public std::invalid_argument {
 public:
  NgramError(std::size_t line, const std::string& problem) : std::invalid_argument(problem), line_(line) {}
  std::size_t line() const { return line_; }

 private:
  std::size_t line_;
};

class NgramBuilder {
 public:
  static constexpr float kUnknownLog10 = -100.0f;  // of <unk>, where the n-grams have none; as KenLM

  // `expected` n-grams by order: wrong numbers cost time or memory, nothing else. With a folder, tables and lists are
  // in files there, and about `memory` bytes of them in memory. The words are always in memory.
  explicit NgramBuilder(std::span<const std::uint64_t> expected, const std::string& folder = {},
                        std::uint64_t memory = 0);

  static std::uint64_t table_bytes(std::span<const std::uint64_t> expected);  // of their tables

  unsigned order() const { return static_cast<unsigned>(facts_.order); }
  // The number of a word among the 1-grams given so far; none for other words, and for <unk> before it is given.
  std::optional<WordId> find(std::string_view word) const;
  std::string_view text(WordId word) const { return words_.text(word); }

  // Words oldest first. <UNK> is <unk> unless that was given too. All throw NgramError, add() and end_order() also for
  // n-grams that were given before.
  void add_unigram(std::string_view word, float log10, float backoff, std::size_t line);
  void add(std::span<const WordId> words, float log10, float backoff, std::size_t line);
  void end_order();  // to be called after the last n-gram of each order above 1

  // Once; refuses a model without <s> or </s>. With `classes`, its words are their numbers. A builder without a folder
  // gives the model, and one with a folder writes the same file.
  Sections finish(NgramLayout layout, const WordClasses* classes = nullptr);
  void write(const std::string& path, NgramLayout layout, const WordClasses* classes = nullptr);

 private:
  // An n-gram whose cache lines are being fetched from memory.
  struct Waiting {
    std::size_t line;
    std::uint32_t order;
    NgramValue value;
    NgramKey key, suffix, context;
    std::array<WordId, kMaxNgramOrder> words;
  };
  static constexpr std::size_t kWaiting = 16;

  // An n-gram whose context was not there when it came.
  struct Pending {
    std::size_t line;  // 0: that of a blank, which may miss its context
    std::vector<WordId> words;
  };

  // The words of an order's n-grams, in memory or for the most part in a file.
  struct Listed {
    NgramWords words;
    std::optional<ScratchFile> file;
  };

  NgramValue* lookup(std::span<const WordId> words);
  NgramValue* lookup(std::size_t order, NgramKey key, WordId newest);
  void enter(const Waiting& ngram);
  void enter_all();
  void add_blanks(std::span<const WordId> words);
  void add_classes(const WordClasses& classes, Sections& sections) const;
  void list(std::span<const WordId> words);
  void hold_less();
  struct Begun {
    Sections sections;
    std::span<NgramFacts> facts;  // to be written when all are known
  };
  Begun begin_sections(NgramLayout layout, const WordClasses* classes);
  RestCosts& rests();
  void add_fast(Sections& sections);
  void add_small(Sections& sections);
  std::vector<StreamedSection> stream_fast();
  std::vector<StreamedSection> stream_small(Sections& first);

  NgramFacts facts_;
  Symbols words_;
  std::string unknown_;  // how <unk> is spelled; empty: it was not given
  std::vector<NgramValue> unigrams_;
  std::optional<RestCosts> rests_;                // from the first 2-gram on
  std::vector<GrowingTable<FastBucket>> middle_;  // by order − 2
  GrowingTable<FastLastBucket> last_;
  std::vector<Listed> listed_;     // by order − 2
  std::optional<HeldFiles> held_;  // with tables in files: how much of them is in memory
  std::vector<Waiting> waiting_;
  std::vector<Pending> pending_;
};

}  // namespace treeglot
