#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>

#include "align/posteriors.h"
#include "align/train.h"
#include "align/watched.h"

namespace treeglot {
namespace {

constexpr float kLeastFactor = 1e-30f;  // variational Bayes takes rare words to nothing
constexpr double kVariationalPrior = 0.01;

// exp(digamma(x)), the factor that variational Bayes puts in the place of a count (Johnson 2007).
double exp_digamma(double x) {
  double shift = 0.0;
  for (; x < 6.0; x += 1.0) shift -= 1.0 / x;
  const double y = 1.0 / (x * x);
  return std::exp(shift + std::log(x) - 0.5 / x - y * (1.0 / 12 - y * (1.0 / 120 - y / 252)));
}

class HmmTraining {
 public:
  HmmTraining(const Cells& cells, bool backwards, const HmmOptions& options)
      : cells_(cells), backwards_(backwards), options_(options), jumps_(0) {
    const SentencePairs& pairs = cells.pairs();
    const std::size_t given = (backwards ? pairs.target_words() : pairs.source_words()).size();
    words_ = (backwards ? pairs.source_words() : pairs.target_words()).size();
    const float uniform = 1.0f / static_cast<float>(std::max<std::size_t>(words_, 1));
    // Factors first: of words and given words p(word | given word), as a quotient.
    factors_ = {std::vector<float>(cells.size(), uniform),
                std::vector<float>(given, 1.0f),
                std::vector<float>(words_, uniform),
                std::vector<float>(kJumps, 1.0f),
                {}};
    std::size_t longest = 0;
    for (std::size_t p = 0; p < pairs.size(); ++p) longest = std::max(longest, cells.pair(p, backwards).given.size());
    jumps_ = JumpTable(longest);
  }

  void iterate(bool hmm, const std::atomic<bool>& stop) {
    pair_counts_.assign(factors_.pairs.size(), 0.0f);
    given_counts_.assign(factors_.given.size(), 0.0);
    null_counts_.assign(words_, 0.0);
    jump_counts_.assign(kJumps, 0.0);
    for (std::size_t p = 0; p < cells_.pairs().size(); ++p) {
      if (p % 256 == 0 && stop) return;
      expect(cells_.pair(p, backwards_), hmm);
    }
    maximise();
  }

  DirectionCounts finish(const AlignPriors& priors) && {
    // p = (links + lexical) / (given + lexical * words) is then what was learnt.
    for (float& total : factors_.given) total = std::max(total - priors.lexical * static_cast<float>(words_), 0.0f);
    factors_.fertilities.resize(factors_.given.size() * kFertilities);
    return std::move(factors_);
  }

 private:
  void expect(const DirectedPair& pair, bool hmm) {
    const auto null = static_cast<float>(options_.null);
    pair_.given = pair.given.size();
    pair_.words = pair.words.size();
    pair_.jumps = &jumps_;
    pair_.links.clear();
    pair_.none.clear();
    for (std::size_t j = 0; j < pair.words.size(); ++j) {
      for (std::size_t i = 0; i < pair.given.size(); ++i) {
        const float share = factors_.pairs[pair.column(j)[i * pair.given_step]] / factors_.given[pair.given[i]];
        pair_.links.push_back(std::max((1 - null) * share, kLeastFactor));
      }
      pair_.none.push_back(std::max(null * factors_.null[pair.words[j]], kLeastFactor));
    }
    if (hmm) {
      posteriors_.by_hmm(pair_, jump_counts_.data());
    } else {
      posteriors_.by_words(pair_);
    }
    for (std::size_t j = 0; j < pair.words.size(); ++j) {
      float none = 1.0f;
      for (std::size_t i = 0; i < pair.given.size(); ++i) {
        const float posterior = posteriors_.link(i, j);
        pair_counts_[pair.column(j)[i * pair.given_step]] += posterior;
        given_counts_[pair.given[i]] += posterior;
        none -= posterior;
      }
      null_counts_[pair.words[j]] += std::max(none, 0.0f);
    }
  }

  void maximise() {
    const double prior = options_.variational ? kVariationalPrior : 0.0, all = prior * static_cast<double>(words_);
    const auto factor = [&](double count) {
      return static_cast<float>(options_.variational ? exp_digamma(count) : count);
    };
    double nulls = 0.0;
    for (const double count : null_counts_) nulls += count;
    const float null_total = std::max(factor(nulls + all), kLeastFactor);
    for (std::size_t k = 0; k < pair_counts_.size(); ++k) factors_.pairs[k] = factor(pair_counts_[k] + prior);
    for (std::size_t k = 0; k < given_counts_.size(); ++k)
      factors_.given[k] = std::max(factor(given_counts_[k] + all), kLeastFactor);
    for (std::size_t k = 0; k < words_; ++k) factors_.null[k] = factor(null_counts_[k] + prior) / null_total;
    std::array<float, kJumps> p;
    double total = 0.0;
    for (const double count : jump_counts_) total += count + kJumpPrior;
    for (std::size_t k = 0; k < kJumps; ++k) {
      factors_.jumps[k] = static_cast<float>(jump_counts_[k]);
      p[k] = static_cast<float>((jump_counts_[k] + kJumpPrior) / total);
    }
    jumps_.set(p);
  }

  static constexpr double kJumpPrior = 0.5;

  const Cells& cells_;
  bool backwards_;
  HmmOptions options_;
  std::size_t words_ = 0;
  DirectionCounts factors_;
  // Expected counts of the iteration. A frequent word's sum needs a double: a float no longer grows by small
  // posteriors.
  std::vector<float> pair_counts_;
  std::vector<double> given_counts_, null_counts_, jump_counts_;
  JumpTable jumps_;
  PairFactors pair_;
  LinkPosteriors posteriors_;
};

}  // namespace

void HmmOptions::check() const {
  if (ibm1 < 0 || iterations < 0 || ibm1 + iterations == 0 || !(null >= 0.0 && null < 1.0))
    throw std::invalid_argument("an HMM has at least one iteration and null from 0 to below 1");
}

Aligner train_hmm(const SentencePairs& pairs, const HmmOptions& options, unsigned threads, const AlignWatch& watch) {
  options.check();
  std::optional<Cells> made;
  const auto make = [&](std::size_t, const std::atomic<bool>& stop) {
    made.emplace(pairs, true, nullptr, nullptr, &stop);
  };
  run_watched(1, 1, make, [&] { watch(0, 1); });
  const Cells& cells = *made;
  AlignerSettings settings;
  settings.discount = 0.0f;
  settings.level = options.iterations > 0 ? AlignLevel::jumps : AlignLevel::words;
  settings.priors.lexical = settings.priors.null_lexical = 1e-12f;
  settings.priors.null = static_cast<float>(options.null);
  std::array<DirectionCounts, 2> counts;
  std::atomic<std::uint64_t> done = 0;
  const int total = options.ibm1 + options.iterations;
  const auto task = [&](std::size_t direction, const std::atomic<bool>& stop) {
    HmmTraining training(cells, direction == 1, options);
    for (int k = 0; k < total && !stop; ++k, ++done) training.iterate(k >= options.ibm1, stop);
    counts[direction] = std::move(training).finish(settings.priors);
  };
  run_watched(2, threads, task, [&] { watch(done, 2 * static_cast<std::uint64_t>(total)); });
  return Aligner(cells, counts, settings);
}

}  // namespace treeglot
