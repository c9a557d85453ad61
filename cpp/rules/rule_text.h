// Sides of rules as text, as render.h writes them: words and variables [LABEL,INDEX], separated by one blank.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace treeglot {

// Calls visit(part) for the parts of `text` between blanks; nothing for empty text. Refuses an empty part.
template <class Visit>
void split(std::string_view text, const Visit& visit);

struct TextSymbol {
  std::string_view text;    // the word, or the variable's label
  std::uint32_t index = 0;  // of a variable, from 1; 0 for a word
};
TextSymbol parse_symbol(std::string_view token);

std::uint32_t parse_number(std::string_view digits, const char* what);

// The variables of a source side in the order in which it has them: that is how they are numbered from then on.
class Variables {
 public:
  void clear() { seen_.clear(); }
  void add(TextSymbol variable);                  // refuses an index that was added before
  std::uint32_t place(TextSymbol variable) const;  // its number from 0; refuses one that was not added

 private:
  std::vector<TextSymbol> seen_;
};

template <class Word, class Label>
void parse_source(std::string_view side, Variables& variables, const Word& word, const Label& label) {
  split(side, [&](std::string_view token) {
    const TextSymbol symbol = parse_symbol(token);
    if (symbol.index == 0) return word(symbol.text);
    variables.add(symbol);
    label(symbol.text);
  });
}

template <class Word, class Variable>
void parse_target(std::string_view side, const Variables& variables, const Word& word, const Variable& variable) {
  split(side, [&](std::string_view token) {
    const TextSymbol symbol = parse_symbol(token);
    if (symbol.index == 0) return word(symbol.text);
    variable(variables.place(symbol));
  });
}

// Calls visit(source, target) for links written as 0-0 1-2.
template <class Visit>
void parse_links(std::string_view text, const Visit& visit);

[[noreturn]] void refuse_part(std::string_view text, const char* wanted);

template <class Visit>
void split(std::string_view text, const Visit& visit) {
  while (!text.empty()) {
    const std::size_t end = text.find(' ');
    const std::string_view part = text.substr(0, end);
    if (part.empty() || end + 1 == text.size()) refuse_part(text, "symbols separated by one blank");
    visit(part);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

template <class Visit>
void parse_links(std::string_view text, const Visit& visit) {
  split(text, [&](std::string_view link) {
    const std::size_t dash = link.find('-');
    if (dash == std::string_view::npos) refuse_part(link, "a link SOURCE-TARGET such as 3-0");
    visit(parse_number(link.substr(0, dash), "a link SOURCE-TARGET such as 3-0"),
          parse_number(link.substr(dash + 1), "a link SOURCE-TARGET such as 3-0"));
  });
}

}  // namespace treeglot
