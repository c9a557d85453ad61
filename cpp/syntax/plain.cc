#include "syntax/plain.h"

#include <stdexcept>

#include "base/words.h"

namespace treeglot {

Sentence split_tokens(std::string_view line) {
  if (const std::size_t tab = line.find('\t'); tab != std::string_view::npos)
    throw std::invalid_argument("a tab at byte " + std::to_string(tab + 1) + "; expected tokens separated by blanks");
  Sentence tokens;
  if (!line.empty()) tokens.reserve(expected_words(line));
  for_each_word(line, " ", [&](std::string_view token) { tokens.emplace_back(token); });
  return tokens;
}

void PlainReader::read_line(std::string_view line) {
  give_parsed([&] { return split_tokens(line); });
}

std::string write_plain(const Sentence& sentence) {
  std::string out;
  for (const std::string& token : sentence) {
    const auto refuse = [&](const std::string& why) {
      throw std::invalid_argument("the token " + quoted(token) + " cannot be written as plain text: it " + why);
    };
    if (token.empty()) refuse("is empty");
    if (const std::size_t bad = token.find_first_of(std::string_view(" \t\n\r\0", 5)); bad != std::string::npos)
      refuse("contains " + quoted(std::string_view(token).substr(bad, 1)));
    if (!out.empty()) out += ' ';
    out += token;
  }
  if (out.starts_with("\xef\xbb\xbf"))
    throw std::invalid_argument("the token " + quoted(sentence[0]) +
                                " cannot be written as plain text: it begins with a byte order mark");
  return out;
}

}  // namespace treeglot
