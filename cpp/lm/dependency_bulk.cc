#include "lm/dependency_bulk.h"

#include <numeric>
#include <stdexcept>
#include <string>

namespace treeglot {
namespace {

void add(const DependencyModel& model, const Dependency& sentence, std::size_t index, DependencyModel::Scores& scores) {
  try {
    model.score(sentence, scores);
  } catch (const std::invalid_argument& problem) {
    throw std::invalid_argument("sentence " + std::to_string(index + 1) + ": " + problem.what());
  }
}

}  // namespace

DependencyModel::Scores score_words(const DependencyModel& model, std::span<const Dependency* const> sentences) {
  DependencyModel::Scores scores;
  for (std::size_t i = 0; i < sentences.size(); ++i) add(model, *sentences[i], i, scores);
  return scores;
}

std::vector<double> score_sentences(const DependencyModel& model, std::span<const Dependency* const> sentences) {
  std::vector<double> out;
  out.reserve(sentences.size());
  DependencyModel::Scores scores;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    scores.log10.clear();
    scores.length.clear();
    scores.unknown.clear();
    add(model, *sentences[i], i, scores);
    out.push_back(std::accumulate(scores.log10.begin(), scores.log10.end(), 0.0));
  }
  return out;
}

}  // namespace treeglot
