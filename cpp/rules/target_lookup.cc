#include "rules/target_lookup.h"

#include <algorithm>

#include "base/symbols.h"
#include "rules/tally.h"

namespace treeglot {

TargetCounts TargetLookup::count(std::span<const std::int32_t> target) {
  target_ = target;
  variables_ = static_cast<std::size_t>(std::ranges::count_if(target, [](std::int32_t symbol) { return symbol < 0; }));
  units_ = 0;
  seen_.clear();
  symbols_.clear();
  index_.clear();
  const Block block = rarest_block();
  block_ = block.begin;
  const std::uint64_t looked_at = visit_evenly(block.places, samples_, [&](std::uint64_t i) {
    const auto [index, suffix] = block.range.at(i);
    index_number_ = index;
    pairs_ = &corpus_[index];
    count_place(block, pairs_->target().place(suffix));
  });
  const double scale =
      looked_at == block.places ? 1 : static_cast<double>(block.places) / static_cast<double>(looked_at);
  TargetCounts out;
  out.count = scale * (static_cast<double>(units_) / kCountUnit);
  out.rules = scale * static_cast<double>(seen_.size());
  if (lost_) {
    for (const Seen& rule : seen_) out.lost += lost_(static_cast<double>(rule.units) / kCountUnit, rule.occurrences);
    out.lost *= scale;
  }
  return out;
}

CorpusRange TargetLookup::range_of(std::size_t begin, std::size_t end) const {
  CorpusRange out;
  const std::size_t last = std::min<std::size_t>(end, begin + corpus_.options().target_depth);
  for (std::size_t i = 0; i < corpus_.size(); ++i) {
    IndexedText::Range range;
    for (std::size_t at = begin; at < last; ++at) {
      const Symbol word = corpus_.target().to_index(i, static_cast<Symbol>(target_[at]));
      if (word == IndexedCorpus::kNone) {
        range = {};
        break;
      }
      const IndexedText& text = corpus_[i].target();
      range = at == begin ? text.of_word(word) : text.narrow(range, static_cast<std::uint32_t>(at - begin), word);
    }
    out.ranges.push_back(range);
  }
  return out;
}

TargetLookup::Block TargetLookup::rarest_block() const {
  Block out;
  bool any = false;
  for (std::size_t begin = 0; begin < target_.size();) {
    std::size_t end = begin;
    while (end < target_.size() && target_[end] >= 0) ++end;
    if (end > begin) {
      CorpusRange range = range_of(begin, end);
      const std::uint64_t places = range.size();
      if (!any || places < out.places) out = {begin, end, std::move(range), places};
      any = true;
    }
    begin = end + 1;
  }
  return out;
}

void TargetLookup::count_place(const Block& block, std::uint32_t place) {
  const auto tokens = pairs_->target().tokens();
  std::uint32_t at = place;
  for (std::size_t symbol = block.begin; symbol < block.end; ++symbol, ++at) {
    // One place after the other: the first that differs may be the end of the text.
    if (tokens[at] == IndexedText::kEnd ||
        corpus_.target().to_corpus(index_number_, tokens[at]) != static_cast<Symbol>(target_[symbol]))
      return;
  }
  const std::size_t pair = pairs_->target().pair_of(place);
  source_begin_ = pairs_->source().pairs()[pair];
  source_end_ = pairs_->source().pairs()[pair + 1];
  first_phrase_ = pairs_->first_phrase(source_begin_);
  phrases_ = pairs_->phrases().subspan(first_phrase_, pairs_->first_phrase(source_end_) - first_phrase_);
  place_ = place;
  match_right(block.end, at);
}

// Where the source side of a phrase of the pair begins.
std::uint32_t TargetLookup::begin_of(std::uint32_t number) const {
  std::uint32_t begin = source_begin_, end = source_end_;
  while (end - begin > 1) {
    const std::uint32_t middle = begin + (end - begin) / 2;
    (pairs_->first_phrase(middle) <= number ? begin : end) = middle;
  }
  return begin;
}

void TargetLookup::fill(std::int32_t variable, std::size_t phrase) {
  const std::uint32_t number = first_phrase_ + static_cast<std::uint32_t>(phrase), begin = begin_of(number);
  holes_[static_cast<std::size_t>(-1 - variable)] = {begin, begin + phrases_[phrase].source_length, number};
}

// Matches the symbols from `symbol` on from the place `at` on, then those before the block.
void TargetLookup::match_right(std::size_t symbol, std::uint32_t at) {
  if (symbol == target_.size()) {
    end_ = at;
    match_left(block_, place_);
    return;
  }
  if (target_[symbol] >= 0) {
    const Symbol word = pairs_->target().tokens()[at];
    if (word != IndexedText::kEnd &&
        corpus_.target().to_corpus(index_number_, word) == static_cast<Symbol>(target_[symbol]))
      match_right(symbol + 1, at + 1);
    return;
  }
  for (std::size_t p = 0; p < phrases_.size(); ++p) {
    if (phrases_[p].target != at || !phrases_[p].is(IndexedPhrase::kHole)) continue;
    fill(target_[symbol], p);
    match_right(symbol + 1, phrases_[p].target_end());
  }
}

// The same before `symbol`, from the place `at` to the left.
void TargetLookup::match_left(std::size_t symbol, std::uint32_t at) {
  if (symbol == 0) {
    begin_ = at;
    match_phrases();
    return;
  }
  const std::int32_t before = target_[symbol - 1];
  if (before >= 0) {
    const Symbol word = pairs_->target().tokens()[at - 1];
    if (word != IndexedText::kEnd && corpus_.target().to_corpus(index_number_, word) == static_cast<Symbol>(before))
      match_left(symbol - 1, at - 1);
    return;
  }
  for (std::size_t p = 0; p < phrases_.size(); ++p) {
    if (phrases_[p].target_end() != at || !phrases_[p].is(IndexedPhrase::kHole)) continue;
    fill(before, p);
    match_left(symbol - 1, phrases_[p].target);
  }
}

void TargetLookup::match_phrases() {
  const std::uint8_t flag = variables_ == 0 ? IndexedPhrase::kFlat : IndexedPhrase::kGappy;
  for (std::size_t p = 0; p < phrases_.size(); ++p)
    if (phrases_[p].target == begin_ && phrases_[p].target_end() == end_ && phrases_[p].is(flag)) give(p);
}

// Counts the rule unless its source side breaks a limit.
void TargetLookup::give(std::size_t number) {
  const IndexedPhrase& phrase = phrases_[number];
  const std::uint32_t begin = begin_of(first_phrase_ + static_cast<std::uint32_t>(number));
  const std::uint32_t end = begin + phrase.source_length;
  std::uint32_t symbols = phrase.source_length, from = begin;
  for (std::size_t v = 0; v < variables_; ++v) {
    const IndexedHole& hole = holes_[v];
    if (hole.begin < from || hole.end > end) return;
    from = hole.end + 1;  // variables are numbered in source order, and never side by side
    symbols -= hole.end - hole.begin - 1;
  }
  if (symbols > corpus_.options().max_symbols) return;
  const auto holes = std::span(holes_).first(variables_);
  const std::uint32_t units = rule_units(*pairs_, begin, phrase, holes);
  units_ += units;
  if (units == 0 || !lost_) return;
  source_.clear();
  std::size_t next = 0;
  for (std::uint32_t place = begin; place < end;) {
    if (next < holes.size() && place == holes[next].begin) {
      source_.push_back(nonterminal(0));
      place = holes[next++].end;
    } else {
      source_.push_back(corpus_.source().to_corpus(index_number_, pairs_->source().tokens()[place++]));
    }
  }
  const std::string_view bytes(reinterpret_cast<const char*>(source_.data()), source_.size() * sizeof(Symbol));
  const auto added = static_cast<std::uint32_t>(seen_.size());
  const std::uint32_t known_as = index_.intern(hash_bytes(bytes), added, [&](std::uint32_t known) {
    return std::ranges::equal(std::span(symbols_).subspan(seen_[known].first_symbol, seen_[known].symbols), source_);
  });
  if (known_as == added) {
    seen_.push_back({static_cast<std::uint32_t>(symbols_.size()), static_cast<std::uint32_t>(source_.size()), 0, 0});
    symbols_.insert(symbols_.end(), source_.begin(), source_.end());
  }
  seen_[known_as].units += units;
  ++seen_[known_as].occurrences;
}

}  // namespace treeglot
