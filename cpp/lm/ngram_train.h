// Training n-gram models: interpolated modified Kneser-Ney as lmplz estimates it (Heafield et al. 2013). Counts are
// kept in memory as long as they fit; else they go through the disk. Either way, and whatever the number of threads,
// the result is the same to the byte.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/symbols.h"
#include "lm/estimated_ngrams.h"
#include "lm/kneser_ney.h"
#include "lm/ngram_runs.h"
#include "lm/special_words.h"
#include "lm/word_classes.h"
#include "lm/word_sink.h"

namespace treeglot {

constexpr int kHighestOrder = 9;  // HIGHEST_ORDER in lm/train.py

struct NgramTrainOptions {
  int order = 5;
  // n-grams that occur so often or less are left out, by order; the last value holds for the orders above it.
  std::vector<std::int64_t> prune;
  std::int64_t memory = std::int64_t{2} << 30;  // bytes; about, and not counting the program itself
  std::string folder = "/tmp";                  // for what does not fit
  std::optional<FallbackDiscounts> fallback =
      kFallbackDiscounts;  // none: a discount that cannot be estimated is an error
  int threads = 1;

  void check() const;                             // throws std::invalid_argument
  std::vector<std::uint64_t> thresholds() const;  // one for each order
};

struct NgramTrainReport {
  std::uint64_t sentences = 0, tokens = 0, types = 0;  // tokens and types without <s>, </s> and <unk>
  std::vector<std::uint64_t> counted, kept;            // n-grams of each order, before and after pruning
  std::vector<Discounts> discounts;                    // of each order
  std::size_t runs = 0;                                // sorted runs that went through the disk
};

class NgramTrainer final : public WordSink {
 public:
  // Reports the stage of the work, and how much of it is done.
  using Progress = std::function<void(std::string_view stage, std::uint64_t done, std::uint64_t total)>;

  // With `classes`, the words of the model are classes, by number, and those of the text must have one.
  explicit NgramTrainer(NgramTrainOptions options, std::shared_ptr<const WordClasses> classes = {});

  void begin_sentence() override { words_.push_back(kSentenceBegin); }
  std::string_view add_word(std::string_view text) override {
    const Symbol word = classes_ ? class_of(text) : vocabulary_.intern(text);
    if (word == Symbols::kNone) return "has no class; expected words that the classes were learnt from";
    if (word < std::size(kSpecialWords)) return kOwnWord;
    if (words_.size() - sentence_ > longest_) longest_ = words_.size() - sentence_;
    words_.push_back(word);
    ++report_.tokens;
    return {};
  }
  void end_sentence() override;

  std::uint64_t sentences() const { return report_.sentences; }
  std::uint64_t tokens() const { return report_.tokens; }

  // The sentences since the last call that have not been spilled, for sort_block on another machine. Its runs come back
  // through add_run, in any order; the caller must bring them all.
  std::vector<Symbol> take_block() {
    sentence_ = 0;
    return std::exchange(words_, {});
  }
  void add_run(const std::string& path) { runs().add_file(path, vocabulary_.size()); }
  std::uint64_t waiting() const { return words_.size(); }  // words that take_block would give, with <s> and </s>

  // Estimates the model and gives it to `sink`; to be called once. `name` is what errors call the text.
  NgramTrainReport finish(const std::string& name, NgramSink& sink, const Progress& progress);

 private:
  Symbol class_of(std::string_view text) {
    const std::uint32_t found = classes_->find(text);
    return found == WordClasses::kNone ? Symbols::kNone : vocabulary_.intern(std::to_string(found));
  }
  NgramRuns& runs();
  void spill();
  void set_discounts(const std::string& name, const std::vector<CountsOfCounts>& counts);
  void finish_in_memory(const std::string& name, NgramSink& sink, const Progress& progress);
  void finish_spilled(const std::string& name, NgramSink& sink, const Progress& progress);

  NgramTrainOptions options_;
  unsigned order_;
  std::uint64_t memory_;
  std::vector<std::uint64_t> thresholds_;
  std::shared_ptr<const WordClasses> classes_;
  Symbols vocabulary_;
  std::vector<Symbol> words_;  // sentences, each from <s> to </s>, that have not been spilled
  std::size_t sentence_ = 0;   // where the current one begins
  std::size_t longest_ = 0;    // words in the longest sentence
  std::unique_ptr<NgramRuns> runs_;
  NgramTrainReport report_;
};

}  // namespace treeglot
