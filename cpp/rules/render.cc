#include "rules/render.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <utility>

#include "rules/code.h"

namespace treeglot {
namespace {

void append_number(std::string& out, std::uint32_t number) {
  char digits[10];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

Strings escape_all(const Strings& words) {
  Strings out;
  for (std::size_t i = 0; i < words.size(); ++i) out.append(escaped(words[i]));
  return out;
}

// Rows that follow each other often have the same code: then the text is that of the row before.
template <class Render>
void append_rows(const Codes& codes, const Render& render) {
  for (std::size_t row = 0; row < codes.rows(); ++row) render(codes[row], row > 0 && codes[row] == codes[row - 1]);
}

// Codes that are lists, their items with blanks between them; append_item(text, code) takes one from the code's front.
template <class AppendItem>
BinaryColumn lists(const Codes& codes, const AppendItem& append_item) {
  BinaryColumn out;
  std::string text;
  append_rows(codes, [&](std::string_view code, bool again) {
    if (!again) text.clear();
    while (!again && !code.empty()) {
      if (!text.empty()) text += ' ';
      append_item(text, code);
    }
    out.append(text);
  });
  return out;
}

// The labels of a source side's variables.
void variable_labels(std::string_view source, std::vector<std::uint32_t>& labels) {
  labels.clear();
  code::take_left_hand_side(source);
  for (code::Symbol symbol; code::take_symbol(source, symbol);) {
    if (symbol.kind != code::Symbol::Kind::variable) continue;
    if (symbol.number != labels.size()) throw std::invalid_argument("a source side's variables are not in order");
    labels.push_back(symbol.label);
  }
}

}  // namespace

Codes::Codes(std::span<const std::int32_t> given_offsets, std::span<const char> given_bytes)
    : offsets(given_offsets), bytes(given_bytes) {
  if (offsets.empty()) return;
  const bool inside = offsets.front() >= 0 && static_cast<std::size_t>(offsets.back()) <= bytes.size();
  if (!inside || !std::ranges::is_sorted(offsets))
    throw std::invalid_argument("the offsets of a column decrease or lead outside of its bytes");
}

std::string escaped(std::string_view word) {
  const bool variable = word.size() > 1 && word.front() == '[' && word.back() == ']';
  const bool bracket = word == ")" || (word.size() > 1 && word.back() == '(');
  return (variable || bracket || word.starts_with('\\') ? "\\" : "") + std::string(word);
}

Renderer::Renderer(const Strings& source_words, const Strings& target_words, Strings labels)
    : source_words_(escape_all(source_words)), target_words_(escape_all(target_words)), labels_(std::move(labels)) {
  if (labels_.empty()) throw std::invalid_argument("a rule table has at least the label X");
}

std::string_view Renderer::label(std::uint32_t number) const {
  if (number >= labels_.size()) throw std::invalid_argument("a rule's code has a label that is not listed");
  return labels_[number];
}

void Renderer::append_symbols(std::string& out, std::string_view& code, const Strings& words,
                              std::span<const std::uint32_t> labels) const {
  for (code::Symbol symbol; code::take_symbol(code, symbol);) {
    if (!out.empty()) out += ' ';
    switch (symbol.kind) {
      case code::Symbol::Kind::word:
        if (symbol.number >= words.size()) throw std::invalid_argument("a rule's code has a word that is not listed");
        out += words[symbol.number];
        break;
      case code::Symbol::Kind::variable:
        out += '[';
        out += label(symbol.label == 0 && symbol.number < labels.size() ? labels[symbol.number] : symbol.label);
        out += ',';
        append_number(out, symbol.number + 1);
        out += ']';
        break;
      case code::Symbol::Kind::open:
        out += label(symbol.label);
        out += '(';
        break;
      case code::Symbol::Kind::close: out += ')'; break;
    }
  }
}

Renderer::Source Renderer::source(const Codes& codes) const {
  Source out;
  std::string text, lhs;
  append_rows(codes, [&](std::string_view code, bool again) {
    if (!again) {
      lhs = label(code::take_left_hand_side(code));
      text.clear();
      append_symbols(text, code, source_words_, {});
    }
    out.lhs.append(lhs);
    out.symbols.append(text);
  });
  return out;
}

Renderer::Target Renderer::target(const Codes& sources, const Codes& codes) const {
  if (sources.rows() != codes.rows()) throw std::invalid_argument("there must be as many source sides as target sides");
  Target out;
  std::string text, structure;
  std::vector<std::uint32_t> labels;
  for (std::size_t row = 0; row < codes.rows(); ++row) {
    const bool same_source = row > 0 && sources[row] == sources[row - 1];
    if (!same_source) variable_labels(sources[row], labels);
    if (!same_source || codes[row] != codes[row - 1]) {
      std::string_view code = codes[row];
      text.clear();
      structure.clear();
      append_symbols(text, code, target_words_, labels);
      while (!code.empty()) {
        if (!structure.empty()) structure += ' ';
        append_number(structure, code::take(code));
      }
    }
    out.symbols.append(text);
    out.structure.append(structure);
  }
  return out;
}

BinaryColumn Renderer::labels(const Codes& codes) const {
  return lists(codes, [&](std::string& text, std::string_view& code) { text += label(code::take(code)); });
}

BinaryColumn Renderer::alignment(const Codes& codes) {
  return lists(codes, [](std::string& text, std::string_view& code) {
    append_number(text, code::take(code));
    text += '-';
    append_number(text, code::take(code));
  });
}

}  // namespace treeglot
