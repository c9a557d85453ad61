#include "rules/string_dependency.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/thread_pool.h"
#include "rules/code.h"
#include "rules/target_structure.h"
#include "syntax/structure.h"

namespace treeglot {

TargetStructures::TargetStructures(const Bitext& bitext, std::shared_ptr<const DependencyBank> trees, bool strict)
    : trees_(std::move(trees)), strict_(strict) {
  if (trees_->size() != bitext.size()) {
    throw std::invalid_argument("there are " + std::to_string(trees_->size()) + " trees for " +
                                std::to_string(bitext.size()) + " sentence pairs");
  }
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

void TargetStructures::prepare(const Bitext& bitext, std::size_t begin, std::size_t end, const PhraseLimits& limits,
                               unsigned threads) {
  using Found = std::pair<std::vector<PhrasePair>, std::vector<PhraseLabel>>;
  first_ = begin;
  ends_.assign(1, 0);
  phrases_.clear();
  labels_.clear();
  const auto label = [&](std::size_t i) {
    const std::size_t pair = begin + i;
    Found out;
    Frontier frontier;
    frontier.assign(bitext.links(pair), bitext.source(pair).size(), bitext.target(pair).size());
    append_phrase_pairs(frontier, limits, out.first);
    const Structures structures(trees_->heads(pair), strict_);
    for (const PhrasePair& phrase : out.first) {
      const bool kept = structures.words() > 0 && structures.of(phrase.target).kind != Structure::Kind::ill_formed;
      out.second.push_back({kept ? 0 : PhraseLabel::kRefused});
    }
    return out;
  };
  ordered_map(end - begin, threads, label, [&](std::size_t, Found&& pair) {
    phrases_.insert(phrases_.end(), pair.first.begin(), pair.first.end());
    labels_.insert(labels_.end(), pair.second.begin(), pair.second.end());
    ends_.push_back(phrases_.size());
  });
}

PhraseLabels::Labelled TargetStructures::of(std::size_t pair) const {
  const std::size_t begin = ends_[pair - first_], size = ends_[pair - first_ + 1] - begin;
  return {std::span<const PhrasePair>(phrases_).subspan(begin, size),
          std::span<const PhraseLabel>(labels_).subspan(begin, size)};
}

void TargetStructures::complete(std::size_t pair, Span target, std::span<const Span> holes, std::string& code,
                                std::string& notes) const {
  append_structure(code, target, holes, trees_->heads(pair));
  const std::span<const Symbol> tags = trees_->tags(pair);
  auto hole = holes.begin();
  for (std::uint32_t word = target.begin; word < target.end;) {
    if (hole != holes.end() && hole->begin == word) {
      word = (hole++)->end;
    } else {
      code::append(notes, tags[word] == Symbols::kNone ? 0 : tags[word] + 1);
      ++word;
    }
  }
}

Strings TargetStructures::labels() const {
  Strings texts;
  texts.append("X");
  for (Symbol tag = 0; tag < trees_->tag_names().size(); ++tag) texts.append(trees_->tag_names().text(tag));
  return texts;
}

}  // namespace treeglot
