#include "evaluate/metric.h"

#include <stdexcept>

namespace treeglot {

double Metric::score_of_part(std::span<const double> part, std::span<const double>) const { return score(part); }

std::vector<double> statistics(const References& references, std::span<const std::string> translations,
                               std::span<const std::uint32_t> sentences) {
  if (translations.size() != sentences.size()) {
    throw std::invalid_argument("there are " + std::to_string(translations.size()) + " translations of " +
                                std::to_string(sentences.size()) + " sentences");
  }
  const std::size_t width = references.width();
  std::vector<double> rows(translations.size() * width);
  for (std::size_t i = 0; i < translations.size(); ++i) {
    if (sentences[i] >= references.sentences()) {
      throw std::invalid_argument("translation " + std::to_string(i) + " is of sentence " +
                                  std::to_string(sentences[i]) + "; there are references for " +
                                  std::to_string(references.sentences()));
    }
    references.statistics(translations[i], sentences[i], std::span(rows).subspan(i * width, width));
  }
  return rows;
}

std::vector<double> scores(const Metric& metric, std::span<const double> rows) {
  std::vector<double> out(check_rows(metric, rows));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = metric.score(rows.subspan(i * metric.width(), metric.width()));
  return out;
}

double score_of_part(const Metric& metric, std::span<const double> part, std::span<const double> whole) {
  if (check_rows(metric, part) != 1 || check_rows(metric, whole) != 1) {
    throw std::invalid_argument("a part of a corpus and the corpus are one row of statistics each");
  }
  return metric.score_of_part(part, whole);
}

std::size_t check_rows(const Metric& metric, std::span<const double> rows) {
  if (rows.size() % metric.width() != 0) {
    throw std::invalid_argument(std::to_string(rows.size()) + " numbers are no rows of " +
                                std::to_string(metric.width()) + " statistics");
  }
  return rows.size() / metric.width();
}

void check_references(ReferenceLines lines) {
  if (lines.empty()) throw std::invalid_argument("there are no references; expected at least one");
  for (std::size_t r = 1; r < lines.size(); ++r) {
    if (lines[r].size() != lines[0].size()) {
      throw std::invalid_argument("reference " + std::to_string(r + 1) + " has " + std::to_string(lines[r].size()) +
                                  " sentences, reference 1 has " + std::to_string(lines[0].size()));
    }
  }
}

}  // namespace treeglot
