// String to dependency (Shen et al. 2008; "the decoder" of the s2d page): Hiero's rules whose target side, and whatever
// stands in its variables, are well-formed dependency structures. The target side keeps its structure, its words' tags
// are noted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/strings.h"
#include "rules/dependency_bank.h"
#include "rules/hiero.h"

namespace treeglot {

class TargetStructures final : public PhraseLabels {
 public:
  // A tree for each pair of the bitext, with as many words as its target side, or none where there is no parse. Refuses
  // others. `strict` asks for the definitions of Shen et al., otherwise those of the c2d page hold.
  TargetStructures(const Bitext& bitext, std::shared_ptr<const DependencyBank> trees, bool strict);

  // Phrases whose target side is ill-formed are refused; without a tree, all are.
  void prepare(const Bitext& bitext, std::size_t begin, std::size_t end, const PhraseLimits& limits,
               unsigned threads) override;
  Labelled of(std::size_t pair) const override;
  bool noted() const override { return false; }
  void complete(std::size_t pair, Span target, std::span<const Span> holes, std::string& code,
                std::string& notes) const override;

  std::size_t unparsed() const { return unparsed_; }  // pairs without a tree
  Strings labels() const;                             // by number: X, then the tags

 private:
  std::shared_ptr<const DependencyBank> trees_;
  bool strict_;
  std::size_t unparsed_ = 0;
  // Of the pairs prepared.
  std::size_t first_ = 0;
  std::vector<std::size_t> ends_;
  std::vector<PhrasePair> phrases_;
  std::vector<PhraseLabel> labels_;
};

}  // namespace treeglot
