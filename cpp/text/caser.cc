#include "text/caser.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/utf8.h"
#include "text/tokens.h"

namespace treeglot {
namespace {

constexpr std::string_view kKind = "caser";
constexpr std::uint32_t kVersion = 1;
constexpr std::string_view kUpper = "upper", kForms = "forms";
constexpr std::size_t kWidth = 24;

enum : Tag { kLower, kCapital, kAllUpper, kOwnForm };

struct CasePair {
  std::uint32_t lower, upper;
};

bool ends_sentence(std::string_view word) {
  return word == "." || word == "!" || word == "?" || word == ":" || word == "\"" || word == "“" || word == "„" ||
         word == "..." || word == "…";
}

template <class Words>
void add_items(const Words& words, TagItems& items) {
  const std::size_t size = words.size();
  std::vector<std::uint64_t> hashes;
  for (std::size_t i = 0; i < size; ++i) hashes.push_back(hash_bytes(words[i]));
  const auto at = [&](std::size_t i) -> std::uint64_t { return i < size ? hashes[i] : 1; };  // -1 wraps
  // Lengths count bytes: what matters is that the same word always gives the same pieces.
  const auto tail = [](std::string_view word, std::size_t most) {
    return hash_bytes(word.substr(word.size() - std::min(word.size(), most)));
  };
  for (std::size_t i = 0; i < size; ++i) {
    items.add_item();
    const std::string_view word = words[i];
    const std::uint64_t w = at(i), p = at(i - 1), pp = at(i - 2), n = at(i + 1), nn = at(i + 2);
    // Where the word stands: 0 within a sentence, 1 at the very beginning, 2 after a mark that may end a sentence.
    const std::uint64_t place = i == 0 ? 1 : ends_sentence(words[i - 1]) ? 2 : 0;
    items.add(0);
    items.add(w);
    items.add(w, place);
    items.add(place);
    items.add(p, w);
    items.add(w, n);
    items.add(p);
    items.add(n);
    items.add(p, w, n);
    items.add(pp, p, w);
    items.add(w, n, nn);
    items.add(p, n);
    items.add(tail(word, 2), place);
    items.add(tail(word, 3), place);
    items.add(tail(word, 4), p);
    items.add(hash_bytes(word.substr(0, 3)), place);
    items.add(tail(word, 3), p);
    items.add(tail(word, 4), n);
    items.add(place, at(size - 1), i == 0 ? n : 0);
    items.add(place, at(size - 1), i == 0 ? std::uint64_t{size} : 0);
    items.add(place, w, at(size - 1));
    items.add(place == 0 ? 0 : 1, w, n);
    items.add(place == 0 ? 0 : 1, at(size - 2), at(size - 1));
    items.add(kind_of(word.empty() ? U' ' : Decoded(word).characters.front()) == CharacterKind::digit, word.size());
  }
}

}  // namespace

Caser::Caser(Sections sections) : sections_(std::move(sections)), tagger_(sections_) {
  for (const CasePair& pair : sections_.array<CasePair>(kUpper)) {
    if (pair.upper == 0 || pair.upper > 0x10ffff || (pair.upper >> 11) == 0x1b)
      sections_.fail("is damaged: " + std::to_string(pair.upper) + " is no character");
    upper_[pair.lower] = pair.upper;
  }
  const std::span<const char> bytes = sections_.array<char>(kForms);
  const std::string_view text(bytes.data(), bytes.size());
  if (!is_utf8(text)) sections_.fail("is damaged: its forms are not UTF-8");
  for (std::size_t begin = 0; begin < text.size();) {  // LOWER blank FORM newline
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    const std::size_t blank = std::min(line.find(' '), line.size());
    forms_.emplace(line.substr(0, blank), line.substr(std::min(blank + 1, line.size())));
    begin = end + 1;
  }
}

Caser Caser::open(const std::string& path) { return Caser(Sections::open(path, kKind, kVersion)); }

Caser Caser::train(const CasedText& text, const std::vector<std::pair<std::uint32_t, std::uint32_t>>& upper) {
  Sections sections(kKind, kVersion);
  std::map<std::uint32_t, std::uint32_t> sorted(upper.begin(), upper.end());
  std::ranges::transform(sorted, sections.add<CasePair>(kUpper, sorted.size()).begin(),
                         [](const auto& pair) { return CasePair{pair.first, pair.second}; });
  // A word's tag is the first that gives its form; words that none gives have a form of their own.
  const auto make_upper = [&](std::string_view word, bool all) {
    std::string out;
    for (const char32_t c : Decoded(word).characters) {
      const auto found = all || out.empty() ? sorted.find(c) : sorted.end();
      append_utf8(out, found == sorted.end() ? c : static_cast<char32_t>(found->second));
    }
    return out;
  };
  const auto tag_of = [&](const std::string& word, const std::string& lower) -> Tag {
    if (word == lower) return kLower;
    if (word == make_upper(lower, false)) return kCapital;
    return word == make_upper(lower, true) ? kAllUpper : kOwnForm;
  };
  if (text.words.size() != text.lower.size()) throw std::invalid_argument("the sentences in lower case are others");
  std::vector<std::vector<Tag>> gold(text.words.size());
  std::map<std::string, std::map<std::string, std::uint64_t>> seen;
  for (std::size_t i = 0; i < gold.size(); ++i) {
    if (text.words[i].size() != text.lower[i].size())
      throw std::invalid_argument("sentence " + std::to_string(i + 1) + " has other words in lower case");
    for (std::size_t j = 0; j < text.words[i].size(); ++j) {
      const std::string &word = text.words[i][j], &lower = text.lower[i][j];
      gold[i].push_back(tag_of(word, lower));
      if (gold[i].back() == kOwnForm) ++seen[lower][word];
    }
  }
  std::string forms;
  for (const auto& [lower, words] : seen) {
    const auto most = std::ranges::max_element(words, {}, [](const auto& entry) { return entry.second; });
    forms += lower + ' ' + most->first + '\n';
  }
  std::ranges::copy(forms, sections.add<char>(kForms, forms.size()).begin());
  train_tagger(sections, gold.size(), kWidth, [&](std::size_t i, TagItems& items, std::vector<Tag>& tags) {
    add_items(text.lower[i], items);
    tags = gold[i];
  });
  return Caser(std::move(sections));
}

std::string Caser::cased(std::string_view word, Tag tag) const {
  if (tag == kLower) return std::string(word);
  if (tag == kOwnForm)
    if (const auto found = forms_.find(std::string(word)); found != forms_.end()) return found->second;
  std::string out;
  for (const char32_t c : Decoded(word).characters) {
    const auto found = tag == kAllUpper || out.empty() ? upper_.find(c) : upper_.end();
    append_utf8(out, found == upper_.end() ? c : static_cast<char32_t>(found->second));
  }
  return out;
}

Strings Caser::restore(const std::vector<std::string>& words) const {
  TagItems items(kWidth);
  add_items(words, items);
  const std::vector<Tag> tags = tagger_.tag(items);
  Strings out;
  for (std::size_t i = 0; i < words.size(); ++i) out.append(cased(words[i], tags[i]));
  return out;
}

}  // namespace treeglot
