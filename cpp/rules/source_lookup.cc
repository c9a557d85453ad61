#include "rules/source_lookup.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <unordered_map>

#include "base/limits.h"

namespace treeglot {
namespace {

constexpr Symbol kEnd = IndexedText::kEnd;

}  // namespace

SourceLookup::SourceLookup(const IndexedCorpus& corpus, const DemandOptions& options, std::span<const Symbol> words,
                           std::uint32_t span_limit)
    : corpus_(corpus),
      options_(options),
      limits_(corpus.options()),
      words_(words),
      span_limit_(static_cast<std::uint32_t>(std::min<std::size_t>(span_limit, words.size()))) {
  constexpr std::size_t kMost = kNone - 1;  // for marks
  check_at_most("the number of words of a sentence", words.size(), kMost);
  std::unordered_map<Symbol, std::uint32_t> first;
  for (std::uint32_t at = 0; at < words_.size(); ++at)
    first_.push_back(first.try_emplace(words_[at], at).first->second);
  extensions_.resize(words_.size());
  for (std::size_t i = 0; i < corpus_.size(); ++i) {
    auto& sentence = local_.emplace_back();
    auto& marks = marks_.emplace_back(corpus_[i].source().words(), std::uint32_t{0});
    for (std::size_t at = 0; at < words_.size(); ++at) {
      sentence.push_back(corpus_.source().to_index(i, words_[at]));
      if (sentence[at] != kNone && marks[sentence[at]] == 0) marks[sentence[at]] = static_cast<std::uint32_t>(at + 1);
    }
  }
}

// All words of the sentence that stand side by side in the corpus, too.
void SourceLookup::find_blocks() {
  std::map<std::pair<std::uint32_t, Symbol>, std::uint32_t> longer;  // by the block without its last word
  for (std::uint32_t begin = 0; begin < words_.size(); ++begin) {
    std::uint32_t shorter = kNone;
    const auto longest = static_cast<std::uint32_t>(std::min<std::size_t>(limits_.source_depth, words_.size() - begin));
    for (std::uint32_t length = 1; length <= longest; ++length) {
      const std::uint32_t last = begin + length - 1;
      const auto [known, is_new] =
          longer.try_emplace({shorter, words_[last]}, static_cast<std::uint32_t>(blocks_.size()));
      if (is_new) {
        CorpusRange range;
        for (std::size_t i = 0; i < corpus_.size(); ++i) {
          const Symbol word = local_[i][last];
          const IndexedText& text = corpus_[i].source();
          range.ranges.push_back(word == kNone ? IndexedText::Range()
                                 : length == 1 ? text.of_word(word)
                                               : text.narrow(blocks_[shorter].range.ranges[i], length - 1, word));
        }
        const std::uint64_t places = range.size();
        blocks_.push_back({begin, length, std::move(range), places, {}});
      }
      shorter = known->second;
      if (blocks_[shorter].places == 0) break;
      blocks_[shorter].starts.push_back(begin);
    }
  }
}

// Notes that the core stands here in the sentence, and whether there is room for variables at its ends.
void SourceLookup::add_span(Core& core, std::uint32_t begin, std::uint32_t end) {
  core.spans.emplace_back(begin, end);
  for (std::size_t ends = 0; ends < kEnds; ++ends) {
    const bool left = (ends & kLeft) != 0, right = (ends & kRight) != 0;
    const std::uint32_t width = end - begin + (left ? 1 : 0) + (right ? 1 : 0);
    if (width <= span_limit_ && (!left || begin > 0) && (!right || end < words_.size()))
      core.fits |= static_cast<std::uint8_t>(1u << ends);
  }
}

std::size_t SourceLookup::wanted_ends(const Core& core) const {
  std::size_t out = 0;
  for (std::size_t ends = 0; ends < kEnds; ++ends) {
    const std::size_t variables = core.blocks.size() - 1 + static_cast<std::size_t>(std::popcount(ends));
    const bool small = variables <= limits_.max_nonterminals && core.words + variables <= limits_.max_symbols;
    if (small && (core.fits >> ends & 1) != 0) out |= std::size_t{1} << ends;
  }
  return out;
}

void SourceLookup::find_cores() {
  find_blocks();
  std::vector<std::uint32_t> last;
  for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
    const Block& block = blocks_[b];
    if (block.places == 0) continue;
    extended_[{kNone, b}] = static_cast<std::uint32_t>(cores_.size());
    last.push_back(static_cast<std::uint32_t>(cores_.size()));
    Core& core = cores_.emplace_back();
    core.blocks = {b};
    core.words = block.length;
    for (const std::uint32_t begin : block.starts) add_span(core, begin, begin + block.length);
  }
  for (std::uint32_t variables = 1; variables <= limits_.max_nonterminals && !last.empty(); ++variables) {
    last = extend_cores(last);
    find_places(last);
    std::erase_if(last, [&](std::uint32_t core) { return cores_[core].places.empty(); });
  }
}

// The cores that stand in the sentence and have a block more than these; all their parts were found in the corpus.
std::vector<std::uint32_t> SourceLookup::extend_cores(std::span<const std::uint32_t> cores) {
  std::vector<std::vector<std::uint32_t>> starting(words_.size());  // blocks
  for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
    if (blocks_[b].places == 0) continue;
    for (const std::uint32_t start : blocks_[b].starts) starting[start].push_back(b);
  }
  const auto first = static_cast<std::uint32_t>(cores_.size());
  const auto is_nowhere = [](const Core& core) { return core.blocks.size() > 1 && core.places.empty(); };
  const auto extend = [&](std::uint32_t prefix, std::uint32_t begin, std::uint32_t start, std::uint32_t b) {
    const std::uint32_t words = cores_[prefix].words + blocks_[b].length;
    const bool long_core = words + cores_[prefix].blocks.size() > limits_.max_symbols;
    if (long_core || start + blocks_[b].length - begin > span_limit_) return;
    const auto shorter = extended_.find({cores_[prefix].suffix, b});
    if (shorter == extended_.end() || is_nowhere(cores_[shorter->second])) return;
    const auto [known, is_new] = extended_.try_emplace({prefix, b}, static_cast<std::uint32_t>(cores_.size()));
    if (is_new) {
      Core core;
      core.blocks = cores_[prefix].blocks;
      core.blocks.push_back(b);
      core.words = words;
      core.prefix = prefix;
      core.suffix = shorter->second;
      const auto places = [&](std::uint32_t block) { return blocks_[block].places; };
      core.rarest = static_cast<std::uint32_t>(std::ranges::min_element(core.blocks, {}, places) - core.blocks.begin());
      cores_.push_back(std::move(core));
    }
    add_span(cores_[known->second], begin, start + blocks_[b].length);
  };
  for (const std::uint32_t prefix : cores) {
    const auto spans = cores_[prefix].spans;
    for (const auto& [begin, end] : spans)
      for (std::uint32_t start = end + 1; start < std::min<std::size_t>(words_.size(), begin + span_limit_); ++start)
        for (const std::uint32_t b : starting[start]) extend(prefix, begin, start, b);
  }
  std::vector<std::uint32_t> out;
  for (auto core = first; core < cores_.size(); ++core) out.push_back(core);
  return out;
}

// Finds the places of cores around those of the part that has their rarest block. One part is taken after the other: a
// long sentence has as many parts as words. So their extensions are not kept at the same time.
void SourceLookup::find_places(std::span<const std::uint32_t> cores) {
  std::vector<std::uint32_t> order(cores.begin(), cores.end());
  const auto part = [&](std::uint32_t number) {
    const Core& core = cores_[number];
    return std::pair(!core.extends_right(), core.extends_right() ? core.prefix : core.suffix);
  };
  std::ranges::stable_sort(order, {}, part);
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && part(order[end]) == part(order[begin])) ++end;
    const std::span<const std::uint32_t> group = std::span(order).subspan(begin, end - begin);
    const auto [left, number] = part(group.front());
    for (const std::uint32_t core : group) extensions_[extended_at(cores_[core])].push_back(extension(core));
    if (left) scan_left(cores_[number], group);
    else scan_right(cores_[number], group);
    for (const std::uint32_t core : group) extensions_[extended_at(cores_[core])].clear();
  }
}

SourceLookup::Extension SourceLookup::extension(std::uint32_t number) const {
  const Core& core = cores_[number];
  return {number, &blocks_[core.extends_right() ? core.blocks.back() : core.blocks.front()]};
}

// Where in the sentence the word stands that a scan meets first. A word may stand there twice: marks name the first.
std::uint32_t SourceLookup::extended_at(const Core& core) const {
  if (core.extends_right()) return first_[blocks_[core.blocks.back()].begin];
  const Block& block = blocks_[core.blocks.front()];
  return first_[block.begin + block.length - 1];
}

// Calls take(place) for at most `most` places of a core, 0: for all; gives how many.
template <class Take>
std::uint64_t SourceLookup::visit_places(const Core& core, std::uint32_t most, const Take& take) const {
  if (core.blocks.size() == 1) {
    const Block& block = blocks_[core.blocks[0]];
    return visit_evenly(block.places, most, [&](std::uint64_t i) {
      const auto [index, suffix] = block.range.at(i);
      const std::uint32_t place = corpus_[index].source().place(suffix);
      take(Place{index, std::span(&place, 1)});
    });
  }
  const std::size_t size = core.blocks.size() + 1;
  return visit_evenly(core.places.size() / size, most, [&](std::uint64_t i) {
    const auto numbers = std::span(core.places).subspan(i * size, size);
    take(Place{numbers[0], numbers.subspan(1)});
  });
}

bool SourceLookup::stands_at(const Block& block, std::size_t index, std::uint32_t place) const {
  const auto words = std::span(local_[index]).subspan(block.begin, block.length);
  return std::ranges::equal(words, corpus_[index].source().tokens().subspan(place, block.length));
}

void SourceLookup::found(std::uint32_t core, const Place& place, std::uint32_t at, bool right) {
  std::vector<std::uint32_t>& places = cores_[core].places;
  places.push_back(static_cast<std::uint32_t>(place.index));
  if (!right) places.push_back(at);
  places.insert(places.end(), place.blocks.begin(), place.blocks.end());
  if (right) places.push_back(at);
}

// Looks for extensions around places of a core. Each of them is found in one scan alone, which gives it its scale.
template <class Look>
void SourceLookup::scan(const Core& core, std::span<const std::uint32_t> group, const Look& look) {
  const bool sampled = core.blocks.size() == 1;
  const std::uint64_t seen = visit_places(core, sampled ? options_.scanned : 0, look);
  const double share = sampled ? static_cast<double>(blocks_[core.blocks[0]].places) / static_cast<double>(seen) : 1;
  for (const std::uint32_t extended : group) cores_[extended].scale = core.scale * share;
}

void SourceLookup::scan_right(const Core& core, std::span<const std::uint32_t> group) {
  const std::uint32_t length = blocks_[core.blocks.back()].length;
  scan(core, group, [&](const Place& place) {
    const auto tokens = corpus_[place.index].source().tokens();
    const std::uint32_t gap = place.blocks.back() + length, limit = place.blocks.front() + limits_.max_phrase;
    if (tokens[gap] == kEnd) return;
    for (std::uint32_t at = gap + 1; at < limit && tokens[at] != kEnd; ++at) {
      const std::uint32_t mark = marks_[place.index][tokens[at]];
      if (mark == 0) continue;
      for (const Extension& extension : extensions_[mark - 1])
        if (at + extension.block->length <= limit && stands_at(*extension.block, place.index, at))
          found(extension.core, place, at, true);
    }
  });
}

void SourceLookup::scan_left(const Core& core, std::span<const std::uint32_t> group) {
  const std::uint32_t length = blocks_[core.blocks.back()].length;
  scan(core, group, [&](const Place& place) {
    const auto tokens = corpus_[place.index].source().tokens();
    const std::uint32_t end = place.blocks.back() + length, gap = place.blocks.front() - 1;
    if (tokens[gap] == kEnd) return;
    for (std::uint32_t last = gap - 1; end - last <= limits_.max_phrase && tokens[last] != kEnd; --last) {
      const std::uint32_t mark = marks_[place.index][tokens[last]];
      if (mark == 0) continue;
      for (const Extension& extension : extensions_[mark - 1]) {
        const std::uint32_t shorter = extension.block->length - 1;
        if (last <= shorter || end - (last - shorter) > limits_.max_phrase) continue;
        if (stands_at(*extension.block, place.index, last - shorter))
          found(extension.core, place, last - shorter, false);
      }
    }
  });
}

double SourceLookup::count(const Core& core) {
  for (SideCounts& counts : counts_) counts.clear();
  wanted_ = wanted_ends(core);
  if (wanted_ == 0) return 1;
  const std::uint64_t all =
      core.blocks.size() == 1 ? blocks_[core.blocks[0]].places : core.places.size() / (core.blocks.size() + 1);
  const std::uint64_t seen =
      visit_places(core, options_.samples, [&](const Place& place) { count_place(core, place); });
  return seen == all ? core.scale : core.scale * (static_cast<double>(all) / static_cast<double>(seen));
}

// Counts the rules of all phrases around a place of the core.
void SourceLookup::count_place(const Core& core, const Place& place) {
  index_ = &corpus_[place.index];
  index_number_ = place.index;
  const auto tokens = index_->source().tokens();
  const std::uint32_t first = place.blocks.front(), last = place.blocks.back() + blocks_[core.blocks.back()].length;
  const bool any_left = (wanted_ & 0b1010) != 0;
  for (std::uint32_t begin = first; last - begin <= limits_.max_phrase; --begin) {
    if (begin < first && (!any_left || tokens[begin] == kEnd)) break;
    for (std::uint32_t p = index_->first_phrase(begin); p < index_->first_phrase(begin + 1); ++p) {
      const IndexedPhrase& phrase = index_->phrases()[p];
      const std::uint32_t end = begin + phrase.source_length;
      if (end < last) continue;
      const std::size_t ends = (begin < first ? kLeft : 0) | (end > last ? kRight : 0);
      const bool flat = core.blocks.size() == 1 && ends == 0;
      if ((wanted_ >> ends & 1) != 0 && phrase.is(flat ? IndexedPhrase::kFlat : IndexedPhrase::kGappy))
        count_phrase(core, place, begin, p, ends);
    }
  }
}

void SourceLookup::count_phrase(const Core& core, const Place& place, std::uint32_t begin, std::uint32_t number,
                                std::size_t ends) {
  begin_ = begin;
  phrase_ = number;
  ends_ = ends;
  holes_.clear();
  if ((ends & kLeft) != 0) holes_.push_back({begin, place.blocks.front()});
  for (std::size_t b = 1; b < place.blocks.size(); ++b)
    holes_.push_back({place.blocks[b - 1] + blocks_[core.blocks[b - 1]].length, place.blocks[b]});
  const std::uint32_t last = place.blocks.back() + blocks_[core.blocks.back()].length;
  if ((ends & kRight) != 0) holes_.push_back({last, begin + index_->phrases()[number].source_length});
  choose_holes(0);
}

// All phrases that the variables from `hole` on can stand for.
void SourceLookup::choose_holes(std::size_t hole) {
  if (hole == holes_.size()) {
    give();
    return;
  }
  IndexedHole& at = holes_[hole];
  for (std::uint32_t p = index_->first_phrase(at.begin); p < index_->first_phrase(at.begin + 1); ++p) {
    const IndexedPhrase& phrase = index_->phrases()[p];
    if (phrase.source_length != at.end - at.begin || !phrase.is(IndexedPhrase::kHole)) continue;
    at.number = p;
    choose_holes(hole + 1);
  }
}

// How many words the holes before a target word hide; nothing if it is in one.
template <class HoleTarget>
static std::optional<std::uint32_t> shift_of(std::uint32_t word, const std::vector<std::uint32_t>& order,
                                             const HoleTarget& hole_target) {
  std::uint32_t shift = 0;
  for (const std::uint32_t h : order) {
    if (hole_target(h).target > word) break;
    if (hole_target(h).target_end() > word) return std::nullopt;
    shift += hole_target(h).target_length - 1u;
  }
  return shift;
}

void SourceLookup::give() {
  const IndexedPhrase& phrase = index_->phrases()[phrase_];
  const std::uint32_t units = rule_units(*index_, begin_, phrase, holes_);
  if (units == 0) return;
  const auto hole_target = [&](std::uint32_t h) -> const IndexedPhrase& { return index_->phrases()[holes_[h].number]; };
  order_.clear();
  for (std::uint32_t h = 0; h < holes_.size(); ++h) order_.push_back(h);
  std::ranges::sort(order_, {}, [&](std::uint32_t h) { return hole_target(h).target; });
  const auto tokens = index_->target().tokens();
  target_.clear();
  const auto add_words = [&](std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t place = begin; place < end; ++place)
      target_.push_back(static_cast<std::int32_t>(corpus_.target().to_corpus(index_number_, tokens[place])));
  };
  std::uint32_t at = phrase.target;
  for (const std::uint32_t h : order_) {
    add_words(at, hole_target(h).target);
    target_.push_back(-1 - static_cast<std::int32_t>(h));
    at = hole_target(h).target_end();
  }
  add_words(at, phrase.target_end());
  links_.clear();
  std::uint8_t symbol = 0;
  std::size_t next = 0;
  for (std::uint32_t place = begin_; place < begin_ + phrase.source_length; ++symbol) {
    if (next < holes_.size() && place == holes_[next].begin) {
      place = holes_[next++].end;
      continue;
    }
    for (const std::uint32_t link : index_->links_of(place++)) {
      if (link < phrase.target || link >= phrase.target_end()) return;  // only in a file that was made up
      const std::optional<std::uint32_t> shift = shift_of(link, order_, hole_target);
      if (!shift) return;
      links_.push_back({symbol, static_cast<std::uint8_t>(link - phrase.target - *shift)});
    }
  }
  FoundAt found = {corpus_.phrase(index_number_, phrase_)};
  for (std::size_t h = 0; h < holes_.size(); ++h) found[h + 1] = corpus_.phrase(index_number_, holes_[h].number);
  counts_[ends_].add(found, target_, links_, units);
}

void SourceLookup::source_side(const Core& core, std::size_t ends, std::vector<Symbol>& out) const {
  const Symbol variable = nonterminal(0);  // X
  out.clear();
  if ((ends & kLeft) != 0) out.push_back(variable);
  for (std::size_t b = 0; b < core.blocks.size(); ++b) {
    if (b > 0) out.push_back(variable);
    const Block& block = blocks_[core.blocks[b]];
    const auto words = words_.subspan(block.begin, block.length);
    out.insert(out.end(), words.begin(), words.end());
  }
  if ((ends & kRight) != 0) out.push_back(variable);
}

}  // namespace treeglot
