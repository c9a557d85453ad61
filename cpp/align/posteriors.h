// Posteriors of links of one sentence pair in one direction, under fixed parameters.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "align/parameters.h"
#include "base/random.h"

namespace treeglot {

// The factors of the model for one sentence pair.
struct PairFactors {
  std::size_t given = 0, words = 0;
  std::vector<float> links;   // of linking word j to given word i, at j * given + i
  std::vector<float> none;    // of leaving word j without a link
  std::vector<float> growth;  // kFertilities of each given word: p(fertility + 1) / p(fertility)
  const JumpTable* jumps = nullptr;
};

class LinkPosteriors {
 public:
  // Without fertilities, exactly, by forward-backward; returns the logarithm of the sum over all alignments.
  double by_hmm(const PairFactors& factors, double* jump_counts = nullptr);
  // With fertilities: the average over conditional distributions of `rounds` rounds of Gibbs sampling.
  void by_sampling(const PairFactors& factors, unsigned rounds, std::uint64_t seed);
  void by_words(const PairFactors& factors);  // without jumps and fertilities

  float link(std::size_t given, std::size_t word) const { return posterior_[word * given_ + given]; }
  const std::vector<float>& values() const { return posterior_; }
  // The given word that a word is most probably linked to, or given() for none.
  std::size_t best(std::size_t word) const;
  std::size_t given() const { return given_; }

 private:
  void start(const PairFactors& factors);
  double pass_forward(const PairFactors& factors);  // the logarithm of the sum of all scales, -infinity for none
  void step_back(const PairFactors& factors, std::size_t j, double end);  // over word j
  void set_share(const PairFactors& factors, std::size_t i);              // what one more link of given word i weighs
  // A round of Gibbs sampling. Its distributions count among those of so many `rounds`; 0: they do not count.
  void draw_all(const PairFactors& factors, unsigned rounds, Random& random);

  std::size_t given_ = 0;
  std::vector<float> posterior_;
  std::vector<double> forward_, reached_, backward_, scale_;
  std::vector<std::uint16_t> drawn_, fertility_;
  std::vector<float> weight_, share_;
};

}  // namespace treeglot
