#include "text/segmenter.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "text/whole.h"
#include "text/word_rules.h"

namespace treeglot {
namespace {

constexpr std::string_view kKind = "segmenter";
constexpr std::uint32_t kVersion = 1;
constexpr std::string_view kChanges = "changes", kWords = "words";

enum : Tag { kSingle, kBegin, kMiddle, kEnd };
constexpr TagMask mask(Tag tag) { return static_cast<TagMask>(1u << tag); }
constexpr TagMask kStarts = mask(kSingle) | mask(kBegin), kStays = mask(kMiddle) | mask(kEnd);
constexpr TagMask kStops = mask(kSingle) | mask(kEnd);

constexpr std::size_t kWidth = 36;
constexpr std::size_t kLongest = 6;      // characters of a word of the lexicon
constexpr std::uint64_t kLeastSeen = 2;  // how often: words seen once stand for those never seen
constexpr std::size_t kChunk = 6;        // characters of a chunk's beginning or end that are looked at together

struct Change {
  std::uint64_t key;
  std::uint64_t character;
};

// What a character becomes depends on whether a wide one stands beside it, and on how often it was there before:
// quotation marks alternate.
std::uint64_t change_key(char32_t character, bool wide, bool odd) {
  return (std::uint64_t{character} << 2) | (std::uint64_t{wide} << 1) | std::uint64_t{odd};
}

// Calls call(i, key) for each character of the text that is no space.
template <class Call>
void for_changes(const std::u32string& text, const Call& call) {
  std::unordered_map<char32_t, bool> odd;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_space(text[i])) continue;
    const bool wide = (i > 0 && is_wide(text[i - 1])) || (i + 1 < text.size() && is_wide(text[i + 1]));
    bool& parity = odd[text[i]];
    call(i, change_key(text[i], wide, parity));
    parity = !parity;
  }
}

std::uint64_t hash_part(std::uint64_t hash, char32_t character) { return (FeatureHash(hash) << character).value(); }

// The lexicon is a hash table of words' hashes; 0 where it is free.
std::size_t slots_for(std::size_t words) { return 2 * words + 1; }
bool contains(std::span<const std::uint64_t> words, std::uint64_t hash) {
  std::size_t at = place_of(hash, words.size());
  for (std::size_t left = words.size(); left > 0 && words[at] != 0; --left) {
    if (words[at] == hash) return true;
    if (++at == words.size()) at = 0;
  }
  return false;
}

// The longest word of the lexicon that begins at, ends at and covers each character; 0 for none.
struct Matches {
  std::vector<std::uint8_t> begin, end, inside;

  Matches(const std::u32string& text, std::span<const std::uint64_t> words)
      : begin(text.size() + 1), end(text.size() + 1), inside(text.size() + 1) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      std::uint64_t hash = 0;
      for (std::size_t length = 1; length <= kLongest && i + length <= text.size(); ++length) {
        hash = hash_part(hash, text[i + length - 1]);
        if (length == 1 || !contains(words, hash)) continue;
        const auto size = static_cast<std::uint8_t>(length);
        begin[i] = size;
        end[i + length - 1] = std::max(end[i + length - 1], size);
        for (std::size_t j = i + 1; j + 1 < i + length; ++j) inside[j] = std::max(inside[j], size);
      }
    }
  }
};

// Characters since and until ICU's boundaries, 7 at most.
std::pair<std::vector<std::uint8_t>, std::vector<std::uint8_t>> to_boundaries(std::size_t size,
                                                                              const std::vector<bool>& ends) {
  std::vector<std::uint8_t> since(size + 1), until(size + 1);
  for (std::size_t i = 0; i < size; ++i)
    since[i] = i == 0 || ends[i] ? 0 : static_cast<std::uint8_t>(std::min(since[i - 1] + 1, 7));
  for (std::size_t i = size; i-- > 0;)
    until[i] = ends[i + 1] ? 0 : static_cast<std::uint8_t>(std::min(until[i + 1] + 1, 7));
  return {std::move(since), std::move(until)};
}

// The items of a text: its characters but spaces. places[k] is where item k stands.
void add_items(const std::u32string& text, const std::vector<bool>& ends, std::span<const std::uint64_t> words,
               TagItems& items, std::vector<std::uint32_t>& places) {
  const Matches match(text, words);
  const auto [since, until] = to_boundaries(text.size(), ends);
  items.next = {kStarts, kStays, kStays, kStarts};
  places.clear();
  const auto size = static_cast<std::ptrdiff_t>(text.size());
  const auto is_outside = [&](std::ptrdiff_t i) { return i < 0 || i >= size; };
  const auto at = [&](std::ptrdiff_t i) -> std::uint64_t {
    if (is_outside(i)) return 1;  // a character of no text
    const char32_t c = text[static_cast<std::size_t>(i)];
    return is_space(c) ? U' ' : c;
  };
  const auto kind = [&](std::ptrdiff_t i) -> std::uint64_t {
    if (is_outside(i)) return 15;
    return static_cast<std::uint64_t>(kind_of(text[static_cast<std::size_t>(i)]));
  };
  std::ptrdiff_t chunk = 0;  // where the characters without a space between them begin
  for (std::ptrdiff_t i = 0; i < size; ++i) {
    if (at(i) == U' ') {
      chunk = i + 1;
      continue;
    }
    places.push_back(static_cast<std::uint32_t>(i));
    TagMask allowed = kAnyTag;
    if (i == chunk) allowed &= kStarts;
    if (i + 1 == size || at(i + 1) == U' ') allowed &= kStops;
    items.add_item(allowed);

    const std::uint64_t c = at(i), l = at(i - 1), r = at(i + 1), ll = at(i - 2), rr = at(i + 2), lll = at(i - 3),
                        rrr = at(i + 3);
    items.add(c);
    items.add(l);
    items.add(r);
    items.add(ll);
    items.add(rr);
    items.add(l, c);
    items.add(c, r);
    items.add(ll, l);
    items.add(r, rr);
    items.add(l, r);
    items.add(ll, c);
    items.add(c, rr);
    items.add(ll, l, c);
    items.add(l, c, r);
    items.add(c, r, rr);
    items.add(ll, l, c, r);
    items.add(l, c, r, rr);
    items.add(lll, ll, l, c);
    items.add(c, r, rr, rrr);
    items.add(ll, l, c, r, rr);
    items.add(kind(i - 1), kind(i), kind(i + 1));
    items.add(kind(i - 2), kind(i - 1), kind(i), kind(i + 1), kind(i + 2));
    // The beginning of the chunk up to here, and its end from here on: clitics, abbreviations.
    FeatureHash begin(0), end(1);
    if (i - chunk < static_cast<std::ptrdiff_t>(kChunk))
      for (std::ptrdiff_t j = chunk; j <= i + 1; ++j) begin << at(j);
    std::ptrdiff_t stop = i;
    while (stop < size && stop < i + static_cast<std::ptrdiff_t>(kChunk) && at(stop) != U' ') ++stop;
    if (stop == size || at(stop) == U' ')
      for (std::ptrdiff_t j = std::max(chunk, i - 1); j < stop; ++j) end << at(j);
    items.add(begin.value());
    items.add(end.value());
    const auto k = static_cast<std::size_t>(i);
    const std::uint64_t b = match.begin[k], e = match.end[k], m = match.inside[k],
                        before = k == 0 ? 0 : match.end[k - 1], after = match.begin[k + 1];
    items.add(b, e, m);
    items.add(before, b);
    items.add(e, after);
    items.add(c, b);
    items.add(c, e);
    items.add(c, m);
    items.add(b, e, m, before, after);
    items.add(since[k], until[k]);
    items.add(since[k], until[k], c);
    items.add(since[k], until[k], b, e, m);
    items.add(since[k], until[k], l, c);
    items.add(since[k], until[k], c, r);
  }
}

// The tags that the words of a text give its characters; nothing if they have other characters than it.
// `changed` is called with the character of the words for each of the text.
template <class Changed>
std::vector<Tag> gold_tags(const std::u32string& text, const std::u32string& line, const Changed& changed) {
  std::vector<Tag> tags;
  std::size_t at = 0;
  bool starts = true;
  for (const char32_t c : line) {
    if (c == U' ') {
      starts = true;
      continue;
    }
    while (at < text.size() && is_space(text[at])) {
      if (!starts) return {};  // a word with a space in it
      ++at;
    }
    if (at == text.size()) return {};
    changed(at++, c);
    if (!starts) tags.back() = tags.back() == kSingle ? kBegin : kMiddle;
    tags.push_back(starts ? kSingle : kEnd);
    starts = false;
  }
  while (at < text.size() && is_space(text[at])) ++at;
  if (at != text.size()) return {};
  return tags;
}

// The words of the lexicon's lengths that tags make of a text.
std::vector<std::uint64_t> hashed_words(const std::u32string& text, const std::vector<Tag>& tags) {
  std::vector<std::uint64_t> out;
  std::uint64_t hash = 0;
  std::size_t length = 0, item = 0;
  for (const char32_t c : text) {
    if (is_space(c)) continue;
    const Tag tag = tags[item++];
    if (mask(tag) & kStarts) hash = length = 0;
    hash = hash_part(hash, c);
    ++length;
    if (tag == kEnd && length <= kLongest) out.push_back(hash);
  }
  return out;
}

}  // namespace

Segmenter::Segmenter(Sections sections)
    : sections_(std::move(sections)), tagger_(sections_), words_(sections_.array<std::uint64_t>(kWords)) {
  if (words_.empty()) sections_.fail("is damaged: it has no lexicon");
  for (const Change& change : sections_.array<Change>(kChanges)) {
    if (change.character == 0 || change.character > 0x10ffff || (change.character >> 11) == 0x1b)
      sections_.fail("is damaged: " + std::to_string(change.character) + " is no character");
    changes_[change.key] = static_cast<char32_t>(change.character);
  }
}

Segmenter Segmenter::open(const std::string& path) { return Segmenter(Sections::open(path, kKind, kVersion)); }

Segmenter Segmenter::train(std::span<const BrokenLine> texts, std::span<const std::string> lines,
                           SegmenterCounts& counts) {
  if (texts.size() != lines.size())
    throw std::invalid_argument("there are " + std::to_string(texts.size()) + " raw sentences and " +
                                std::to_string(lines.size()) + " in words");
  std::vector<const BrokenLine*> known;
  std::map<std::uint64_t, std::uint64_t> words;
  std::vector<std::vector<Tag>> gold;
  std::map<std::uint64_t, std::map<char32_t, std::uint64_t>> seen;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::u32string& text = texts[i].decoded.characters;
    std::u32string changed = text;
    std::vector<Tag> tags =
        gold_tags(text, Decoded(lines[i]).characters, [&](std::size_t at, char32_t c) { changed[at] = c; });
    ++counts.sentences;
    if (tags.empty()) {
      ++counts.unaligned;
      continue;
    }
    for_changes(text, [&](std::size_t at, std::uint64_t key) { ++seen[key][changed[at]]; });
    known.push_back(&texts[i]);
    for (const std::uint64_t word : hashed_words(text, tags)) ++words[word];
    gold.push_back(std::move(tags));
  }
  std::vector<Change> changes;
  for (const auto& [key, characters] : seen) {
    const auto most = std::ranges::max_element(characters, {}, [](const auto& entry) { return entry.second; });
    if (most->first != static_cast<char32_t>(key >> 2)) changes.push_back({key, most->first});
  }
  Sections sections(kKind, kVersion);
  std::ranges::copy(changes, sections.add<Change>(kChanges, changes.size()).begin());
  std::erase_if(words, [](const auto& word) { return word.second < kLeastSeen; });
  const std::span<std::uint64_t> lexicon = sections.add<std::uint64_t>(kWords, slots_for(words.size()));
  for (const auto& [word, count] : words) {
    std::size_t at = place_of(word, lexicon.size());
    while (lexicon[at] != 0) at = at + 1 == lexicon.size() ? 0 : at + 1;
    lexicon[at] = word;
  }
  std::vector<std::uint32_t> places;
  train_tagger(sections, known.size(), kWidth, [&](std::size_t i, TagItems& items, std::vector<Tag>& tags) {
    add_items(known[i]->decoded.characters, known[i]->ends, lexicon, items, places);
    tags = gold[i];
  });
  return Segmenter(std::move(sections));
}

Tokens Segmenter::segment(const BrokenLine& line) const {
  const Decoded& decoded = line.decoded;
  std::u32string changed = decoded.characters;
  for_changes(decoded.characters, [&](std::size_t i, std::uint64_t key) {
    if (const auto found = changes_.find(key); found != changes_.end()) changed[i] = found->second;
  });
  TagItems items(kWidth);
  std::vector<std::uint32_t> places;
  add_items(decoded.characters, line.ends, words_, items, places);
  for (const Span whole : whole_spans(decoded.characters)) {
    const auto first = std::ranges::lower_bound(places, whole.begin);
    const auto last = std::ranges::lower_bound(places, whole.end);
    for (auto place = first; place != last; ++place) {
      TagMask& allowed = items.allowed[static_cast<std::size_t>(place - places.begin())];
      allowed = (place == first ? kStarts : kStays) & (place + 1 == last ? kStops : static_cast<TagMask>(~kStops));
      changed[*place] = decoded.characters[*place];
    }
    if (first != places.begin()) items.allowed[static_cast<std::size_t>(first - places.begin()) - 1] &= kStops;
    if (last != places.end()) items.allowed[static_cast<std::size_t>(last - places.begin())] &= kStarts;
  }
  const std::vector<Tag> tags = tagger_.tag(items);
  Tokens out{.text = std::string(line.text), .words = {}, .spans = {}};
  for (std::size_t begin = 0, end = 0; begin < tags.size(); begin = end) {
    end = begin + 1;
    while (end < tags.size() && (mask(tags[end]) & kStays)) ++end;
    const Span span{places[begin], places[end - 1] + 1};
    out.words.append(without_blanks(std::u32string_view(changed).substr(span.begin, span.size())));
    out.spans.push_back(span);
  }
  return out;
}

}  // namespace treeglot
