// String to dependency (Shen et al. 2008; "the decoder" of the s2d page). The rules are Hiero's, but the target side
// and the content of its variables are well-formed dependency structures. The target side keeps its structure, its
// words' tags are noted. Rules with ill-formed structures can be taken, too: they are marked, as the s2s phrases of the
// c2d page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "rules/forest_bank.h"
#include "rules/hiero.h"

namespace treeglot {

class TargetStructures final : public PhraseLabels {
 public:
  // A tree for each pair of the bitext, with as many words as its target side, or none where there is no parse. Refuses
  // others. `strict` asks for the definitions of Shen et al., otherwise those of the c2d page hold. `ill_formed` takes
  // phrases with ill-formed structures, too.
  TargetStructures(const Bitext& bitext, std::shared_ptr<const DependencyBank> trees, bool strict, bool ill_formed);

  // Phrases whose target side is ill-formed are refused or marked. All are refused without a tree, and those with a
  // cycle always.
  View of(std::size_t pair, const Frontier& frontier, const PhraseLimits& limits, LabelledPhrases& room) const override;
  Heads structure(std::size_t pair, std::vector<Symbol>& tags) const override;
  Strings labels() const override;                          // X, then the tags
  void append_counts(NamedCounts& counts) const override {  // pairs without a tree
    counts.emplace_back("unparsed", unparsed_);
  }

 private:
  std::shared_ptr<const DependencyBank> trees_;
  bool strict_, ill_formed_;
  std::uint64_t unparsed_ = 0;
};

}  // namespace treeglot
