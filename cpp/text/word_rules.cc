#include "text/word_rules.h"

#include <algorithm>

#include "text/whole.h"

namespace treeglot {
namespace {

bool is_apostrophe(char32_t c) { return c == '\'' || c == 0x2019; }
bool is_digit(char32_t c) { return kind_of(c) == CharacterKind::digit; }

bool is_letter(char32_t c) {
  using enum CharacterKind;
  const CharacterKind kind = kind_of(c);
  return kind == lower || kind == upper || kind == letter;
}

class Splitter {
 public:
  Splitter(const BrokenLine& line, const WordRules& rules) : text_(line.decoded.characters), ends_(line.ends) {
    for (const std::string& clitic : rules.clitics) clitics_.push_back(Decoded(clitic).characters);
    for (const std::string& elision : rules.elisions) elisions_.push_back(Decoded(elision).characters);
  }

  // Whether a word may end at each place of the text.
  const std::vector<bool>& run() {
    for (std::size_t i = 1; i < text_.size(); ++i)
      if (joins(i)) ends_[i] = false;
    for (std::size_t i = 0; i < text_.size(); ++i)
      if (is_space(text_[i])) ends_[i] = ends_[i + 1] = true;
    for (std::size_t begin = 0; begin < text_.size();) {
      std::size_t end = begin + 1;
      while (end < text_.size() && !ends_[end]) ++end;
      part(begin, end);
      begin = end;
    }
    for (const Span whole : whole_spans(text_)) {
      ends_[whole.begin] = ends_[whole.end] = true;
      for (std::size_t i = whole.begin + 1; i < whole.end; ++i) ends_[i] = false;
    }
    return ends_;
  }

 private:
  // Whether the characters on both sides of a boundary belong together.
  bool joins(std::size_t i) const {
    const char32_t before = text_[i - 1], after = text_[i];
    const char32_t first = i > 1 ? text_[i - 2] : U' ', last = i + 1 < text_.size() ? text_[i + 1] : U' ';
    if ((before == '.' || before == '-') && before == after) return true;  // ... and --
    // Words with hyphens, dates and times: a mark between letters or digits, on either side of it.
    const auto between = [](char32_t left, char32_t mark, char32_t right) {
      if (mark == '-' || mark == 0x2010 || mark == 0x2011)
        return (is_letter(left) || is_digit(left)) && (is_letter(right) || is_digit(right));
      return (mark == ':' || mark == '/' || mark == '.' || mark == ',') && is_digit(left) && is_digit(right);
    };
    if (between(first, before, after) || between(before, after, last)) return true;
    // Units: °C and m².
    if (before == 0xb0 && (after == 'C' || after == 'F' || after == 'K') && !is_letter(last)) return true;
    if (is_letter(before) && (after == 0xb2 || after == 0xb3)) return true;
    // U.S. keeps its last full stop.
    return after == '.' && i >= 3 && is_letter(before) && first == '.' && is_letter(text_[i - 3]) &&
           (i == 3 || !is_letter(text_[i - 4]));
  }

  // Parts clitics and elisions of one word from the rest.
  void part(std::size_t begin, std::size_t end) {
    const auto same = [&](std::size_t at, const std::u32string& wanted) {
      return std::equal(wanted.begin(), wanted.end(), text_.begin() + static_cast<std::ptrdiff_t>(at),
                        [](char32_t a, char32_t b) { return a == plain_character(b); });
    };
    for (const std::u32string& clitic : clitics_) {
      // A clitic that stands apart already, as in "the dog 's", keeps its apostrophe.
      if (begin > 0 && is_apostrophe(text_[begin - 1]) && (begin == 1 || is_space(text_[begin - 2])) &&
          clitic.front() == '\'' && end - begin + 1 == clitic.size() && same(begin - 1, clitic))
        ends_[begin] = false;
      if (end - begin <= clitic.size() || !same(end - clitic.size(), clitic)) continue;
      const std::size_t at = end - clitic.size();
      if (!is_letter(text_[at - 1]) && !is_digit(text_[at - 1])) continue;
      ends_[at] = true;
      return part(begin, at);
    }
    for (std::size_t i = begin + 1; i + 1 < end; ++i) {
      if (!is_apostrophe(text_[i]) || ends_[i + 1]) continue;
      const auto elided = [&](const std::u32string& e) {
        return e == U"*" || (e.size() == i - begin && same(begin, e));
      };
      if (std::ranges::any_of(elisions_, elided)) {
        ends_[i + 1] = true;
        return part(i + 1, end);
      }
    }
  }

  const std::u32string& text_;
  std::vector<bool> ends_;
  std::vector<std::u32string> clitics_, elisions_;
};

}  // namespace

char32_t plain_character(char32_t c) {
  if (c >= 'A' && c <= 'Z') return c + ('a' - 'A');
  return is_apostrophe(c) ? U'\'' : c;
}

std::string without_blanks(std::u32string_view word) {
  std::string out;
  for (const char32_t c : word) append_utf8(out, is_space(c) ? 0xa0 : c);
  return out;
}

Tokens split_words(const BrokenLine& line, const WordRules& rules) {
  const std::u32string& characters = line.decoded.characters;
  Splitter splitter(line, rules);
  const std::vector<bool>& ends = splitter.run();
  Tokens out{.text = std::string(line.text), .words = {}, .spans = {}};
  for (std::size_t begin = 0, end = 0; begin < characters.size(); begin = end) {
    end = begin + 1;
    if (is_space(characters[begin])) continue;
    while (end < characters.size() && !ends[end]) ++end;
    out.words.append(without_blanks(std::u32string_view(characters).substr(begin, end - begin)));
    out.spans.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)});
  }
  return out;
}

}  // namespace treeglot
