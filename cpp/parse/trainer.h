// Training of split grammars: split, EM, merge, EM, smooth (Petrov et al. 2006). Each step is a function, so that what
// drives them can save the state in between and go on from it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/exclusive.h"
#include "parse/expectation.h"
#include "parse/split_grammar.h"
#include "parse/treebank.h"

namespace treeglot {

class Trainer : public Exclusive {
 public:
  // Level 0: relative frequencies of the rules of the binarised trees.
  // With `classes`, rare and unseen words learn their tags from words of the same class, too.
  Trainer(std::shared_ptr<const Treebank> bank, SignatureKind signature,
          std::shared_ptr<const WordClasses> classes = nullptr);

  double log_likelihood(unsigned threads) const;
  // One iteration of EM; the log likelihood before it. Never lowers it.
  double em(unsigned threads);
  // Every state but the root's becomes two, which differ by up to `noise` of each probability at random.
  void split(std::uint64_t seed, double noise);
  // Undoes the given share of the last splits, those that cost the least likelihood. Returns their number.
  std::size_t merge(double share, unsigned threads);
  // Each state's rules get a part of the mean over the states of its label (section 2.3).
  void smooth(double grammar, double lexicon);
  // The level as it is now becomes the next level of the grammar, with probabilities of rules below `least` taken for
  // 0. Those of words are made from how often states are expected, so they are smoothed here by `lexicon`.
  void finish_level(unsigned threads, double least, double lexicon);

  std::size_t levels() const { return grammar_->levels.size(); }
  std::uint32_t total_states() const { return level_.total_states(); }
  std::shared_ptr<const SplitGrammar> grammar() const { return grammar_; }

  // Everything that further steps depend on, and back. Refuses what is not the state of the same treebank.
  std::string state() const;
  void restore(std::string_view bytes);

  // Rules and probabilities of the level as it is now, for tests: head, children or word, sub-states, probability.
  const TrainingLevel& level() const { return level_; }
  const Treebank& bank() const { return *bank_; }

 private:
  bool finished() const;
  std::uint64_t hash() const;  // of what training was begun with
  void normalise();
  std::vector<double> expected_states(unsigned threads) const;
  void merge_states(std::span<const std::uint8_t> is_merged, std::span<const double> part);
  void add_words(const std::vector<double>& counts, double smooth, Level& out) const;

  std::shared_ptr<const Treebank> bank_;
  std::shared_ptr<SplitGrammar> grammar_;
  TrainingLevel level_;
  bool split_ = false;  // states 2x and 2x + 1 come from one: they can be merged
};

}  // namespace treeglot
