#include "rules/rule_text.h"

#include <charconv>
#include <stdexcept>
#include <string>

#include "base/error.h"

namespace treeglot {

void refuse_part(std::string_view text, const char* wanted) {
  throw std::invalid_argument("found " + quoted(text) + "; expected " + wanted);
}

std::uint32_t parse_number(std::string_view digits, const char* wanted) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) refuse_part(digits, wanted);
  return number;
}

TextSymbol parse_symbol(std::string_view token) {
  using Kind = TextSymbol::Kind;
  if (token.starts_with('\\')) return {Kind::word, token.substr(1)};
  if (token == ")") return {Kind::close, token};
  if (token.size() < 2) return {Kind::word, token};
  if (token.back() == '(') return {Kind::open, token.substr(0, token.size() - 1)};
  if (token.front() != '[' || token.back() != ']') return {Kind::word, token};
  constexpr const char* kWanted = "a variable [LABEL,INDEX], or a word with a backslash before it";
  const std::string_view inside = token.substr(1, token.size() - 2);
  const std::size_t comma = inside.rfind(',');
  if (comma == 0 || comma == std::string_view::npos) refuse_part(token, kWanted);
  std::uint32_t index = 0;
  const char* const end = inside.data() + inside.size();
  const auto [parsed, error] = std::from_chars(inside.data() + comma + 1, end, index);
  if (error != std::errc() || parsed != end || index == 0) refuse_part(token, kWanted);
  return {Kind::variable, inside.substr(0, comma), index};
}

std::string opening_word(std::string_view label) { return " " + std::string(label) + "("; }

void Nesting::add(const TextSymbol& symbol) {
  using Kind = TextSymbol::Kind;
  if (fragment_ && open_ == 0)
    throw std::invalid_argument("symbols follow the fragment; expected nothing after its root is closed");
  if (symbol.kind == Kind::close) {
    if (open_ == 0)
      throw std::invalid_argument("a bracket closes no node; expected a backslash before ) where it is a word");
    if (just_opened_) throw std::invalid_argument("a node is closed with nothing in it");
    --open_;
  } else if (symbol.kind == Kind::open) {
    if (symbols_ > 0 && !fragment_) throw std::invalid_argument("a fragment begins after other symbols");
    fragment_ = true;
    ++open_;
  }
  just_opened_ = symbol.kind == Kind::open;
  ++symbols_;
}

void Nesting::finish() const {
  if (open_ > 0) throw std::invalid_argument(std::to_string(open_) + " nodes of the fragment are not closed");
}

void Variables::add(TextSymbol variable) {
  for (const TextSymbol& seen : seen_) {
    if (seen.index == variable.index)
      throw std::invalid_argument("the source side has variable " + std::to_string(variable.index) + " twice");
  }
  seen_.push_back(variable);
}

std::uint32_t Variables::place(TextSymbol variable) const {
  for (std::size_t i = 0; i < seen_.size(); ++i) {
    if (seen_[i].index != variable.index) continue;
    if (seen_[i].text != variable.text) {
      throw std::invalid_argument("variable " + std::to_string(variable.index) + " is " + quoted(variable.text) +
                                  " on the target side and " + quoted(seen_[i].text) + " on the source side");
    }
    return static_cast<std::uint32_t>(i);
  }
  throw std::invalid_argument("the target side uses variable " + std::to_string(variable.index) +
                              ", which the source side lacks");
}

}  // namespace treeglot
