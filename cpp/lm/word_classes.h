// Classes of words that stand in the same places. They are found by exchange: each word in turn goes to the class that
// makes the text most likely. The model of the text is a bigram model of classes (Kneser and Ney 1993; Martin, Liermann
// and Ney 1998).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/scratch.h"
#include "base/strings.h"
#include "base/symbols.h"
#include "lm/word_sink.h"

namespace treeglot {

// Words, each with the number of its class, from 0 on.
class WordClasses {
 public:
  WordClasses(const Strings& words, std::vector<std::uint32_t> classes);  // refuses a word twice, and wrong sizes

  std::size_t size() const { return classes_.size(); }
  std::string_view word(std::size_t i) const { return words_.text(static_cast<Symbol>(i)); }
  std::uint32_t of(std::size_t i) const { return classes_[i]; }
  static constexpr std::uint32_t kNone = 0xffffffffu;
  std::uint32_t find(std::string_view word) const {  // the class of a word, kNone if it has none
    const Symbol found = words_.find(word);
    return found == Symbols::kNone ? kNone : classes_[found];
  }

 private:
  Symbols words_;
  std::vector<std::uint32_t> classes_;
};

struct WordClassOptions {
  std::int64_t classes = 100;
  std::int64_t rounds = 20;  // over all words, at most; it ends earlier when no word moves

  void check() const;  // throws std::invalid_argument
};

class WordClassTrainer final : public WordSink {
 public:
  using Progress = std::function<void(std::string_view stage, std::uint64_t done, std::uint64_t total)>;

  // Bigrams beyond `memory` bytes are in files in `folder`; 0: all are in memory. Less than 4 MiB means 4 MiB. Words
  // are always in memory. The result does not depend on it.
  explicit WordClassTrainer(WordClassOptions options, std::size_t memory = 0, std::string folder = {});

  // Sentences, word by word. A sentence's begin and end are a word in a class of its own.
  void begin_sentence() override { last_ = 0; }
  std::string_view add_word(std::string_view text) override;
  void end_sentence() override { count(last_, 0); }
  std::uint64_t tokens() const { return tokens_; }

  struct Result {
    Strings words;                       // the more frequent first
    std::vector<std::uint32_t> classes;  // of each
    std::vector<double> likelihoods;     // log probability of the text, before the first round and after each
    std::vector<std::uint64_t> moves;    // words that changed their class, by round
  };
  Result finish(const Progress& progress);  // to be called once

 private:
  struct Bigram {
    std::uint64_t pair;  // the first word in the high half
    std::uint64_t count;
  };
  static constexpr std::size_t kRecord = 4;  // words of a bigram in a file
  void count(Symbol first, Symbol second);
  void compact();
  void spill();
  void merge_runs();
  // Calls take(bigram) for all in order, after merge_runs().
  template <class Take>
  void for_each(const Take& take) const;

  WordClassOptions options_;
  std::size_t memory_;
  std::string folder_;
  Symbols words_;  // word 0 is the border of sentences
  Symbol last_ = 0;
  std::uint64_t tokens_ = 0;
  std::vector<std::uint64_t> recent_;  // bigrams that have not been counted
  std::vector<Bigram> bigrams_;        // sorted
  std::optional<ScratchFile> file_;    // those that do not fit, in sorted runs; one run after merge_runs()
  std::vector<std::uint64_t> ends_;    // of the runs
};

}  // namespace treeglot
