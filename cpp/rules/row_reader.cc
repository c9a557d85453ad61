#include "rules/row_reader.h"

#include <stdexcept>

#include "base/error.h"
#include "rules/code.h"

namespace treeglot {
namespace {

// Calls add(number) for the numbers of a code.
template <class Add>
void take_all(std::string_view code, const Add& add) {
  while (!code.empty()) add(code::take(code));
}

TextSymbol::Kind kind_of(code::Symbol::Kind kind) {
  switch (kind) {
    case code::Symbol::Kind::variable: return TextSymbol::Kind::variable;
    case code::Symbol::Kind::open: return TextSymbol::Kind::open;
    case code::Symbol::Kind::close: return TextSymbol::Kind::close;
    case code::Symbol::Kind::word: break;
  }
  return TextSymbol::Kind::word;
}

}  // namespace

void RowReader::read_features(std::size_t row) {
  for (std::size_t f = 0; f < features.size(); ++f) features[f] = rows_.dense[f][row];
  for (std::size_t i = 0; i < indicators_.size(); ++i) {
    const auto& [column, values] = rows_.indicators[i];
    if (!differs(values, row)) continue;
    name_.assign(column).append("=").append(values[row]);
    indicators_[i] = {builder_.feature(name_), 1.0f};
  }
  stale_ = false;
  sparse = indicators_;
}

void RowReader::add_link(std::uint32_t source_place, std::uint32_t target_place) {
  if (source_place >= kLongestSide || target_place >= kLongestSide) {
    throw std::invalid_argument("link " + std::to_string(source_place) + "-" + std::to_string(target_place) +
                                " is outside the rule");
  }
  links.push_back({static_cast<std::uint8_t>(source_place), static_cast<std::uint8_t>(target_place)});
}

void TextRowReader::read_sides(std::size_t row) {
  again = same(rows_.source, row);
  if (!again) read_source(rows_.source[row]);
  if (!same(rows_.lhs, row)) lhs = builder_.label(rows_.lhs[row]);
  if (!root_.empty() && root_ != rows_.lhs[row]) {
    throw std::invalid_argument("the left-hand side is " + quoted(rows_.lhs[row]) + ", the fragment's root " +
                                quoted(root_));
  }
  target.clear();
  parse_target(
      rows_.target[row], variables_,
      [&](std::string_view word) { target.push_back(static_cast<std::int32_t>(builder_.target_word(word))); },
      [&](std::uint32_t variable) { target.push_back(-1 - static_cast<std::int32_t>(variable)); });
}

void TextRowReader::read_source(std::string_view text) {
  source.clear();
  variables_.clear();
  root_ = {};
  parse_source(
      text, variables_, [&](std::string_view word) { source.push_back(builder_.source_word(word)); },
      [&](std::string_view l) { source.push_back(nonterminal(builder_.label(l))); },
      [&](std::string_view l) {
        if (source.empty()) root_ = l;
        source.push_back(builder_.source_word(opening_word(l)));
      },
      [&] { source.push_back(builder_.source_word(kClosingWord)); });
}

void TextRowReader::read_notes(std::size_t row) {
  if (differs(rows_.alignment, row)) {
    links.clear();
    parse_links(rows_.alignment[row], [&](std::uint32_t s, std::uint32_t t) { add_link(s, t); });
  }
  if (differs(rows_.labels, row)) {
    labels.clear();
    split(rows_.labels[row], [&](std::string_view l) { labels.push_back(builder_.label(l)); });
  }
  if (differs(rows_.structure, row)) {
    structure.clear();
    split(rows_.structure[row], [&](std::string_view number) {
      structure.push_back(static_cast<std::int32_t>(parse_number(number, "a number of a structure")));
    });
  }
}

// Words and labels get their numbers in the order in which the text of a row would give them: source side, left-hand
// side, target side. So the table has the same bytes.
void CodedRowReader::read_sides(std::size_t row) {
  again = same(rows_.source, row);
  if (!again) read_source(rows_.source[row]);
  read_target(rows_.target[row]);
}

void CodedRowReader::read_source(std::string_view code) {
  source.clear();
  variable_labels_.clear();
  const std::uint32_t left_hand_side = code::take_left_hand_side(code);
  Nesting nesting;
  for (code::Symbol symbol; code::take_symbol(code, symbol);) {
    nesting.add({kind_of(symbol.kind), {}});
    switch (symbol.kind) {
      case code::Symbol::Kind::word: source.push_back(symbols_.source_word(builder_, symbol.number)); break;
      case code::Symbol::Kind::variable:
        if (symbol.number != variable_labels_.size())
          throw std::invalid_argument("a source side's variables are not in order");
        variable_labels_.push_back(symbol.label);
        source.push_back(nonterminal(symbols_.label(builder_, symbol.label)));
        break;
      case code::Symbol::Kind::open: source.push_back(symbols_.opening(builder_, symbol.label)); break;
      case code::Symbol::Kind::close: source.push_back(builder_.source_word(kClosingWord)); break;
    }
  }
  nesting.finish();
  if (!code.empty()) throw std::invalid_argument("a source side has a structure");
  lhs = symbols_.label(builder_, left_hand_side);
}

void CodedRowReader::read_target(std::string_view code) {
  target.clear();
  structure.clear();
  for (code::Symbol symbol; code::take_symbol(code, symbol);) {
    if (symbol.kind == code::Symbol::Kind::word) {
      target.push_back(static_cast<std::int32_t>(symbols_.target_word(builder_, symbol.number)));
      continue;
    }
    const bool known = symbol.kind == code::Symbol::Kind::variable && symbol.number < variable_labels_.size();
    if (!known || (symbol.label != 0 && symbol.label != variable_labels_[symbol.number]))
      throw std::invalid_argument("the target side has a variable that the source side lacks, or a bracket");
    target.push_back(-1 - static_cast<std::int32_t>(symbol.number));
  }
  take_all(code, [&](std::uint32_t number) { structure.push_back(static_cast<std::int32_t>(number)); });
}

void CodedRowReader::read_notes(std::size_t row) {
  if (differs(rows_.alignment, row)) {
    links.clear();
    std::string_view code = rows_.alignment[row];
    while (!code.empty()) {
      const std::uint32_t source_place = code::take(code);
      add_link(source_place, code::take(code));
    }
  }
  if (differs(rows_.labels, row)) {
    labels.clear();
    take_all(rows_.labels[row], [&](std::uint32_t l) { labels.push_back(symbols_.label(builder_, l)); });
  }
}

CodedSymbols::CodedSymbols(Strings source_words, Strings target_words, Strings labels)
    : source_{std::move(source_words), {}}, target_{std::move(target_words), {}}, labels_{std::move(labels), {}} {
  if (labels_.texts.empty()) throw std::invalid_argument("a rule table has at least the label X");
  for (Numbers* numbers : {&source_, &target_, &labels_}) numbers->symbols.assign(numbers->texts.size(), kUnseen);
  openings_.assign(labels_.texts.size(), kUnseen);
}

Symbol CodedSymbols::source_word(RuleTableBuilder& builder, std::uint32_t number) {
  return source_.find(number, [&](std::string_view text) { return builder.source_word(text); });
}

Symbol CodedSymbols::target_word(RuleTableBuilder& builder, std::uint32_t number) {
  return target_.find(number, [&](std::string_view text) { return builder.target_word(text); });
}

Symbol CodedSymbols::label(RuleTableBuilder& builder, std::uint32_t number) {
  return labels_.find(number, [&](std::string_view text) { return builder.label(text); });
}

Symbol CodedSymbols::opening(RuleTableBuilder& builder, std::uint32_t label) {
  if (label >= openings_.size()) throw std::invalid_argument("a rule's code has a label that is not listed");
  if (openings_[label] == kUnseen) openings_[label] = builder.source_word(opening_word(labels_.texts[label]));
  return openings_[label];
}

}  // namespace treeglot
