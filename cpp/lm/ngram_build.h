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

#include "base/mapped_file.h"
#include "base/sections.h"
#include "base/symbols.h"
#include "lm/ngram.h"
#include "lm/ngram_table.h"
#include "lm/ngram_words.h"
#include "lm/word_classes.h"

namespace treeglot {

// A hash table that grows, of the fast layout's buckets.
template <class Bucket>
class GrowingTable {
 public:
  explicit GrowingTable(std::uint64_t expected = 0);

  struct Place {
    Bucket* bucket;
    unsigned index;
  };
  std::optional<Place> find(NgramKey key);
  Place insert(NgramKey key);  // of a key that is not in it; places found before are void
  std::uint64_t size() const { return size_; }
  std::span<const Bucket> buckets() const { return buckets_; }

  void prefetch(NgramKey key) const { BucketTable<Bucket>(std::span<const Bucket>(buckets_)).prefetch(key); }

  // The number of buckets for `count` n-grams, and the pages of a table that has as many as it needs.
  static std::size_t buckets_for(std::uint64_t count);
  Pages finish() &&;

 private:
  void resize(std::size_t buckets);

  Pages pages_;
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

  // `expected` n-grams by order: wrong numbers cost time or memory, nothing else.
  explicit NgramBuilder(std::span<const std::uint64_t> expected);

  unsigned order() const { return static_cast<unsigned>(facts_.order); }
  // The number of a word among the 1-grams given so far; none for other words, and for <unk> before it is given.
  std::optional<WordId> find(std::string_view word) const;
  std::string_view text(WordId word) const { return words_.text(word); }

  // Words oldest first. <UNK> is <unk> unless that was given too. All throw NgramError, add() and end_order() also for
  // n-grams that were given before.
  void add_unigram(std::string_view word, float log10, float backoff, std::size_t line);
  void add(std::span<const WordId> words, float log10, float backoff, std::size_t line);
  void end_order();  // to be called after the last n-gram of each order above 1

  // Once; refuses a model without <s> or </s>. With `classes`, its words are their numbers.
  Sections finish(NgramLayout layout, const WordClasses* classes = nullptr);

 private:
  // An n-gram whose lines are on their way from memory.
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

  NgramValue* lookup(std::span<const WordId> words);
  NgramValue* lookup(std::size_t order, NgramKey key, WordId newest);
  void enter(const Waiting& ngram);
  void enter_all();
  void add_blanks(std::span<const WordId> words);
  void add_classes(const WordClasses& classes, Sections& sections) const;
  void add_fast(Sections& sections);
  void add_small(Sections& sections);

  NgramFacts facts_;
  Symbols words_;
  std::string unknown_;  // how <unk> is spelled; empty: it was not given
  std::vector<NgramValue> unigrams_;
  std::vector<GrowingTable<FastBucket>> middle_;  // by order − 2
  GrowingTable<FastLastBucket> last_;
  std::vector<NgramWords> listed_;  // by order − 2
  std::vector<Waiting> waiting_;
  std::vector<Pending> pending_;
};

}  // namespace treeglot
