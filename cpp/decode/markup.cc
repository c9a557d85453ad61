#include "decode/markup.h"

#include <algorithm>
#include <cctype>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "base/words.h"

namespace treeglot {
namespace {

void check_characters(std::string_view line) {
  if (line.starts_with("\xef\xbb\xbf")) throw std::invalid_argument("begins with a byte order mark");
  for (std::size_t i = 0; i < line.size(); ++i) {
    const auto byte = static_cast<unsigned char>(line[i]);
    if ((byte < 0x20 && byte != '\t') || byte == 0x7f) {
      throw std::invalid_argument("a control character at byte " + std::to_string(i + 1) + ", near " +
                                  quoted(line.substr(i < 10 ? 0 : i - 10, 20)));
    }
  }
}

void append_words(std::string_view text, std::vector<std::string>& words) {
  for_each_word(text, " \t", [&](std::string_view word) { words.emplace_back(word); });
}

std::string decoded(std::string_view text) {
  constexpr std::pair<std::string_view, char> kEntities[] = {
      {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&amp;", '&'}};
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    bool found = false;
    for (const auto& [entity, character] : kEntities) {
      if (text.substr(i).starts_with(entity)) {
        out += character;
        i += entity.size();
        found = true;
        break;
      }
    }
    if (!found) out += text[i++];
  }
  return out;
}

// What <name …> says: its name and its translations.
struct Tag {
  std::string_view name;
  std::vector<std::string> translations;
  bool kept = false;  // translate="no"
};

// Whether a '<' begins a tag: a name follows. Otherwise it is text, as in "a < b".
bool begins_tag(std::string_view after) {
  return !after.empty() && (std::isalpha(static_cast<unsigned char>(after[0])) != 0 || after[0] == '_' ||
                            after[0] == '/' || static_cast<unsigned char>(after[0]) >= 0x80);
}

Tag read_tag(std::string_view inside) {
  constexpr std::string_view kBlanks = " \t";
  const std::string shown = quoted("<" + std::string(inside) + ">");
  Tag tag;
  tag.name = inside.substr(0, inside.find_first_of(kBlanks));
  for (std::string_view rest = inside.substr(tag.name.size());;) {
    rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks), rest.size()));
    if (rest.empty()) break;
    const std::size_t equals = rest.find("=\"");
    const std::size_t end = equals == std::string_view::npos ? equals : rest.find('"', equals + 2);
    if (end == std::string_view::npos)
      throw std::invalid_argument("the tag " + shown + R"( has no value in quotes; expected <name translation="…">)");
    const std::string_view name = rest.substr(0, equals);
    const std::string_view given = rest.substr(equals + 2, end - equals - 2);
    const bool keeps = name == "translate" && given == "no";
    if ((name != "translation" && !keeps) || tag.kept || !tag.translations.empty())
      throw std::invalid_argument("the tag " + shown + " has the attribute " + quoted(name) +
                                  "; expected one translation and nothing else");
    tag.kept = keeps;
    for (std::string_view value = given; !keeps;) {
      const std::size_t bar = value.find("||");
      tag.translations.push_back(decoded(value.substr(0, bar)));
      if (bar == std::string_view::npos) break;
      value.remove_prefix(bar + 2);
    }
    rest.remove_prefix(end + 1);
  }
  if (tag.translations.empty() && !tag.kept)
    throw std::invalid_argument("the tag " + shown + R"( has no translation; expected <name translation="…">)");
  return tag;
}

// The next '<' that begins a tag.
std::size_t find_tag(std::string_view line) {
  std::size_t at = line.find('<');
  while (at != std::string_view::npos && !begins_tag(line.substr(at + 1))) at = line.find('<', at + 1);
  return at;
}

}  // namespace

MarkedSentence read_sentence(std::string_view line, bool markup) {
  check_characters(line);
  MarkedSentence out;
  if (!markup) {
    append_words(line, out.words);
    return out;
  }
  while (true) {
    const std::size_t open = find_tag(line);
    append_words(decoded(line.substr(0, open)), out.words);
    if (open == std::string_view::npos) return out;
    line.remove_prefix(open + 1);
    const std::size_t close = line.find('>');
    if (close == std::string_view::npos)
      throw std::invalid_argument("the tag " + quoted("<" + std::string(line)) + " is not closed by '>'");
    const Tag tag = read_tag(line.substr(0, close));
    line.remove_prefix(close + 1);
    const std::string end_tag = "</" + std::string(tag.name) + ">";
    const std::size_t end = find_tag(line);
    if (end == std::string_view::npos || !line.substr(end).starts_with(end_tag))
      throw std::invalid_argument("<" + std::string(tag.name) + "> is not closed; expected " + quoted(end_tag));
    const auto begin = static_cast<std::uint32_t>(out.words.size());
    append_words(decoded(line.substr(0, end)), out.words);
    if (out.words.size() == begin) throw std::invalid_argument("<" + std::string(tag.name) + "> has no words in it");
    Mark mark{{begin, static_cast<std::uint32_t>(out.words.size())}, tag.translations};
    if (tag.kept) {
      mark.translations.emplace_back();
      for (std::size_t i = begin; i < out.words.size(); ++i)
        mark.translations[0].append(i == begin ? "" : " ").append(out.words[i]);
    }
    out.marks.push_back(std::move(mark));
    line.remove_prefix(end + end_tag.size());
  }
}

}  // namespace treeglot
