#include "rules/pair_index.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace treeglot {
namespace {

constexpr std::uint32_t kTargetDepth = 6;  // words that target suffixes are sorted by

std::span<const Symbol> side_of(const Bitext& bitext, bool source, std::size_t pair) {
  return source ? bitext.source(pair) : bitext.target(pair);
}

std::uint32_t places_of(const Bitext& bitext, bool source) {
  std::uint64_t places = 1 + IndexedText::kPadding;
  for (std::size_t pair = 0; pair < bitext.size(); ++pair) places += side_of(bitext, source, pair).size() + 1;
  if (places >= std::numeric_limits<std::uint32_t>::max())
    throw std::length_error("an index holds fewer than 2^32 words of each language");
  return static_cast<std::uint32_t>(places);
}

// Sorts the places of all words by `depth` words: by the last of them first, with a stable sort each time.
std::vector<std::uint32_t> sort_suffixes(std::span<const Symbol> tokens, std::size_t words, std::uint32_t depth) {
  std::vector<std::uint32_t> out, other;
  for (std::uint32_t place = 0; place < tokens.size(); ++place)
    if (tokens[place] != IndexedText::kEnd) out.push_back(place);
  other.resize(out.size());
  std::vector<std::uint32_t> next;
  for (std::uint32_t k = depth; k-- > 0;) {
    // What follows the end of a sentence is never asked for, so any order will do for it.
    const auto key = [&](std::uint32_t place) -> std::size_t {
      const std::size_t at = std::size_t{place} + k;
      return at >= tokens.size() || tokens[at] == IndexedText::kEnd ? 0 : std::size_t{tokens[at]} + 1;
    };
    next.assign(words + 2, 0);
    for (const std::uint32_t place : out) ++next[key(place) + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    for (const std::uint32_t place : out) other[next[key(place)]++] = place;
    out.swap(other);
  }
  return out;
}

bool sound_ends(std::span<const std::uint32_t> ends, std::size_t lists, std::size_t values) {
  return ends.size() == lists + 1 && ends.front() == 0 && ends.back() == values && std::ranges::is_sorted(ends);
}

}  // namespace

void IndexedText::add(Sections& sections, const std::string& name, const Bitext& bitext, bool source,
                      std::uint32_t depth) {
  const Strings& texts = source ? bitext.source_words() : bitext.target_words();
  MappedSymbols::add(sections, name + ".words", texts.size(), [&](Symbol word) { return texts[word]; });
  const auto tokens = sections.add<Symbol>(name, places_of(bitext, source));
  const auto pairs = sections.add<std::uint32_t>(name + ".pairs", bitext.size() + 1);
  std::ranges::fill(tokens, kEnd);
  std::uint32_t place = 1;
  for (std::size_t pair = 0; pair < bitext.size(); ++pair) {
    pairs[pair] = place;
    const std::span<const Symbol> words = side_of(bitext, source, pair);
    std::ranges::copy(words, tokens.begin() + place);
    place += static_cast<std::uint32_t>(words.size()) + 1;
  }
  pairs[bitext.size()] = place;
  const std::vector<std::uint32_t> sorted = sort_suffixes(tokens, texts.size(), depth);
  std::ranges::copy(sorted, sections.add<std::uint32_t>(name + ".suffixes", sorted.size()).begin());
  const auto first = sections.add<std::uint32_t>(name + ".first", texts.size() + 1);
  for (const Symbol word : tokens)
    if (word != kEnd) ++first[word + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
}

IndexedText::IndexedText(const Sections& sections, const std::string& name)
    : words_(sections, name + ".words"),
      tokens_(sections.array<Symbol>(name)),
      pairs_(sections.array<std::uint32_t>(name + ".pairs")),
      suffixes_(sections.array<std::uint32_t>(name + ".suffixes")),
      first_(sections.array<std::uint32_t>(name + ".first")) {}

bool IndexedText::sound(std::size_t pairs) const {
  if (pairs_.size() != pairs + 1 || pairs_.front() != 1 || tokens_.size() < kPadding ||
      pairs_.back() != tokens_.size() - kPadding || tokens_[0] != kEnd ||
      !sound_ends(first_, words(), suffixes_.size()) || suffixes_.size() + pairs + 1 != pairs_.back())
    return false;
  if (!std::ranges::all_of(tokens_.subspan(pairs_.back()), [](Symbol word) { return word == kEnd; })) return false;
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    if (pairs_[pair] >= pairs_[pair + 1]) return false;
    for (std::uint32_t place = pairs_[pair]; place + 1 < pairs_[pair + 1]; ++place)
      if (tokens_[place] >= words()) return false;
    if (tokens_[pairs_[pair + 1] - 1] != kEnd) return false;
  }
  for (Symbol word = 0; word < words(); ++word) {
    const Range range = of_word(word);
    for (std::uint32_t suffix = range.begin; suffix < range.end; ++suffix)
      if (suffixes_[suffix] >= tokens_.size() || tokens_[suffixes_[suffix]] != word) return false;
  }
  return true;
}

std::size_t IndexedText::pair_of(std::uint32_t place) const {
  return static_cast<std::size_t>(std::ranges::upper_bound(pairs_, place) - pairs_.begin() - 1);
}

IndexedText::Range IndexedText::narrow(Range range, std::uint32_t depth, Symbol word) const {
  const auto suffixes = suffixes_.subspan(range.begin, range.size());
  // The end of a sentence is sorted before all words.
  const auto key = [&](std::uint32_t place) { return tokens_[place + depth] + 1; };
  const auto [begin, end] = std::ranges::equal_range(suffixes, word + 1, {}, key);
  return {static_cast<std::uint32_t>(begin - suffixes.begin()) + range.begin,
          static_cast<std::uint32_t>(end - suffixes.begin()) + range.begin};
}

void PairIndex::add_links(Sections& sections, const Bitext& bitext) {
  std::uint64_t number = 0;
  bool weighted = false;
  for (std::size_t pair = 0; pair < bitext.size(); ++pair) {
    number += bitext.links(pair).size();
    weighted = weighted || !bitext.weights(pair).empty();
  }
  if (number >= std::numeric_limits<std::uint32_t>::max())
    throw std::length_error("an index holds fewer than 2^32 links");
  const std::uint32_t places = places_of(bitext, true);
  const auto first = sections.add<std::uint32_t>("links.first", places + 1);
  const auto links = sections.add<std::uint32_t>("links", number);
  const auto weights = weighted ? sections.add<float>("links.weights", number) : std::span<float>();
  std::uint32_t source = 1, target = 1, at = 0;
  for (std::size_t pair = 0; pair < bitext.size(); ++pair) {
    if (weighted) std::ranges::copy(bitext.weights(pair), weights.begin() + at);
    for (const Link link : bitext.links(pair)) {
      ++first[source + link.source + 1];
      links[at++] = target + link.target;
    }
    source += static_cast<std::uint32_t>(bitext.source(pair).size()) + 1;
    target += static_cast<std::uint32_t>(bitext.target(pair).size()) + 1;
  }
  std::partial_sum(first.begin(), first.end(), first.begin());
}

void PairIndex::add_phrases(Sections& sections, const Bitext& bitext, const HieroOptions& options) {
  std::vector<IndexedPhrase> phrases;
  const auto first = sections.add<std::uint32_t>("phrases.first", places_of(bitext, true) + 1);
  std::uint32_t source = 1, target = 1;
  visit_counted_phrases(bitext, options, [&](std::size_t pair, std::span<const CountedPhrase> counted) {
    if (bitext.target(pair).size() > std::numeric_limits<std::uint16_t>::max())
      throw std::invalid_argument("sentence pair " + std::to_string(pair + 1) + " has " +
                                  std::to_string(bitext.target(pair).size()) +
                                  " target words; expected at most 65535 for rules on demand");
    for (const CountedPhrase& given : counted) {
      const auto flags = static_cast<std::uint8_t>((given.flat ? IndexedPhrase::kFlat : 0) |
                                                   (given.gappy ? IndexedPhrase::kGappy : 0) |
                                                   (given.hole ? IndexedPhrase::kHole : 0));
      if (flags == 0) continue;
      ++first[source + given.phrase.source.begin + 1];
      phrases.push_back({target + given.phrase.target.begin, given.units,
                         static_cast<std::uint16_t>(given.phrase.target.size()),
                         static_cast<std::uint8_t>(given.phrase.source.size()), flags});
    }
    source += static_cast<std::uint32_t>(bitext.source(pair).size()) + 1;
    target += static_cast<std::uint32_t>(bitext.target(pair).size()) + 1;
  });
  if (phrases.size() >= std::numeric_limits<std::uint32_t>::max())
    throw std::length_error("an index holds fewer than 2^32 phrases");
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::ranges::copy(phrases, sections.add<IndexedPhrase>("phrases", phrases.size()).begin());
}

void PairIndex::add_lexical(Sections& sections, const Bitext& bitext) {
  const std::vector<LinkCount> counts = count_links(bitext);
  const std::size_t sources = bitext.source_words().size(), targets = bitext.target_words().size();
  const auto first = sections.add<std::uint32_t>("lexical.first", sources + 2);
  const auto lexical = sections.add<LexicalCount>("lexical", counts.size());
  const auto source_totals = sections.add<std::uint64_t>("lexical.source", sources + 1);
  const auto target_totals = sections.add<std::uint64_t>("lexical.target", targets + 1);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const auto [source, target, count] = counts[i];
    ++first[row(source, sources) + 1];
    lexical[i] = {target, static_cast<std::uint32_t>(count)};
    source_totals[row(source, sources)] += count;
    target_totals[row(target, targets)] += count;
  }
  std::partial_sum(first.begin(), first.end(), first.begin());
}

PairIndex PairIndex::build(const Bitext& bitext, const HieroOptions& options) {
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint8_t>::max();
  if (options.adjacent) throw std::invalid_argument("adjacent is true; expected false for rules on demand");
  if (options.max_symbols == 0) throw std::invalid_argument("max_symbols is 0: a rule has at least one source symbol");
  if (options.max_nonterminals > kMostVariables)
    throw std::invalid_argument("max_nonterminals has no limit, or one above " + std::to_string(kMostVariables) +
                                "; expected at most " + std::to_string(kMostVariables) + " for rules on demand");
  if (options.max_phrase > kMost)
    throw std::invalid_argument("max_phrase has no limit, or one above 255; expected at most 255 for rules on demand");
  Sections out(kKind, kVersion);
  const std::uint32_t depth = std::min<std::uint32_t>(options.max_symbols, options.max_phrase);
  const auto written = out.add<Options>("options", 1);
  written[0] = {options.max_phrase, std::min<std::uint32_t>(options.max_symbols, kMost), options.max_nonterminals,
                depth, kTargetDepth};
  IndexedText::add(out, "source", bitext, true, depth);
  IndexedText::add(out, "target", bitext, false, kTargetDepth);
  add_links(out, bitext);
  add_phrases(out, bitext, options);
  add_lexical(out, bitext);
  return PairIndex(std::make_shared<const Sections>(std::move(out)));
}

PairIndex PairIndex::open(const std::string& path, bool verify) {
  return PairIndex(std::make_shared<const Sections>(Sections::open(path, kKind, kVersion, verify)));
}

PairIndex::PairIndex(std::shared_ptr<const Sections> sections)
    : sections_(std::move(sections)),
      source_(*sections_, "source"),
      target_(*sections_, "target"),
      first_link_(sections_->array<std::uint32_t>("links.first")),
      links_(sections_->array<std::uint32_t>("links")),
      first_phrase_(sections_->array<std::uint32_t>("phrases.first")),
      first_lexical_(sections_->array<std::uint32_t>("lexical.first")),
      phrases_(sections_->array<IndexedPhrase>("phrases")),
      lexical_(sections_->array<LexicalCount>("lexical")),
      source_totals_(sections_->array<std::uint64_t>("lexical.source")),
      target_totals_(sections_->array<std::uint64_t>("lexical.target")) {
  if (sections_->has("links.weights")) weights_ = sections_->array<float>("links.weights");
  const auto options = sections_->array<Options>("options");
  if (options.size() != 1) sections_->fail("is damaged: it has no options");
  options_ = options[0];
  if (sections_->untrusted()) check();
}

// Every number that leads somewhere.
void PairIndex::check() const {
  const auto damaged = [&](const char* what) { sections_->fail(std::string("is damaged: ") + what); };
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint8_t>::max();
  if (options_.max_phrase > kMost || options_.max_symbols > kMost || options_.max_nonterminals > kMostVariables ||
      options_.source_depth == 0 || options_.source_depth > kMost || options_.target_depth == 0 ||
      options_.target_depth > kMost)
    damaged("its options are out of range");
  if (source_.pairs().empty() || !source_.sound(source_.pairs().size() - 1)) damaged("its source text does not fit");
  if (!target_.sound(pairs())) damaged("its target text does not fit");
  if (!sound_ends(first_link_, source_.tokens().size(), links_.size()) ||
      (!weights_.empty() && weights_.size() != links_.size()))
    damaged("its links do not fit");
  if (!std::ranges::all_of(weights_, [](float weight) { return weight > 0 && weight <= 1; }))
    damaged("the weight of a link is not above 0 and at most 1");
  if (!sound_ends(first_phrase_, source_.tokens().size(), phrases_.size()) || !sound_phrases())
    damaged("its phrases do not fit");
  if (!sound_lexical()) damaged("its lexical counts do not fit");
}

// Links and phrases stay within their pair.
bool PairIndex::sound_phrases() const {
  for (std::size_t pair = 0; pair < pairs(); ++pair) {
    const std::uint32_t end = source_.pairs()[pair + 1] - 1;  // of the source sentence
    const std::uint32_t target_begin = target_.pairs()[pair], target_end = target_.pairs()[pair + 1] - 1;
    if (links(end, end + 1) != 0 || first_phrase_[end] != first_phrase_[end + 1]) return false;
    for (std::uint32_t place = source_.pairs()[pair]; place < end; ++place) {
      for (const std::uint32_t link : links_of(place))
        if (link < target_begin || link >= target_end) return false;
      for (std::uint32_t p = first_phrase_[place]; p < first_phrase_[place + 1]; ++p) {
        const IndexedPhrase& phrase = phrases_[p];
        if (phrase.source_length == 0 || phrase.source_length > end - place || phrase.target < target_begin ||
            phrase.target > target_end || phrase.target_length > target_end - phrase.target ||
            phrase.target_length == 0 || phrase.units > kCountUnit)
          return false;
      }
    }
  }
  const std::uint32_t last = source_.pairs().back();
  return first_phrase_[1] == 0 && first_link_[1] == 0 && first_phrase_[last] == phrases_.size() &&
         first_link_[last] == links_.size();
}

bool PairIndex::sound_lexical() const {
  if (!sound_ends(first_lexical_, source_.words() + 1, lexical_.size()) ||
      source_totals_.size() != source_.words() + 1 || target_totals_.size() != target_.words() + 1)
    return false;
  std::vector<std::uint64_t> totals(target_totals_.size(), 0);
  for (std::size_t source = 0; source < source_totals_.size(); ++source) {
    const auto counts = lexical_.subspan(first_lexical_[source], first_lexical_[source + 1] - first_lexical_[source]);
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (counts[i].target != LexicalTable::kNull && counts[i].target >= target_.words()) return false;
      if (counts[i].count == 0 || (i > 0 && counts[i].target <= counts[i - 1].target)) return false;
      total += counts[i].count;
      totals[row(counts[i].target, target_.words())] += counts[i].count;
    }
    if (total != source_totals_[source]) return false;
  }
  return std::ranges::equal(totals, target_totals_);
}

std::uint64_t PairIndex::link_count(Symbol source, Symbol target) const {
  const std::size_t at = row(source, source_.words());
  const auto counts = lexical_.subspan(first_lexical_[at], first_lexical_[at + 1] - first_lexical_[at]);
  const auto found = std::ranges::lower_bound(counts, target, {}, &LexicalCount::target);
  return found != counts.end() && found->target == target ? found->count : 0;
}

void PairIndex::append_to(BitextBuilder& builder) const {
  std::vector<std::string_view> source, target;
  std::vector<Link> found;
  std::vector<float> weights;
  for (std::size_t pair = 0; pair < pairs(); ++pair) {
    const std::uint32_t begin = source_.pairs()[pair], target_begin = target_.pairs()[pair];
    source.clear();
    target.clear();
    found.clear();
    weights.clear();
    for (std::uint32_t place = begin; place + 1 < source_.pairs()[pair + 1]; ++place) {
      source.push_back(source_.word(source_.tokens()[place]));
      for (const std::uint32_t link : links_of(place)) found.push_back({place - begin, link - target_begin});
      if (weighted()) weights.insert(weights.end(), weights_of(place).begin(), weights_of(place).end());
    }
    for (std::uint32_t place = target_begin; place + 1 < target_.pairs()[pair + 1]; ++place)
      target.push_back(target_.word(target_.tokens()[place]));
    builder.append(source, target, Alignment(found), weights);
  }
}

}  // namespace treeglot
