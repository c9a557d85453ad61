#include "rules/string_dependency.h"

#include <stdexcept>
#include <string>
#include <utility>

#include "syntax/structure.h"

namespace treeglot {

TargetStructures::TargetStructures(const Bitext& bitext, std::shared_ptr<const DependencyBank> trees, bool strict,
                                   bool ill_formed)
    : trees_(std::move(trees)), strict_(strict), ill_formed_(ill_formed) {
  bitext.check_size(trees_->size(), "trees");
  for (std::size_t pair = 0; pair < bitext.size(); ++pair) {
    const std::size_t words = trees_->heads(pair).size(), wanted = bitext.target(pair).size();
    if (words == 0) {
      unparsed_ += wanted > 0 ? 1 : 0;
    } else if (words != wanted) {
      throw std::invalid_argument("tree " + std::to_string(pair + 1) + " has " + std::to_string(words) +
                                  " words; expected " + std::to_string(wanted) + ", as the target sentence has");
    }
  }
}

PhraseLabels::View TargetStructures::of(std::size_t pair, const Frontier& frontier, const PhraseLimits& limits,
                                        LabelledPhrases& room) const {
  const View all = PhraseLabels::of(pair, frontier, limits, room);
  const Structures structures(trees_->heads(pair), strict_);
  for (std::size_t p = 0; p < room.phrases.size(); ++p) {
    const Span target = room.phrases[p].target;
    const bool tree = structures.words() > 0;
    if (tree && structures.of(target).kind != Structure::Kind::ill_formed) continue;
    if (tree && ill_formed_ && !structures.holds_cycle(target)) {
      room.labels[p].ill_formed = true;
    } else {
      room.labels[p].hard = PhraseLabel::kRefused;
    }
  }
  return all;
}

Heads TargetStructures::structure(std::size_t pair, std::vector<Symbol>& tags) const {
  for (const Symbol tag : trees_->tags(pair)) tags.push_back(tag == Symbols::kNone ? 0 : tag + 1);
  return trees_->heads(pair);
}

Strings TargetStructures::labels() const {
  Strings texts = PhraseLabels::labels();
  for (Symbol tag = 0; tag < trees_->tag_names().size(); ++tag) texts.append(trees_->tag_names().text(tag));
  return texts;
}

}  // namespace treeglot
