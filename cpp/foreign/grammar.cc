#include "foreign/grammar.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "base/numbers.h"
#include "base/words.h"

namespace treeglot {
namespace {

constexpr std::string_view kSeparator = "|||";
constexpr double kLowestScore = -100;  // Moses' floor of a logarithm

[[noreturn]] void refuse(const std::string& problem) { throw std::invalid_argument(problem); }

// `what()` says what the number is, for a message.
template <class What>
double parse_value(std::string_view text, const What& what) {
  const std::optional<double> value = parse_loose_double(text);
  if (!value) refuse(what() + " is " + quoted(text) + "; expected a finite number");
  return *value;
}

}  // namespace

bool is_bracketed(std::string_view token) { return token.size() > 2 && token.front() == '[' && token.back() == ']'; }

// Moses has no numbers after a comma: its labels may have one.
bool is_label(std::string_view text, GrammarFormat format) {
  return !text.empty() && std::ranges::none_of(text, [&](char c) {
    return c == '[' || c == ']' || (c == ',' && format != GrammarFormat::moses);
  });
}

// Blanks and tabs separate tokens, tokens ||| separate fields.
void GrammarReader::split_fields(std::string_view line) {
  fields_used_ = 0;
  const auto next_field = [&] {
    if (fields_used_ == fields_.size()) fields_.emplace_back();
    fields_[fields_used_++].clear();
  };
  next_field();
  for_each_word(line, " \t", [&](std::string_view token) {
    if (token == kSeparator) {
      next_field();
    } else {
      fields_[fields_used_ - 1].push_back(token);
    }
  });
}

std::string_view GrammarReader::parse_label(std::string_view token) const {
  if (!is_bracketed(token) || !is_label(token.substr(1, token.size() - 2), format_))
    refuse("the left-hand side is " + quoted(token) + "; expected a label in brackets such as [X]");
  return token.substr(1, token.size() - 2);
}

GrammarReader::Token GrammarReader::parse_source(std::string_view token) const {
  if (!is_bracketed(token)) return {token, false, 0};
  const std::string_view inside = token.substr(1, token.size() - 2);
  if (format_ == GrammarFormat::moses) {
    const std::size_t middle = inside.find("][");
    if (middle == std::string_view::npos) return {token, false, 0};
    // The target label is the one that hypotheses have.
    return {inside.substr(middle + 2), true, 0};
  }
  const std::size_t comma = inside.find(',');
  if (comma == std::string_view::npos && format_ == GrammarFormat::cdec && is_label(inside, format_))
    return {inside, true, 0};
  const auto index = comma == std::string_view::npos ? std::nullopt : parse_count(inside.substr(comma + 1));
  if (index && *index > 0 && is_label(inside.substr(0, comma), format_)) return {inside.substr(0, comma), true, *index};
  if (format_ == GrammarFormat::joshua)  // a nonterminal, for Joshua: it has no words in brackets
    refuse("found " + quoted(token) + "; expected a word, or a variable such as [X,1]");
  return {token, false, 0};
}

GrammarReader::Token GrammarReader::parse_target(std::string_view token) const {
  if (format_ == GrammarFormat::cdec && is_bracketed(token)) {
    const std::string_view inside = token.substr(1, token.size() - 2);
    if (const auto index = parse_count(inside); index && *index > 0) return {{}, true, *index};
    if (inside.find(',') == std::string_view::npos) return {token, false, 0};
  }
  return parse_source(token);
}

void GrammarReader::add_feature(std::string_view name, double value) {
  const std::uint32_t feature = builder_.feature(name);
  if (feature >= seen_.size()) seen_.resize(feature + 1, 0);
  if (std::exchange(seen_[feature], line_number()) == line_number())
    refuse("the feature " + quoted(name) + " is given twice");
  features_.push_back({feature, static_cast<float>(value)});
}

// cdec and Joshua: values with and without names.
void GrammarReader::read_features(const std::vector<std::string_view>& tokens) {
  std::size_t read = 0, unnamed = 0;
  const auto one = [&](std::string_view token) {
    const std::size_t equals = token.find('=');
    if (equals == std::string_view::npos) {
      // cdec counts all features of the rule so far, Joshua those without names.
      const std::size_t number = format_ == GrammarFormat::cdec ? read : unnamed;
      name_.assign(prefix_).append("_").append(std::to_string(number));
      const double value = parse_value(token, [&] { return "feature " + std::to_string(read + 1); });
      add_feature(name_, format_ == GrammarFormat::joshua ? -value : value);
      ++unnamed;
    } else {
      if (equals == 0) refuse("found " + quoted(token) + "; expected NAME=VALUE");
      const std::string_view name = token.substr(0, equals);
      add_feature(name, parse_value(token.substr(equals + 1), [&] { return "the feature " + quoted(name); }));
    }
    ++read;
  };
  for (std::string_view token : tokens) {
    if (format_ != GrammarFormat::cdec) {
      one(token);
      continue;
    }
    while (!token.empty()) {  // cdec takes a semicolon for a blank
      const std::string_view part = token.substr(0, token.find(';'));
      if (!part.empty()) one(part);
      token.remove_prefix(std::min(token.size(), part.size() + 1));
    }
  }
}

void GrammarReader::read_scores(const std::vector<std::string_view>& tokens) {
  if (builder_.rules() == 0 || scores_ == 0) scores_ = tokens.size();
  if (tokens.size() != scores_) {
    refuse(std::to_string(tokens.size()) + " scores; expected " + std::to_string(scores_) + " as in the first rule");
  }
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const double score = parse_value(tokens[i], [&] { return "score " + std::to_string(i + 1); });
    if (score < 0) refuse("score " + std::to_string(i + 1) + " is " + quoted(tokens[i]) + "; expected a probability");
    name_ = prefix_;
    if (tokens.size() > 1) name_.append("_").append(std::to_string(i));
    add_feature(name_, score > 0 ? std::max(std::log(score), kLowestScore) : kLowestScore);
  }
}

void GrammarReader::read_sparse(const std::vector<std::string_view>& tokens) {
  if (tokens.size() % 2 != 0) refuse("a sparse feature without a value; expected NAME VALUE");
  for (std::size_t i = 0; i < tokens.size(); i += 2) {
    name_.assign(prefix_).append("_").append(tokens[i]);
    add_feature(name_, parse_value(tokens[i + 1], [&] { return "the feature " + quoted(tokens[i]); }));
  }
}

// Numbers the variables from left to right on the source side and hands the rule over.
void GrammarReader::add_rule(std::string_view lhs) {
  add_source();
  add_target();
  add_links();
  builder_.add(builder_.label(lhs), source_symbols_, target_symbols_, {},
               {.sparse = features_, .alignment = word_links_});
}

std::string GrammarReader::variable_name(std::uint32_t index) const {
  return format_ == GrammarFormat::travatar ? "x" + std::to_string(index - 1) : std::to_string(index);
}

void GrammarReader::add_source() {
  source_symbols_.clear();
  std::uint32_t variables = 0;
  for (Token& symbol : source_) {
    if (symbol.bracket) {
      source_symbols_.push_back(
          builder_.source_word(symbol.text.empty() ? kClosingWord : name_.assign(" ").append(symbol.text).append("(")));
      continue;
    }
    if (!symbol.variable) {
      source_symbols_.push_back(builder_.source_word(symbol.text));
      continue;
    }
    if (symbol.index == 0) symbol.index = variables + 1;
    if (symbol.index != ++variables) {
      // What a number means that is out of turn is not the same for all: cdec refuses it, Joshua takes the place.
      refuse("the source side has variable " + variable_name(symbol.index) +
             (symbol.index < variables ? " twice" : " where " + variable_name(variables) + " is expected"));
    }
    source_symbols_.push_back(nonterminal(builder_.label(symbol.text)));
  }
}

void GrammarReader::add_target() {
  target_symbols_.clear();
  for (const Token& symbol : target_) {
    if (!symbol.variable) {
      target_symbols_.push_back(static_cast<std::int32_t>(builder_.target_word(symbol.text)));
      continue;
    }
    std::int32_t place = -1;
    const Token* found = nullptr;
    for (const Token& s : source_) {
      if (!s.variable) continue;
      ++place;
      if (s.index == symbol.index) {
        found = &s;
        break;
      }
    }
    if (found == nullptr)
      refuse("the target side uses variable " + variable_name(symbol.index) + ", which the source side lacks");
    if (!symbol.text.empty() && symbol.text != found->text) {
      refuse("variable " + std::to_string(symbol.index) + " is " + quoted(symbol.text) + " on the target side and " +
             quoted(found->text) + " on the source side");
    }
    target_symbols_.push_back(-1 - place);
  }
}

void GrammarReader::add_links() {
  word_links_.clear();
  for (const auto& [s, t] : links_) {
    if (s >= source_.size() || t >= target_.size()) {
      refuse("link " + std::to_string(s) + "-" + std::to_string(t) + " is outside a rule of " +
             std::to_string(source_.size()) + " source and " + std::to_string(target_.size()) + " target symbols");
    }
    if (source_[s].variable != target_[t].variable)
      refuse("link " + std::to_string(s) + "-" + std::to_string(t) + " joins a word and a variable");
    if (!source_[s].variable && s < 256 && t < 256)
      word_links_.push_back({static_cast<std::uint8_t>(s), static_cast<std::uint8_t>(t)});
  }
}

void GrammarReader::read_rule() {
  if (fields_used_ < 3)
    refuse(std::to_string(fields_used_) + " fields; expected [LHS] ||| SOURCE ||| TARGET ||| FEATURES");
  if (fields_[0].size() != 1) {
    std::string found;
    for (const std::string_view token : fields_[0]) found += (found.empty() ? "" : " ") + std::string(token);
    refuse("the left-hand side is " + quoted(found) + "; expected a label in brackets such as [X]");
  }
  const std::string_view lhs = parse_label(fields_[0][0]);
  for (const std::string_view token : fields_[1]) source_.push_back(parse_source(token));
  for (const std::string_view token : fields_[2]) target_.push_back(parse_target(token));
  if (fields_used_ > 3) read_features(fields_[3]);
  if (fields_used_ > 4) {
    for (const std::string_view token : fields_[4])
      parse_links(token, [&](std::uint32_t s, std::uint32_t t) { links_.emplace_back(s, t); });
  }
  add_rule(lhs);
}

void GrammarReader::read_moses_rule() {
  if (fields_used_ < 3)
    refuse(std::to_string(fields_used_) + " fields; expected SOURCE ||| TARGET ||| SCORES ||| LINKS");
  if (fields_[0].empty() || fields_[1].empty()) refuse("a side is empty; expected at least its label such as [X]");
  parse_label(fields_[0].back());
  const std::string_view lhs = parse_label(fields_[1].back());
  for (const std::string_view token : std::span(fields_[0]).first(fields_[0].size() - 1))
    source_.push_back(parse_source(token));
  for (const std::string_view token : std::span(fields_[1]).first(fields_[1].size() - 1))
    target_.push_back(parse_target(token));
  read_scores(fields_[2]);
  if (fields_used_ > 3) {
    for (const std::string_view token : fields_[3])
      parse_links(token, [&](std::uint32_t s, std::uint32_t t) { links_.emplace_back(s, t); });
  }
  number_linked_variables();
  if (fields_used_ > 5) read_sparse(fields_[5]);
  add_rule(lhs);
}

// Links join the variables; their numbers are their places on the source side.
void GrammarReader::number_linked_variables() {
  std::uint32_t variables = 0;
  for (std::size_t s = 0; s < source_.size(); ++s) {
    if (!source_[s].variable) continue;
    source_[s].index = ++variables;
    std::size_t found = 0;
    for (const auto& [from, to] : links_) {
      if (from != s || to >= target_.size() || !target_[to].variable) continue;
      if (target_[to].index != 0) refuse("two links lead to the target variable at position " + std::to_string(to));
      target_[to].index = source_[s].index;
      ++found;
    }
    if (found != 1) {
      refuse("the source variable at position " + std::to_string(s) + " has " + std::to_string(found) +
             " links to target variables; expected one");
    }
  }
  for (std::size_t t = 0; t < target_.size(); ++t) {
    if (target_[t].variable && target_[t].index == 0)
      refuse("the target variable at position " + std::to_string(t) + " has no link");
  }
}

void GrammarReader::read_line(std::string_view line) {
  const Use use(builder_);
  if (line.find_first_not_of(" \t") == std::string_view::npos) return;
  source_.clear();
  target_.clear();
  links_.clear();
  features_.clear();
  try {
    if (format_ == GrammarFormat::cdec && (line.front() == ' ' || line.front() == '\t'))
      refuse("begins with a blank, as rules of a coarse-to-fine grammar do; expected rules of one level");
    split_fields(line);
    if (format_ == GrammarFormat::moses) {
      read_moses_rule();
    } else if (format_ == GrammarFormat::travatar) {
      read_travatar_rule();
    } else {
      const bool tree = format_ == GrammarFormat::cdec && line.starts_with('(');
      if (trees_.value_or(tree) != tree) {
        refuse(tree ? "a rule of trees among rules of strings; expected one such as [X] ||| das ||| the"
                    : "a rule of strings among rules of trees; expected one such as (DT das) ||| the");
      }
      trees_ = tree;
      tree ? read_cdec_tree_rule() : read_rule();
    }
  } catch (const std::invalid_argument& problem) {
    fail(problem.what());
  }
}

}  // namespace treeglot
