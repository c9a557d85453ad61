#include "rules/indexed_corpus.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace treeglot {

void IndexedCorpus::Words::add(const IndexedText& text, Symbols& all) {
  to_corpus_.emplace_back();
  to_index_.emplace_back();
  const bool first = to_corpus_.size() == 1;
  for (Symbol word = 0; word < text.words(); ++word) {
    const Symbol number = all.intern(text.word(word));
    if (first) continue;
    to_corpus_.back().push_back(number);
    if (to_index_.back().size() <= number) to_index_.back().resize(number + 1, kNone);
    to_index_.back()[number] = word;
  }
  if (first) first_ = static_cast<Symbol>(text.words());
}

IndexedCorpus::IndexedCorpus(std::vector<std::shared_ptr<const PairIndex>> indexes) : indexes_(std::move(indexes)) {
  if (indexes_.empty()) throw std::invalid_argument("there is no index; expected one or more");
  std::uint64_t phrases = 0;
  for (const auto& index : indexes_) {
    if (!(index->options() == options()))
      throw std::invalid_argument("the indexes of a corpus have different options; expected the same");
    first_phrase_.push_back(static_cast<std::uint32_t>(phrases));
    phrases += index->phrases().size();
    if (phrases > std::numeric_limits<std::uint32_t>::max())
      throw std::length_error("the indexes of a corpus hold fewer than 2^32 phrases");
    source_.add(index->source(), source_texts_);
    target_.add(index->target(), target_texts_);
  }
  source_totals_.assign(source_texts_.size() + 1, 0);
  target_totals_.assign(target_texts_.size() + 1, 0);
  for (std::size_t i = 0; i < size(); ++i) {
    const PairIndex& index = *indexes_[i];
    for (Symbol word = 0; word < index.source().words(); ++word)
      source_totals_[source_.to_corpus(i, word)] += index.source_links(word);
    for (Symbol word = 0; word < index.target().words(); ++word)
      target_totals_[target_.to_corpus(i, word)] += index.target_links(word);
    source_totals_.back() += index.source_links(LexicalTable::kNull);
    target_totals_.back() += index.target_links(LexicalTable::kNull);
  }
}

std::uint64_t IndexedCorpus::pairs() const {
  std::uint64_t sum = 0;
  for (const auto& index : indexes_) sum += index->pairs();
  return sum;
}

LexicalTable::Both IndexedCorpus::weight(Symbol source, Symbol target) const {
  constexpr Symbol kNull = LexicalTable::kNull;
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < size(); ++i) {
    const Symbol f = source == kNull ? kNull : source_.to_index(i, source);
    const Symbol e = target == kNull ? kNull : target_.to_index(i, target);
    if ((source == kNull || f != kNone) && (target == kNull || e != kNone)) count += indexes_[i]->link_count(f, e);
  }
  if (count == 0) return {};
  const auto number = static_cast<double>(count);
  const std::uint64_t f = source == kNull ? source_totals_.back() : source_totals_[source];
  const std::uint64_t e = target == kNull ? target_totals_.back() : target_totals_[target];
  return {static_cast<float>(number / static_cast<double>(f)), static_cast<float>(number / static_cast<double>(e))};
}

std::uint32_t rule_units(const PairIndex& index, std::uint32_t begin, const IndexedPhrase& phrase,
                         std::span<const IndexedHole> holes) {
  std::uint32_t own = index.links(begin, begin + phrase.source_length);
  for (std::size_t h = 0; h < holes.size(); ++h) {
    const IndexedPhrase& hole = index.phrases()[holes[h].number];
    if (hole.target < phrase.target || hole.target_end() > phrase.target_end()) return 0;
    for (std::size_t other = 0; other < h; ++other) {
      const IndexedPhrase& taken = index.phrases()[holes[other].number];
      if (hole.target < taken.target_end() && taken.target < hole.target_end()) return 0;
    }
    const std::uint32_t links = index.links(holes[h].begin, holes[h].end);
    if (links >= own) return 0;  // no link left for the rule's own words
    own -= links;
  }
  if (phrase.units == 0 || !index.weighted()) return phrase.units;
  double weight = 1.0;
  auto hole = holes.begin();
  for (std::uint32_t place = begin; place < begin + phrase.source_length;) {
    if (hole != holes.end() && place == hole->begin) {
      place = (hole++)->end;
      continue;
    }
    for (const float link : index.weights_of(place++)) weight *= link;
  }
  // As Occurrences::add has it.
  return std::max(static_cast<std::uint32_t>(std::lround(phrase.units * weight)), 1u);
}

}  // namespace treeglot
