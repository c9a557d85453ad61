#include "text/spacer.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/utf8.h"

namespace treeglot {
namespace {

constexpr std::string_view kKind = "spacer";
constexpr std::uint32_t kVersion = 1;
constexpr std::string_view kSpaces = "spaces";
constexpr std::size_t kWidth = 24, kLeftWord = 1, kRightWord = 2;  // features of a gap, and two of them

struct Word {
  std::uint64_t hash, shape;
  char32_t first, last;
  bool odd;  // how often it was there before: quotation marks alternate
};

Word describe(std::string_view text, std::unordered_map<std::uint64_t, bool>& odd) {
  const std::u32string characters = Decoded(text).characters;
  Word word{hash_bytes(text), 0, 0, 0, false};
  if (characters.empty()) return word;
  word.first = characters.front();
  word.last = characters.back();
  // A mark is its own shape; a word is what it begins and ends with.
  FeatureHash shape(0);
  for (const char32_t c : {word.first, word.last}) {
    const CharacterKind kind = kind_of(c);
    const bool mark = kind == CharacterKind::mark || kind == CharacterKind::wide_mark;
    shape << (mark ? c : static_cast<std::uint64_t>(kind));
  }
  word.shape = shape.value();
  bool& parity = odd[word.hash];
  word.odd = parity;
  parity = !parity;
  return word;
}

// The items are the gaps between words.
template <class Words>
void add_items(const Words& words, TagItems& items) {
  std::unordered_map<std::uint64_t, bool> odd;
  std::vector<Word> found;
  for (std::size_t i = 0; i < words.size(); ++i) found.push_back(describe(words[i], odd));
  const Word none{1, 1, 1, 1, false};
  const auto at = [&](std::size_t i) -> const Word& { return i < found.size() ? found[i] : none; };  // -1 wraps
  for (std::size_t i = 0; i + 1 < found.size(); ++i) {
    items.add_item();
    const Word &a = at(i), &b = at(i + 1), &p = at(i - 1), &n = at(i + 2), &pp = at(i - 2), &nn = at(i + 3);
    items.add(a.shape, b.shape);
    items.add(a.hash);  // kLeftWord
    items.add(b.hash);  // kRightWord
    items.add(a.hash, b.hash);
    items.add(a.hash, b.shape);
    items.add(a.shape, b.hash);
    items.add(a.last, b.first);
    items.add(p.hash, a.hash, b.shape);
    items.add(a.shape, b.hash, n.hash);
    items.add(p.hash, a.hash, b.hash);
    items.add(a.hash, b.hash, n.hash);
    items.add(p.shape, a.hash, b.hash);
    items.add(a.hash, b.hash, n.shape);
    items.add(p.shape, a.shape, b.shape, n.shape);
    items.add(a.hash, a.odd, b.shape);
    items.add(b.hash, b.odd, a.shape);
    items.add(a.hash, a.odd, p.shape, b.shape);
    items.add(b.hash, b.odd, a.shape, n.shape);
    items.add(p.hash, a.hash, b.hash, n.hash);
    items.add(pp.hash, p.hash, a.hash, b.hash);
    items.add(a.hash, b.hash, n.hash, nn.hash);
    items.add(pp.hash, p.hash, a.hash, b.hash, n.hash, nn.hash);
    items.add(a.odd, a.shape, b.odd, b.shape);
    items.add(i == 0, i + 2 == found.size(), a.shape, b.shape);
  }
}

bool ends_in_digit(std::string_view word) {
  return !word.empty() && std::isdigit(static_cast<unsigned char>(word.back())) != 0;
}

bool begins_with_digit(std::string_view word) {
  return !word.empty() && std::isdigit(static_cast<unsigned char>(word.front())) != 0;
}

bool is_currency(std::string_view word) { return word == "$" || word == "£" || word == "€"; }

// A word as text has it: the no-break spaces of a tag are blanks again.
std::string in_text(std::string_view word) {
  static constexpr std::string_view kNoBreak = "\xc2\xa0";
  std::string out(word);
  if (!word.starts_with('<') || !word.ends_with('>')) return out;
  for (std::size_t at = 0; (at = out.find(kNoBreak, at)) != std::string::npos;) out.replace(at, kNoBreak.size(), " ");
  return out;
}

// The words with space(i) between words i and i + 1.
template <class Space>
Tokens joined(const std::vector<std::string>& words, const Space& space) {
  Tokens out;
  std::uint32_t at = 0;
  const auto put = [&](std::string_view text) {
    out.text += text;
    return at += static_cast<std::uint32_t>(Decoded(text).characters.size());
  };
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) put(space(i - 1));
    const std::uint32_t begin = at;
    out.words.append(words[i]);
    out.spans.push_back({begin, put(in_text(words[i]))});
  }
  return out;
}

}  // namespace

Spacer::Spacer(Sections sections) : sections_(std::move(sections)), tagger_(sections_) {
  const std::span<const char> bytes = sections_.array<char>(kSpaces);
  const std::string_view text(bytes.data(), bytes.size());
  for (std::size_t begin = 0; begin < text.size();) {  // each ends with a zero
    const std::size_t end = std::min(text.find('\0', begin), text.size());
    spaces_.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  if (spaces_.size() != kTags || !is_utf8(text)) sections_.fail("is damaged: it does not say what parts words");
}

Spacer Spacer::open(const std::string& path) { return Spacer(Sections::open(path, kKind, kVersion)); }

Spacer Spacer::train(std::span<const Tokens* const> sentences) {
  // The spaces between the words of a sentence, gap by gap.
  const auto spaces_of = [](const Tokens& sentence) {
    const Decoded decoded(sentence.text);
    std::vector<std::string_view> out;
    for (std::size_t i = 0; i + 1 < sentence.spans.size(); ++i) {
      const std::uint32_t begin = decoded.offsets[sentence.spans[i].end];
      out.push_back(
          std::string_view(sentence.text).substr(begin, decoded.offsets[sentence.spans[i + 1].begin] - begin));
    }
    return out;
  };
  std::map<std::string, std::uint64_t> seen;
  for (const Tokens* const sentence : sentences)
    for (const std::string_view space : spaces_of(*sentence)) ++seen[std::string(space)];
  seen.erase("");
  std::vector<std::pair<std::string, std::uint64_t>> common(seen.begin(), seen.end());
  std::ranges::stable_sort(common, std::ranges::greater{}, [](const auto& entry) { return entry.second; });
  std::vector<std::string> spaces = {""};
  for (const auto& [space, count] : common)
    if (spaces.size() < kTags && space.find('\0') == std::string::npos) spaces.push_back(space);
  while (spaces.size() < kTags) spaces.emplace_back(" ");

  Sections sections(kKind, kVersion);
  std::string bytes;
  for (const std::string& space : spaces) bytes += space + '\0';
  std::ranges::copy(bytes, sections.add<char>(kSpaces, bytes.size()).begin());
  train_tagger(sections, sentences.size(), kWidth, [&](std::size_t i, TagItems& items, std::vector<Tag>& gold) {
    add_items(sentences[i]->words, items);
    for (const std::string_view space : spaces_of(*sentences[i])) {
      const auto found = std::ranges::find(spaces, space);
      gold.push_back(static_cast<Tag>(found == spaces.end() ? 1 : found - spaces.begin()));
    }
  });
  return Spacer(std::move(sections));
}

Tokens Spacer::join(const std::vector<std::string>& words) const {
  TagItems items(kWidth);
  add_items(words, items);
  std::vector<Tag> tags = tagger_.tag(items);
  // Marks at numbers that the corpus lacks: 10% and $10.
  for (std::size_t gap = 0; gap < tags.size(); ++gap) {
    const auto unseen = [&](std::size_t which) { return !tagger_.knows(items.features[gap * kWidth + which]); };
    const bool percent = words[gap + 1] == "%" && ends_in_digit(words[gap]) && unseen(kRightWord);
    const bool money = is_currency(words[gap]) && begins_with_digit(words[gap + 1]) && unseen(kLeftWord);
    if (percent || money) tags[gap] = 0;
  }
  return joined(words, [&](std::size_t gap) -> std::string_view { return spaces_[tags[gap]]; });
}

namespace {

// Whether a word leans on the one before it or on the one after it.
constexpr unsigned kLeft = 1, kRight = 2;

// `quoted`: whether a straight quotation mark is open.
unsigned lean_of_mark(char32_t c, bool& quoted) {
  if (c == '"') return std::exchange(quoted, !quoted) ? kLeft : kRight;
  const auto is_in = [&](std::u32string_view marks) { return marks.find(c) != marks.npos; };
  if (is_in(U"([{«‹“‘„¿¡（【《「『$£€")) return kRight;
  return is_in(U".,;:!?)]}%…»›”’、。，；：！？）】》」』،؛؟۔।॥։።፣፤၊။។៕") ? kLeft : 0;
}

bool is_listed(std::u32string_view characters, const std::vector<std::string>& list, bool apostrophe) {
  std::string key;
  for (const char32_t c : characters) append_utf8(key, plain_character(c));
  if (apostrophe && !key.ends_with('\'')) return false;
  if (apostrophe) key.pop_back();
  return std::ranges::find(list, key) != list.end();
}

bool is_narrow(std::string_view word) {
  const std::u32string characters = Decoded(word).characters;
  return !characters.empty() && !is_wide(characters.front()) && !is_wide(characters.back());
}

}  // namespace

Tokens join_by_rules(const std::vector<std::string>& words, const WordRules& rules, bool spaces) {
  std::vector<unsigned> leans;
  bool quoted = false;
  for (const std::string_view word : words) {
    const std::u32string characters = Decoded(word).characters;
    unsigned lean = 0;
    if (characters.size() == 1 || word == "...") lean = lean_of_mark(characters.front(), quoted);
    if (is_listed(characters, rules.clitics, false)) lean = kLeft;
    if (is_listed(characters, rules.elisions, true)) lean = kRight;
    leans.push_back(lean);
  }
  return joined(words, [&](std::size_t gap) -> std::string_view {
    if ((leans[gap] & kRight) || (leans[gap + 1] & kLeft)) return "";
    return spaces || (is_narrow(words[gap]) && is_narrow(words[gap + 1])) ? " " : "";
  });
}

}  // namespace treeglot
