// Aligns the sentences of a paragraph with those of its translation, by lengths (Gale and Church 1993). With an
// aligner, words count as well (Moore 2002).
//
// A paragraph pair is a sequence of beads, each of up to two sentences a side. A bead's score is the logarithm of its
// prior, plus a gain for lengths and one for words. A gain says how much better the two sides fit each other than sides
// drawn alone. A bead with one empty side has its prior alone.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace treeglot {

// Some sentences of one side and their translation on the other.
struct Bead {
  std::uint32_t source = 0, target = 0;    // the first sentence of each side
  std::uint32_t sources = 0, targets = 0;  // how many
  double posterior = 0;                    // the probability that it is right
};

// Beads of so many source and target sentences, with their priors (Gale and Church 1993, table 5).
struct BeadKind {
  std::uint32_t sources, targets;
  double prior;
};
constexpr std::array<BeadKind, 6> kBeads = {
    {{1, 1, 0.89}, {1, 0, 0.00495}, {0, 1, 0.00495}, {1, 2, 0.0445}, {2, 1, 0.0445}, {2, 2, 0.011}}};

// How long translations are. For a side of length s, the translation's length is normal with mean `ratio` s. Its
// variance is `variance` for each unit of the target's length. Lengths of sentences alone have exponential
// distributions.
struct LengthModel {
  double ratio = 1, variance = 6.8, target_mean = 1;

  // log p(target | source) - log p(target), for a target side of so many sentences.
  double gain(double source, double target, std::uint32_t sentences) const;
  // Counts the beads with one sentence a side.
  void count(std::span<const double> source, std::span<const double> target, std::span<const Bead> beads);
  void estimate();  // from what was counted

 private:
  double source_sum_ = 0, target_sum_ = 0, squares_ = 0, weights_ = 0;
};

struct ParagraphLengths {
  std::vector<double> source, target;  // of each sentence, above 0
};

// Lengths of translations and of target sentences, learnt from paragraphs in a few rounds.
LengthModel fit_lengths(std::span<const ParagraphLengths> paragraphs);

// How well the words of a bead fit each other, in nats. May be empty.
using BeadGain = std::function<double(const Bead& bead)>;

// The best beads of a paragraph pair, in order. `gain` is not called for beads whose lengths are hopeless.
std::vector<Bead> align_sentences(std::span<const double> source, std::span<const double> target,
                                  const LengthModel& lengths, const BeadGain& gain);

}  // namespace treeglot
