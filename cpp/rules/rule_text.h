// Sides of rules as text, as render.h writes them: words and variables [LABEL,INDEX], separated by one blank. Source
// sides also have brackets LABEL( and ) of tree fragments.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace treeglot {

// Calls visit(part) for the parts of `text` between blanks; nothing for empty text. Refuses an empty part.
template <class Visit>
void split(std::string_view text, const Visit& visit);

struct TextSymbol {
  enum class Kind { word, variable, open, close };
  Kind kind = Kind::word;
  std::string_view text;    // the word, or the label
  std::uint32_t index = 0;  // of a variable, from 1
};
TextSymbol parse_symbol(std::string_view token);

// Brackets are source words in a compiled table. No word has a blank in it: these have.
std::string opening_word(std::string_view label);
inline constexpr std::string_view kClosingWord = " )";
inline bool is_bracket(std::string_view word) { return word.find(' ') != std::string_view::npos; }

std::uint32_t parse_number(std::string_view digits, const char* what);

// The variables of a source side in the order in which it has them: that is how they are numbered from then on.
class Variables {
 public:
  void clear() { seen_.clear(); }
  void add(TextSymbol variable);                   // refuses an index that was added before
  std::uint32_t place(TextSymbol variable) const;  // its number from 0; refuses one that was not added

 private:
  std::vector<TextSymbol> seen_;
};

// How deep in a fragment a source side is. Every node is closed after something came in it. Nothing follows the root of
// a fragment.
class Nesting {
 public:
  void add(const TextSymbol& symbol);  // refuses what does not fit
  void finish() const;

 private:
  std::uint32_t open_ = 0, symbols_ = 0;
  bool just_opened_ = false, fragment_ = false;
};

// Calls word(text), variable(label), open(label) and close() for the symbols of a source side.
template <class Word, class Variable, class Open, class Close>
void parse_source(std::string_view side, Variables& variables, const Word& word, const Variable& variable,
                  const Open& open, const Close& close) {
  Nesting nesting;
  split(side, [&](std::string_view token) {
    const TextSymbol symbol = parse_symbol(token);
    nesting.add(symbol);
    switch (symbol.kind) {
      case TextSymbol::Kind::word: return word(symbol.text);
      case TextSymbol::Kind::variable: variables.add(symbol); return variable(symbol.text);
      case TextSymbol::Kind::open: return open(symbol.text);
      case TextSymbol::Kind::close: return close();
    }
  });
  nesting.finish();
}

// Target sides have no brackets: what looks like one is a word.
template <class Word, class Variable>
void parse_target(std::string_view side, const Variables& variables, const Word& word, const Variable& variable) {
  split(side, [&](std::string_view token) {
    const TextSymbol symbol = parse_symbol(token);
    if (symbol.kind == TextSymbol::Kind::variable) return variable(variables.place(symbol));
    word(symbol.kind == TextSymbol::Kind::word ? symbol.text : token);
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
