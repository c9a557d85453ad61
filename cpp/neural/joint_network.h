// The network of a joint model while it is trained: parameters, loss, gradients, updates.
//
// The loss of an example is -s(w) + log Z + penalty (log Z)^2, where s are the scores of the output. Z is their sum
// over all words or, with sampling, an unbiased estimate. The estimate adds up the most frequent words and the words of
// the batch exactly, and the others by importance sampling. All examples of a batch share the sampled words.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "neural/crew.h"
#include "neural/joint_corpus.h"
#include "neural/joint_model.h"
#include "neural/matrix.h"

namespace treeglot {

struct JointLossOptions {
  std::int64_t samples = 1024;  // words drawn for a batch; 0: all words, no sampling
  std::int64_t frequent = 512;  // words that need not be drawn
  double penalty = 0.15;        // of (log Z)^2
  double dropout = 0.5;         // of hidden units
  double input_dropout = 0.2;   // of the numbers of embeddings
  double short_history = 0.1;   // share of examples whose history is cut: <none> replaces its oldest words
};

// A batch with all that is random about it, for code outside of the core that learns from it (joint_train.h).
struct JointBatch {
  std::vector<std::int64_t> places;           // [examples][width]: rows of the embeddings, in the order of the inputs
  std::vector<std::int64_t> sources, begins;  // rows whose mean is one more input; where those of each example begin
  std::int64_t mean_at = -1;                  // the place of this input among the others; -1: there is none
  std::vector<std::int64_t> columns;          // [examples]: the candidate that is the example's word
  std::vector<std::int64_t> candidates;       // words
  std::vector<float> log_weights;             // how many words each candidate stands for
  std::vector<std::uint8_t> in_kept;          // [examples][inputs], by dropout; empty if all are
  std::vector<std::uint8_t> hidden_kept, second_kept;  // [examples][units] of each layer
  float in_scale = 1, hidden_scale = 1;                // of what is kept
  neural::AdamStep step = {};
};

class JointNetwork {
 public:
  // Parameters are drawn by the seed; the output's biases are the logs of the words' frequencies.
  JointNetwork(const JointFacts& facts, std::size_t source_words, std::span<const std::uint64_t> target_counts,
               const JointLossOptions& options, std::uint64_t seed);

  struct Batch {
    const JointExamples& examples;
    std::span<const std::uint32_t> chosen;  // numbers of examples
    std::uint64_t step;                     // what is drawn depends on it and on the seed
  };
  // Updates what the batch touches by its mean loss, and returns the sum of the examples' losses.
  double learn(const Batch& batch, neural::Crew& crew, const neural::AdamStep& step) {
    return pass(batch, crew, &step);
  }
  // The same without an update. The gradients of the mean loss are in gradients().
  double differentiate(const Batch& batch, neural::Crew& crew);

  // Draws a batch for a learner outside the core, with the same random numbers as learn().
  JointBatch drawn(const Batch& batch, neural::Crew& crew, const neural::AdamStep& step);

  // Exact scores: for each example log p(word), without `share`, and log Z.
  struct Scores {
    std::vector<float> log_probabilities, log_sums;
  };
  Scores evaluate(const JointExamples& examples, neural::Crew& crew) const;

  // Blocks of parameters, and the moments of their gradients.
  enum Block : std::size_t { kEmbeddings, kWeights, kBias, kSecondWeights, kSecondBias, kOutput, kOutputBias, kBlocks };
  static constexpr std::string_view kBlockNames[kBlocks] = {"embeddings",  "weights", "bias",       "second.weights",
                                                            "second.bias", "output",  "output.bias"};
  using Values = std::array<std::vector<float>, kBlocks>;
  Values& values() { return values_; }
  const Values& values() const { return values_; }
  Values& means() { return means_; }
  const Values& means() const { return means_; }
  Values& variances() { return variances_; }
  const Values& variances() const { return variances_; }
  const Values& gradients() const { return gradients_; }

  JointModel model(const JointWords& source, const JointWords& target) const;

 private:
  struct Candidates {
    std::vector<std::uint32_t> words;    // padded to a multiple of kLanes
    std::vector<float> log_weights;      // how many words each stands for
    std::vector<float> bias;             // of the output
    std::vector<std::uint32_t> columns;  // of each word among them
    std::size_t size = 0;                // without padding
  };
  struct Layer {  // one layer of tanh units
    std::size_t inputs, units;
    Block weights, bias;
  };
  double pass(const Batch& batch, neural::Crew& crew, const neural::AdamStep* step);
  void draw_candidates(const Batch& batch);
  void draw_batch(const Batch& batch, neural::Crew& crew);
  void draw_context(const Batch& batch, std::size_t row);
  // The embeddings of a context's words; those of the example's source words are added up in their mean.
  void embed(const std::uint32_t* context, std::span<const std::uint32_t> source, float* out) const;
  std::size_t input(std::size_t k) const {  // where the embedding of a context's k-th word is among the inputs
    return (k < facts_.affiliated() ? k : k + facts_.sentence) * facts_.embedding;
  }
  std::size_t place(std::size_t k, std::uint32_t word) const {  // of the embedding of a context's k-th word
    return k < facts_.affiliated() ? word : source_words_ + word;
  }
  void activate(const Layer& layer, const float* in, float* out, std::size_t rows) const;
  double output_row(std::uint32_t word, std::size_t row, std::size_t rows);
  void learn_output(std::size_t rows, neural::Crew& crew, const neural::AdamStep* step);
  void learn_layer(const Layer& layer, const std::vector<float>& in, const std::vector<float>& out_gradient,
                   std::size_t rows, neural::Crew& crew, const neural::AdamStep* step);
  void back_through(std::size_t layer, std::size_t rows, neural::Crew& crew);
  void learn_embeddings(const Batch& batch, neural::Crew& crew, const neural::AdamStep* step);
  void update(Block block, std::size_t at, const float* gradient, std::size_t length, const neural::AdamStep* step);

  JointFacts facts_;
  std::size_t source_words_, target_words_, inputs_, last_;
  JointLossOptions options_;
  std::uint64_t seed_;
  std::vector<std::uint32_t> frequent_, rare_;  // words that are always candidates, and those that are drawn
  std::vector<double> rare_sums_;               // of the weights that rare words are drawn with
  std::vector<Layer> layers_;
  Values values_, means_, variances_, gradients_;

  // Of a batch.
  Candidates candidates_;
  std::vector<std::uint32_t> contexts_;                         // [rows][width]
  std::vector<float> in_, in_gradient_;                         // [rows][inputs]
  std::vector<std::uint8_t> in_kept_;                           // by dropout
  std::array<std::vector<float>, 2> hidden_, hidden_gradient_;  // [rows][units] of each layer
  std::array<std::vector<std::uint8_t>, 2> hidden_kept_;
  std::vector<float> scores_;          // [rows][candidates]: scores, then their gradients
  std::vector<float> columns_, rows_;  // the candidates' output weights: [last][candidates], [candidates][last]
  std::vector<float> transposed_;      // a layer's weights
  std::vector<double> losses_;
};

}  // namespace treeglot
