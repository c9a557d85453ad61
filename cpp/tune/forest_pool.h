// Candidates packed in hypergraphs: every derivation counts, not only the k best.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "evaluate/metric.h"
#include "graph/derivation.h"
#include "tune/candidates.h"

namespace treeglot {

// The search space of one sentence: features of its edges, and what the edges stand for.
struct TuningForest {
  Hypergraph graph;
  SparseRows rows;  // by edge
  Yields yields;    // symbols are numbers of words
  std::shared_ptr<const void> owner;
};

class ForestPool final : public Candidates {
 public:
  // A sentence may have any number of forests: its candidates are the derivations of all of them.
  ForestPool(std::vector<std::vector<TuningForest>> forests, std::vector<std::string> words, std::size_t features,
             std::shared_ptr<const References> references);
  ForestPool(const ForestPool&) = delete;
  ForestPool& operator=(const ForestPool&) = delete;

  std::size_t sentences() const override { return forests_.size(); }
  std::size_t features() const override { return features_; }
  std::size_t width() const override { return references_->width(); }
  std::vector<double> scores(std::span<const double> weights) const override;
  void best_along(std::size_t sentence, std::span<const double> scores, std::span<const double> direction,
                  BestAlong& out) const override;
  std::vector<double> spreads() const override;

 private:
  // The statistics of translations that were best somewhere: the same ones come again with every search.
  struct Known {
    std::mutex mutex;
    std::unordered_map<std::string, std::vector<double>> statistics;
  };

  const double* statistics(std::size_t sentence, const TuningForest& forest, std::span<const EdgeId> derivation) const;

  std::vector<std::vector<TuningForest>> forests_;
  std::vector<std::string> words_;
  std::size_t features_;
  std::shared_ptr<const References> references_;
  std::vector<std::unique_ptr<Known>> known_;  // by sentence
  std::vector<std::size_t> first_edge_;        // by sentence: where the scores of its forests' edges begin
};

}  // namespace treeglot
