#include "tune/forest_pool.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace treeglot {
namespace {

void check(const TuningForest& forest, std::size_t sentence, std::size_t features, std::size_t words) {
  const auto refuse = [sentence](const std::string& problem) {
    throw std::invalid_argument("a forest of sentence " + std::to_string(sentence) + " " + problem);
  };
  const SparseRows& rows = forest.rows;
  if (rows.first.size() != forest.graph.edges() + 1 || rows.first.front() != 0 ||
      !std::is_sorted(rows.first.begin(), rows.first.end()) || rows.first.back() != rows.features.size() ||
      rows.features.size() != rows.values.size()) {
    refuse("has features that do not fit its edges");
  }
  for (std::size_t i = 0; i < rows.features.size(); ++i) {
    if (rows.features[i] >= features) {
      refuse("has feature " + std::to_string(rows.features[i]) + " of " + std::to_string(features));
    }
    if (!std::isfinite(rows.values[i])) {
      refuse("has feature " + std::to_string(rows.features[i]) + " = " + std::to_string(rows.values[i]) +
             "; expected a finite number");
    }
  }
  check_yields(forest.graph, forest.yields);
  for (const std::int32_t symbol : forest.yields.symbols) {
    if (symbol >= 0 && static_cast<std::size_t>(symbol) >= words) {
      refuse("has word " + std::to_string(symbol) + " of " + std::to_string(words));
    }
  }
}

}  // namespace

ForestPool::ForestPool(std::vector<std::vector<TuningForest>> forests, std::vector<std::string> words,
                       std::size_t features, std::shared_ptr<const References> references)
    : forests_(std::move(forests)), words_(std::move(words)), features_(features), references_(std::move(references)) {
  if (forests_.size() != references_->sentences()) {
    throw std::invalid_argument("forests of " + std::to_string(forests_.size()) + " sentences; the references have " +
                                std::to_string(references_->sentences()));
  }
  std::size_t edges = 0;
  for (std::size_t sentence = 0; sentence < forests_.size(); ++sentence) {
    first_edge_.push_back(edges);
    known_.push_back(std::make_unique<Known>());
    for (const TuningForest& forest : forests_[sentence]) {
      check(forest, sentence, features_, words_.size());
      edges += forest.graph.edges();
    }
  }
}

std::vector<double> ForestPool::scores(std::span<const double> weights) const {
  std::vector<double> out;
  for (const std::vector<TuningForest>& forests : forests_) {
    for (const TuningForest& forest : forests) {
      const std::vector<double> edges = forest.rows.products(weights);
      out.insert(out.end(), edges.begin(), edges.end());
    }
  }
  return out;
}

void ForestPool::best_along(std::size_t sentence, std::span<const double> scores, std::span<const double> direction,
                            BestAlong& out) const {
  struct Origin {
    std::size_t forest, line;
  };
  std::vector<ForestEnvelope> envelopes;
  std::vector<Origin> origins;
  std::size_t first = first_edge_[sentence];
  out.envelope.lines.clear();
  out.statistics.clear();
  for (const TuningForest& forest : forests_[sentence]) {
    envelopes.emplace_back(forest.graph, forest.rows.products(direction), scores.subspan(first, forest.graph.edges()));
    first += forest.graph.edges();
    const std::vector<Line>& lines = envelopes.back().envelope().lines;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      out.envelope.lines.push_back({lines[i].slope, lines[i].intercept, static_cast<std::uint32_t>(origins.size())});
      origins.push_back({envelopes.size() - 1, i});
    }
  }
  make_envelope(out.envelope);
  for (const Line& line : out.envelope.lines) {
    const Origin& origin = origins[line.id];
    out.statistics.push_back(
        statistics(sentence, forests_[sentence][origin.forest], envelopes[origin.forest].derivation(origin.line)));
  }
}

const double* ForestPool::statistics(std::size_t sentence, const TuningForest& forest,
                                     std::span<const EdgeId> derivation) const {
  std::string text;
  for (const std::int32_t word : yield_of(forest.graph, forest.yields, derivation)) {
    if (!text.empty()) text += ' ';
    text += words_[static_cast<std::size_t>(word)];
  }
  Known& known = *known_[sentence];
  const std::lock_guard lock(known.mutex);
  std::vector<double>& row = known.statistics[text];  // stays where it is when others are added
  if (row.empty()) {
    row.resize(width());
    references_->statistics(text, sentence, row);
  }
  return row.data();
}

// Of the edges, as derivations cannot be listed: the root of the mean square over the edges that compete for a node.
std::vector<double> ForestPool::spreads() const {
  std::vector<double> squares(features_);
  std::size_t edges = 0;
  for (const std::vector<TuningForest>& forests : forests_) {
    for (const TuningForest& forest : forests) {
      edges += forest.graph.edges();
      for (std::size_t i = 0; i < forest.rows.features.size(); ++i) {
        const auto value = static_cast<double>(forest.rows.values[i]);
        squares[forest.rows.features[i]] += value * value;
      }
    }
  }
  for (double& square : squares) square = edges == 0 ? 0.0 : std::sqrt(square / static_cast<double>(edges));
  return squares;
}

}  // namespace treeglot
