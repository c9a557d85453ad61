// A neural joint model over heads as a feature of the search. Its value is the log probability of the words of the
// output's tree. Each is given its head, its side and the siblings between them.
//
// A word is scored when it gets its head, where the dependency language model scores it (lm/dependency_rule.h). The
// roots of a hypothesis wait in its state, with their affiliations.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "decode/affiliation.h"
#include "decode/feature.h"
#include "lm/dependency_connect.h"
#include "neural/head_context.h"
#include "neural/joint_cache.h"
#include "neural/joint_model.h"
#include "neural/joint_numbers.h"

namespace treeglot {

// A DependencyState whose roots have rows of the source. Numbers are those of the network's words.
struct HeadState {
  std::uint32_t count;
  DependencySiblings left, right;
  std::array<std::uint32_t, DependencyState::kMaxRoots> roots, rows;
};

class HeadFeature final : public Feature<HeadFeature, HeadState> {
 public:
  // `ids` are the model's numbers of the words.
  HeadFeature(std::shared_ptr<const JointModel> model, std::shared_ptr<const std::vector<std::uint32_t>> ids,
              FeatureId score);

  void begin_sentence(const SearchedSentence& sentence) override;
  void score(const Application& application, TailStates<HeadState> tails, HeadState& out, Sink& sink) const;
  // The source words around a rule are not known yet, so nothing is expected of it.
  void expect(const Application&, Sink&) const {}

  // Estimates the roots that wait for their heads, as if these were unknown.
  bool looks_ahead() const override { return true; }
  double ahead(const std::byte* states, std::size_t offset, const FeatureWeights& weights) const override;

 private:
  class Arcs;
  struct Item {  // of a rule: a word or a piece
    std::int32_t head;
    std::uint32_t word, row;
    const HeadState* piece;  // null: a word
  };
  double score_of(const HeadContext& context, std::uint32_t word, std::uint32_t row) const;

  std::shared_ptr<const JointModel> model_;
  JointNumbers ids_;
  FeatureId score_;
  EdgeSources sources_;
  // A thread has its own feature.
  mutable JointCache<kHeadContext> cache_;
  mutable std::vector<std::uint32_t> affiliated_;
  mutable std::vector<Item> items_;
};

}  // namespace treeglot
