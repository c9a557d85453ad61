#include "rules/render.h"

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

}  // namespace

std::string escaped(std::string_view word) {
  const bool variable = word.size() > 1 && word.front() == '[' && word.back() == ']';
  return (variable || word.starts_with('\\') ? "\\" : "") + std::string(word);
}

Renderer::Renderer(const Strings& source_words, const Strings& target_words, Strings labels)
    : source_words_(escape_all(source_words)), target_words_(escape_all(target_words)), labels_(std::move(labels)) {
  if (labels_.empty()) throw std::invalid_argument("a rule table has at least the label X");
}

std::string_view Renderer::label(std::uint32_t number) const {
  if (number >= labels_.size()) throw std::invalid_argument("a rule's code has a label that is not listed");
  return labels_[number];
}

void Renderer::append_symbols(std::string& out, std::string_view& code, const Strings& words) const {
  while (!code.empty()) {
    const std::uint32_t number = code::take(code);
    if (number == code::kStructure) return;
    if (!out.empty()) out += ' ';
    if (number >= code::kFirstWord) {
      if (number - code::kFirstWord >= words.size())
        throw std::invalid_argument("a rule's code has a word that is not listed");
      out += words[number - code::kFirstWord];
    } else if (number <= code::kVariable) {
      const std::uint32_t index = number == code::kVariable ? code::take(code) : number;
      const std::uint32_t l = number == code::kVariable ? code::take(code) : 0;
      out += '[';
      out += label(l);
      out += ',';
      append_number(out, index + 1);
      out += ']';
    } else {
      throw std::invalid_argument("a rule's code has a number without a meaning");
    }
  }
}

Renderer::Source Renderer::source(const Codes& codes) const {
  Source out;
  std::string text, lhs;
  append_rows(codes, [&](std::string_view code, bool again) {
    if (!again) {
      lhs = labels_[0];
      std::string_view rest = code;
      if (!rest.empty() && code::take(rest) == code::kLeftHandSide) {
        lhs = label(code::take(rest));
      } else {
        rest = code;
      }
      text.clear();
      append_symbols(text, rest, source_words_);
    }
    out.lhs.append(lhs);
    out.symbols.append(text);
  });
  return out;
}

Renderer::Target Renderer::target(const Codes& codes) const {
  Target out;
  std::string text, structure;
  append_rows(codes, [&](std::string_view code, bool again) {
    if (!again) {
      text.clear();
      structure.clear();
      append_symbols(text, code, target_words_);
      while (!code.empty()) {
        if (!structure.empty()) structure += ' ';
        append_number(structure, code::take(code));
      }
    }
    out.symbols.append(text);
    out.structure.append(structure);
  });
  return out;
}

BinaryColumn Renderer::labels(const Codes& codes) const {
  BinaryColumn out;
  std::string text;
  append_rows(codes, [&](std::string_view code, bool again) {
    if (!again) {
      text.clear();
      while (!code.empty()) {
        if (!text.empty()) text += ' ';
        text += label(code::take(code));
      }
    }
    out.append(text);
  });
  return out;
}

BinaryColumn Renderer::alignment(const Codes& codes) {
  BinaryColumn out;
  std::string text;
  append_rows(codes, [&](std::string_view code, bool again) {
    if (!again) {
      text.clear();
      while (!code.empty()) {
        if (!text.empty()) text += ' ';
        append_number(text, code::take(code));
        text += '-';
        append_number(text, code::take(code));
      }
    }
    out.append(text);
  });
  return out;
}

}  // namespace treeglot
