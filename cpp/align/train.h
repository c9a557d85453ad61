// Training aligners from sentence pairs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "align/aligner.h"

namespace treeglot {

// Called ten times a second, on the thread that trains, with the rounds done and their total. Before the first round it
// gets 0 of 1. It may throw to stop.
using AlignWatch = std::function<void(std::uint64_t done, std::uint64_t total)>;

// Gibbs sampling: independent chains of rounds over the corpus, whose counts are averaged.
struct SamplerOptions {
  std::uint64_t seed = 1;
  int chains = 4;
  int rounds = 0;  // of each chain at the highest level; 0: by the size of the corpus
  int level = 3;
  double null = 0.2, lexical = 0.001;  // of a word without a link; the Dirichlet prior of p(word | given word)
  LinkPriorOptions priors;
  double save_every = 2;  // seconds between two states that a chain saves

  void check() const;  // throws std::invalid_argument
};

// The number of rounds for a corpus of so many pairs. Small corpora need more, and take little time.
int sampler_rounds(std::size_t pairs);

// `before` is an aligner to update, which `pairs` come from; a lexicon has word pairs that are known. `folder`, if not
// empty, keeps the state of the chains: a run that was killed goes on there, and ends with the same result.
Aligner train_sampler(const SentencePairs& pairs, const Aligner* before, const std::vector<LexiconEntry>& lexicon,
                      const SamplerOptions& options, unsigned threads, const std::string& folder,
                      const AlignWatch& watch);

// Expectation maximisation, or variational Bayes, of IBM model 1 and then of the HMM.
struct HmmOptions {
  int ibm1 = 5, iterations = 5;
  bool variational = true;
  double null = 0.1;

  void check() const;
};

Aligner train_hmm(const SentencePairs& pairs, const HmmOptions& options, unsigned threads, const AlignWatch& watch);

}  // namespace treeglot
