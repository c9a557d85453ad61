// Training of joint models: epochs over the examples, early stopping by exact perplexity on held-out pairs.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>

#include "neural/joint_network.h"

namespace treeglot {

// Training diverged: a loss is not finite.
class TrainingDiverged : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct JointTrainOptions {
  std::int64_t history = 3, before = 3, after = 3;
  bool source = true;    // false: a plain language model
  bool sentence = true;  // the mean of all source words is an input
  bool lexical = false;  // translations of source words are predicted, without history
  bool heads = false;    // the history is the head and siblings of a word
  bool parse = false;    // what the parse says of the affiliated word is seen, too
  std::int64_t embedding = 96, hidden = 256, second = 0;
  std::int64_t least_source = 2, least_target = 2;  // occurrences of words that are not rare
  std::int64_t least_fallback = 20;                 // tokens of rare words that have a common fallback
  JointLossOptions loss;
  std::int64_t batch = 512;
  double rate = 0.002;
  double decay = 0.01;        // of weights, times the rate in each step (Loshchilov and Hutter 2019)
  std::int64_t epochs = 12;   // at most; the rate falls to 0 over them
  std::int64_t patience = 2;  // epochs in a row without progress, after which training ends
  std::int64_t seed = 1;
  double save_every = 60;  // seconds between two saved states

  void check() const;  // throws std::invalid_argument
};

// Throws std::invalid_argument for the corpus of another kind of model.
void check_kind(const JointCorpus& corpus, const JointTrainOptions& options);

// The dimensions of the model that these options make of a corpus with such parses.
JointFacts joint_facts(const JointTrainOptions& options, ParseKind parse);

struct JointEpoch {
  std::uint64_t epoch = 0;  // from 1 on
  double rate = 0;
  double train_loss = 0;     // mean, with dropout and penalty
  double perplexity = 0;     // exact, of held-out words and sentence ends
  double mean_log_sum = 0;   // of held-out examples: 0 for a normalised model
  double log_sum_error = 0;  // their root mean square
  std::uint64_t best = 0;    // 1 if no epoch before was better
};

// Called on the thread that trains; may throw to stop.
struct JointWatch {
  std::function<void(std::uint64_t epoch, std::uint64_t done, std::uint64_t total)> progress;
  std::function<void(const JointEpoch&)> report;
  std::function<void(const std::string&)> warn;
};

// Code that learns instead of the network's own, such as a deep-learning library. train_joint still decides the order,
// draws, rates, evaluation and saved states.
struct JointLearner {
  std::string name;                                // with all that its rounding depends on
  std::function<void(const JointNetwork&)> begin;  // takes parameters and moments
  std::function<double(const JointBatch&)> learn;  // what JointNetwork::learn() does
  std::function<void(JointNetwork&)> give;         // puts parameters and moments into the network
};

// The model of the best epoch. `file`, if not empty, keeps the state: a run that was killed continues there and ends
// with the same result. Throws std::invalid_argument for corpora that nothing can be learnt from, and
// TrainingDiverged when training diverges.
JointModel train_joint(const JointCorpus& corpus, const JointCorpus& held_out, const JointTrainOptions& options,
                       unsigned threads, const std::string& file, const JointWatch& watch,
                       const JointLearner* learner = nullptr);

}  // namespace treeglot
