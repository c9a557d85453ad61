// Collapsed Gibbs sampling of alignments in one direction, in the manner of Östling and Tiedemann (2016). It integrates
// out p(word | given word), and draws the distributions of jumps and fertilities once a round.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "align/cells.h"
#include "align/parameters.h"
#include "base/random.h"

namespace treeglot {

class Chain {
 public:
  // `before` holds counts to start from, by the numbers of `cells`: those of a model that is updated.
  Chain(const Cells& cells, bool backwards, const AlignPriors& priors, const DirectionCounts* before,
        std::uint64_t seed);

  // Draws every link once. `stop` ends the round early; the chain cannot be used afterwards.
  void round(AlignLevel level, const std::atomic<bool>& stop);
  void keep();  // adds the counts of the last round to the sums
  std::uint32_t rounds() const { return rounds_; }
  std::uint32_t kept() const { return kept_; }
  const DirectionCounts& sums() const { return sums_; }

  // Saves the state to resume from. The counts are computed from the links.
  void save(const std::string& path, std::uint64_t key) const;
  bool load(const std::string& path, std::uint64_t key);  // false if the file is another chain's or damaged

 private:
  // Counts are multiples of 1 / kUnit, since those of a model that is updated are not integers. They are exact, so that
  // the state follows from the links alone.
  static constexpr std::uint32_t kUnit = 64;
  static constexpr std::uint32_t kMostLinks = 0x7fffffffu / kUnit;  // of a word pair, and of a word to none

  void check_counts() const;  // refuses a text with more links of a word pair than there can be
  void set_jumps(Random& random);
  void set_fertilities(Random& random);
  void prefetch(const DirectedPair& pair) const;
  void start(const DirectedPair& pair, const std::uint16_t* links);  // sets what is kept of the current sentence
  // Sets the weight of choosing each given word where the word occurs, without the word's own count and the jumps.
  void set_share(const DirectedPair& pair, std::size_t first, bool fertile);
  void take_back(const DirectedPair& pair, std::size_t j, std::uint16_t link, bool fertile);  // word j's link
  // Draws the given word of word j by `weight_`. The result is the number of given words for none, which weighs `none`.
  std::size_t draw(const DirectedPair& pair, std::size_t j, float none, Random& random);
  void sample(const DirectedPair& pair, std::uint16_t* links, AlignLevel level, Random& random);
  void count(const DirectedPair& pair, const std::uint16_t* links);
  bool fit(std::span<const std::uint16_t> links) const;
  void recount();  // all counts from the links
  float inverse(Symbol given) const {
    return 1.0f / (static_cast<float>(static_cast<std::int64_t>(given_[given])) + smoothing_);
  }

  const Cells& cells_;
  bool backwards_;
  AlignPriors priors_;
  const DirectionCounts* before_;
  std::uint64_t seed_;
  float smoothing_, null_smoothing_;
  std::uint32_t rounds_ = 0, kept_ = 0;

  std::vector<std::uint16_t> links_;  // of each word: the position of its given word + 1, 0 for none
  std::vector<std::uint32_t> pairs_, null_;
  std::vector<std::uint64_t> given_;
  std::uint64_t nulls_ = 0;
  std::vector<std::uint32_t> jump_counts_, fertility_counts_;
  JumpTable jumps_;
  std::vector<float> growth_;  // p(fertility + 1) / p(fertility) of each given word
  DirectionCounts sums_;

  // Of the current sentence.
  std::vector<std::uint16_t> fertility_;
  std::vector<std::uint16_t> same_;  // the next position with the same given word, in a ring
  std::vector<std::uint16_t> last_;  // the last position of each given word so far
  std::vector<float> share_, weight_, sum_;
};

}  // namespace treeglot
