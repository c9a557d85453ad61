// A trained aligner of both directions, in memory or mapped: it aligns and scores any sentence pair.
//
// The sections of its file:
// - settings;
// - source.* and target.*: the words; source.tokens and target.tokens: their frequencies;
// - rows, targets: the word pairs of each source word, by target word;
// - forward.* and backward.*: the DirectionCounts of each direction. Their .priors is the part of links that priors
//   gave.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "align/cells.h"
#include "align/link_priors.h"
#include "align/parameters.h"
#include "align/posteriors.h"
#include "base/exclusive.h"
#include "base/mapped_strings.h"
#include "base/sections.h"
#include "syntax/alignment.h"
#include "syntax/symmetrize.h"

namespace treeglot {

struct AlignerSettings {
  AlignPriors priors;
  // Subtracted from counts of links and of unlinked words: a training sentence must not confirm its own links.
  float discount = 1.0f;
  AlignLevel level = AlignLevel::fertilities;
  std::uint32_t rounds = 20;  // of sampling in a sentence, at the level of fertilities
};

// The posteriors of a sentence pair's links in both directions, row by row: a row for each source word.
struct PairPosteriors {
  std::size_t source = 0, target = 0;
  std::vector<float> forward, backward;
};

using Words = std::span<const std::string_view>;

class Aligner {
 public:
  static constexpr std::size_t kLongest = 512;  // words of a side; longer ones are refused

  // Makes an aligner from the counts of both directions, numbered as in `cells`. Word pairs without counts are left
  // out. The counts include the priors, if any. `before` is the aligner that was updated, if any.
  Aligner(const Cells& cells, const std::array<DirectionCounts, 2>& counts, const AlignerSettings& settings,
          const Aligner* before = nullptr, const LinkPriors& priors = {});
  static Aligner open(const std::string& path);
  void save(const std::string& path) const { sections_.write(path); }

  // `rounds` overrides the number of sampling rounds in the settings.
  PairPosteriors posteriors(Words source, Words target, std::uint32_t rounds = 0) const;
  // The factors of the models for a pair, with p(jump) of every jump. Posteriors are computed from them.
  PairFactors factors(Words source, Words target, bool backwards) const {
    return factors(look_up(source, target), backwards);
  }
  std::vector<float> jumps(bool backwards) const;
  // `agreement` is a separate method: it takes links whose posteriors have at least that geometric mean.
  Alignment align(Words source, Words target, Symmetrization method) const;
  Alignment agreed(Words source, Words target, float agreement) const;
  // The links of the two directions, both from source to target.
  std::array<Alignment, 2> directions(Words source, Words target) const;
  // How well the words of each side predict those of the other, compared with predicting them by their frequencies. In
  // nats a word, averaged over both directions.
  double score(Words source, Words target) const;
  // An estimate of log p(source, target) / (p(source) p(target)), in nats. A word that the other side does not predict
  // costs at most log 2, so that unknown words prove little.
  double evidence(Words source, Words target) const;
  // How many of the words are known as source words, and how many as target words.
  std::array<std::size_t, 2> known(Words words) const;

  const AlignerSettings& settings() const { return *settings_; }
  std::size_t source_words() const { return words_[0].size(); }
  std::size_t target_words() const { return words_[1].size(); }
  std::string_view source_word(Symbol word) const { return words_[0].text(word); }
  std::string_view target_word(Symbol word) const { return words_[1].text(word); }
  std::span<const std::uint64_t> rows() const { return rows_; }
  std::span<const Symbol> targets() const { return targets_; }
  // For the word pair at that place: p(target | source) and p(source | target).
  float forward(Symbol source, std::size_t place) const;
  float backward(Symbol target, std::size_t place) const;

  std::span<const Symbol> targets_of(Symbol source) const;
  float prior(bool backwards, Symbol source, Symbol target) const;  // the part of the pair's links that a prior gave
  std::array<float, 2> probabilities(std::string_view source, std::string_view target) const;  // in both directions

  // For an update with more pairs: an empty corpus whose words begin with this aligner's, and its counts. The counts
  // have the numbers of the given cells, which must contain this aligner's word pairs.
  SentencePairs new_pairs(std::size_t longest) const;
  std::array<DirectionCounts, 2> counts_for(const Cells& cells) const;
  std::uint64_t checksum() const;

 private:
  struct Layout {
    using End = std::uint64_t;
    using Slot = std::uint32_t;
    static constexpr bool kBytesFirst = true;
    static std::size_t slots(std::size_t words) { return 2 * words + 1; }
    static std::size_t home(std::uint64_t hash, std::size_t slots) { return place_of(hash, slots); }
    static Slot slot(std::uint64_t, Symbol number) { return number; }
    static Symbol number(Slot slot) { return slot; }
    static bool may_be(Slot, std::uint64_t) { return true; }
  };
  struct Direction {
    std::span<const float> links, priors, given, null, jumps, fertilities;
    float smoothing = 0, null_total = 0;  // added to the links of a given word; all words without a link
    JumpTable table{0};
    std::array<float, kFertilities> unknown = {};  // fertilities of unknown words
  };
  // A sentence pair by numbers.
  struct Pair {
    std::array<std::vector<Symbol>, 2> words;
    std::vector<std::size_t> places;  // of the word pairs, row by row
    std::uint64_t seed = 0;
  };

  explicit Aligner(Sections sections);
  void open_direction(const std::string& name, bool backwards);
  void check_settings() const;
  void check() const;
  std::size_t find(Symbol source, Symbol target) const;  // its place, or targets_.size()
  Pair look_up(Words source, Words target) const;
  PairFactors factors(const Pair& pair, bool backwards) const;
  float link(bool backwards, std::size_t place, Symbol given) const;
  // Calls call(backwards, gain) for each word of both directions: how many times likelier the other side makes it.
  template <class Call>
  void each_gain(const Pair& pair, Call&& call) const;
  LinkPosteriors posteriors(const Pair& pair, bool backwards, std::uint32_t rounds = 0) const;

  Sections sections_;
  const AlignerSettings* settings_ = nullptr;
  std::array<MappedStrings<Layout>, 2> words_;
  std::array<std::span<const std::uint64_t>, 2> tokens_;
  std::array<double, 2> all_tokens_ = {};
  std::span<const std::uint64_t> rows_;
  std::span<const Symbol> targets_;
  std::array<Direction, 2> directions_;
};

}  // namespace treeglot
