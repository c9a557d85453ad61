// Hierarchical phrases (Chiang 2007) on the parts of a source analysis, for all extractors that have such parts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "rules/frontier.h"
#include "rules/rule_writer.h"

namespace treeglot {

// Of phrases with variables: source words and symbols, and variables. Without variables there are none.
struct GappyLimits {
  std::uint32_t max_span = 0, max_symbols = 0, max_nonterminals = 0;
};

class GappyPhrases {
 public:
  // Forgets the parts of the last pair.
  void assign(const Frontier& frontier, const GappyLimits& limits) {
    frontier_ = &frontier;
    limits_ = limits;
    parts_.clear();
  }

  // A part of the analysis: it counts if it is consistent, and if `fits` accepts its target side.
  template <class Fits>
  void add(Span source, const Fits& fits) {
    if (source.size() > limits_.max_span) return;
    const Span target = frontier_->tight_target(source);
    if (!target.empty() && fits(target)) parts_.push_back({source, target});
  }

  // Calls take(phrase, variables) for each phrase with variables, both of them parts. Variables are not side by side
  // and leave at least one link.
  template <class Take>
  void visit(const Take& take) {
    const auto key = [](const PhrasePair& part) { return std::pair(part.source.begin, part.source.end); };
    std::ranges::sort(parts_, {}, key);
    parts_.erase(std::ranges::unique(parts_).begin(), parts_.end());
    std::size_t first = 0;  // of the parts that begin where the phrase does
    for (const PhrasePair& phrase : parts_) {
      while (parts_[first].source.begin < phrase.source.begin) ++first;
      extend(phrase, first, phrase.source.size(), frontier_->source_links(phrase.source), take);
    }
  }

 private:
  // With one variable more than variables_ has, among the parts from `from` on. `symbols` and `links` are what the
  // source side has left.
  template <class Take>
  void extend(const PhrasePair& phrase, std::size_t from, std::uint32_t symbols, std::uint32_t links,
              const Take& take) {
    if (variables_.size() >= limits_.max_nonterminals) return;
    for (; from < parts_.size() && parts_[from].source.begin < phrase.source.end; ++from) {
      const PhrasePair& hole = parts_[from];
      if (hole.source.end > phrase.source.end || hole == phrase) continue;
      if (!variables_.empty() && hole.source.begin <= variables_.back().source.end) continue;  // overlap, or neighbours
      const std::uint32_t symbols_left = symbols - hole.source.size() + 1;
      const std::uint32_t links_left = links - frontier_->source_links(hole.source);
      if (links_left == 0) continue;
      variables_.push_back({hole.source, hole.target, 0});
      if (symbols_left <= limits_.max_symbols) take(phrase, variables_);
      extend(phrase, from + 1, symbols_left, links_left, take);
      variables_.pop_back();
    }
  }

  const Frontier* frontier_ = nullptr;
  GappyLimits limits_;
  std::vector<PhrasePair> parts_;        // by source side
  std::vector<RuleVariable> variables_;  // of the phrase at hand
};

}  // namespace treeglot
