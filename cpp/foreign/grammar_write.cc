#include "foreign/grammar_write.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "base/numbers.h"
#include "decode/rule_cache.h"
#include "syntax/brackets.h"

namespace treeglot {

namespace {

// The shortest of some decimals that a float comes back from.
void append_float(float value, std::string& out) {
  char buffer[32];
  for (int digits = 6; digits <= 9; ++digits) {
    std::snprintf(buffer, sizeof buffer, "%.*g", digits, static_cast<double>(value));
    if (parse_float(buffer) == value) break;
  }
  out += buffer;
}

bool has_blank(std::string_view text) { return text.find_first_of(" \t\n") != std::string_view::npos; }

}  // namespace

GrammarWriter::GrammarWriter(const RuleTable& table, GrammarStyle style) : table_(table), style_(std::move(style)) {
  if (style_.names.size() != table.feature_names().size())
    throw std::invalid_argument(std::to_string(style_.names.size()) + " names of features; the table has " +
                                std::to_string(table.feature_names().size()));
}

void GrammarWriter::append(RuleId id, std::string& out) {
  const Rule rule = table_.rule(id);
  variables_.clear();
  links_.clear();
  for (const RuleLink link : rule.alignment) links_.emplace_back(link.source, link.target);
  for (std::size_t s = 0; s < rule.source.size(); ++s)
    if (is_nonterminal(rule.source[s])) variables_.emplace_back(s, label_of(rule.source[s]));
  if (travatar()) {
    append_fragment(rule, out);
  } else {
    append_source(rule, out);
  }
  out += " ||| ";
  append_target(rule, out);
  out += " |||";
  append_features(rule, out);
  if (!moses()) append_sparse(rule, out);
  if (!travatar()) append_links(rule, out);
  if (moses()) {
    out += " ||| |||";
    append_sparse(rule, out);
    out += " |||";
  }
  out += '\n';
}

void GrammarWriter::append_source(const Rule& rule, std::string& out) {
  if (!moses()) {
    out += '[';
    append_label(rule.lhs, out);
    out += "] ||| ";
  }
  std::size_t variable = 0;
  for (std::size_t s = 0; s < rule.source.size(); ++s) {
    if (s > 0) out += ' ';
    if (is_nonterminal(rule.source[s])) {
      append_variable(variable++, out);
    } else {
      append_word(table_.source_words().text(rule.source[s]), out);
    }
  }
  if (moses()) {
    out += " [";
    append_label(rule.lhs, out);
    out += ']';
  }
}

// NP ( DT ( "das" ) x0:NN )
void GrammarWriter::append_fragment(const Rule& rule, std::string& out) {
  std::size_t variable = 0;
  const bool flat = rule.source.empty() || is_nonterminal(rule.source[0]) ||
                    !table_.source_words().text(rule.source[0]).starts_with(' ');
  if (flat) out.append(table_.labels().text(rule.lhs)).append(" (");
  for (const Symbol& symbol : rule.source) {
    if (&symbol != rule.source.data() || flat) out += ' ';
    if (is_nonterminal(symbol)) {
      out.append("x").append(std::to_string(variable++)).append(":");
      append_label(label_of(symbol), out);
      continue;
    }
    const std::string_view word = table_.source_words().text(symbol);
    if (word == kClosingWord) {
      out += ')';
    } else if (word.starts_with(' ')) {
      out.append(word.substr(1, word.size() - 2)).append(" (");
    } else {
      std::string escaped;
      escape_brackets(word, escaped);
      append_quoted(escaped, out);
    }
  }
  if (flat) out += " )";
}

void GrammarWriter::append_target(const Rule& rule, std::string& out) {
  for (std::size_t t = 0; t < rule.target.size(); ++t) {
    if (t > 0) out += ' ';
    if (rule.target[t] < 0) {
      const auto variable = static_cast<std::size_t>(-1 - rule.target[t]);
      if (travatar()) {
        out.append("x").append(std::to_string(variable));
      } else {
        append_variable(variable, out);
      }
      if (moses()) links_.emplace_back(variables_[variable].first, t);
      continue;
    }
    const std::string_view word = table_.target_words().text(static_cast<Symbol>(rule.target[t]));
    travatar() ? append_quoted(word, out) : append_word(word, out);
  }
  if (moses()) {
    out += " [";
    append_label(rule.lhs, out);
    out += ']';
  }
}

// Values that every rule has.
void GrammarWriter::append_features(const Rule& rule, std::string& out) const {
  for (std::size_t f = 0; f < rule.features.size(); ++f) {
    if (!moses()) {
      append_value(style_.names[f], rule.features[f], out);
    } else if (style_.names[f].empty()) {
      out += ' ';
      append_float(static_cast<float>(std::exp(double{rule.features[f]})), out);
    }
  }
  if (!style_.rule_penalty.empty()) {
    moses() ? void(out.append(" 2.7182818")) : append_value(style_.rule_penalty, 1, out);
  }
  if (!style_.word_penalty.empty()) {
    const auto words = std::ranges::count_if(rule.target, [](std::int32_t symbol) { return symbol >= 0; });
    append_value(style_.word_penalty, static_cast<float>(words), out);
  }
}

void GrammarWriter::append_sparse(const Rule& rule, std::string& out) const {
  for (std::size_t f = 0; moses() && f < rule.features.size(); ++f)
    if (!style_.names[f].empty() && rule.features[f] != 0) append_value(style_.names[f], rule.features[f], out);
  for (const SparseFeature& sparse : rule.sparse) append_value(style_.names[sparse.feature], sparse.value, out);
}

void GrammarWriter::append_links(const Rule&, std::string& out) {
  if (moses() || !links_.empty()) out += " |||";
  std::ranges::sort(links_);
  for (const auto& [s, t] : links_) out.append(" ").append(std::to_string(s)).append("-").append(std::to_string(t));
}

// A word as cdec's tools write it.
static std::string mask(std::string_view word) {
  std::string out;
  for (const char c : word) {
    const char* const name = c == '[' ? "-lsb-" : c == ']' ? "-rsb-" : c == '|' ? "-pipe-" : nullptr;
    name != nullptr ? void(out.append(name)) : out.push_back(c);
  }
  return out;
}

void GrammarWriter::append_word(std::string_view word, std::string& out) const {
  std::string masked;
  if (style_.masked && word.find_first_of("[]|") != word.npos) word = masked = mask(word);
  if (moses() && word.find('|') != word.npos) {  // which separates factors
    for (const char c : word) c == '|' ? void(masked.append("&#124;")) : masked.push_back(c);
    word = masked;
  }
  if (word == "|||" || is_bracketed(word) || word.empty() || has_blank(word))
    throw std::invalid_argument("the word " + quoted(word) + " would be read as something else in this format");
  out += word;
}

void GrammarWriter::append_quoted(std::string_view word, std::string& out) const {
  if (word.empty() || has_blank(word))
    throw std::invalid_argument("the word " + quoted(word) + " would be read as something else in this format");
  out += '"';
  for (const char c : word) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

void GrammarWriter::append_label(Symbol symbol, std::string& out) const {
  const std::string_view label = table_.labels().text(symbol);
  if ((!travatar() && !is_label(label, style_.format)) || has_blank(label))
    throw std::invalid_argument("the label " + quoted(label) + " cannot be written in this format");
  out += label;
}

void GrammarWriter::append_variable(std::size_t variable, std::string& out) const {
  const Symbol label = variables_[variable].second;
  out += '[';
  append_label(label, out);
  if (moses()) {
    out += "][";
    append_label(label, out);
  } else {
    out.append(",").append(std::to_string(variable + 1));
  }
  out += ']';
}

void GrammarWriter::append_value(std::string_view name, float value, std::string& out) const {
  if (name.empty() || name.find_first_of(" \t\n=;") != name.npos)
    throw std::invalid_argument("the feature " + quoted(name) + " cannot be written in this format");
  out.append(" ").append(name).append(moses() ? " " : "=");
  append_float(value, out);
}

namespace {

using Nodes = std::vector<RuleTable::Node>;

// Marks the trie's nodes that lead along symbols of one sentence, and along nonterminals.
void mark(const RuleTable& table, std::span<const std::string> sentence, std::vector<bool>& marked) {
  std::vector<Symbol> symbols;
  for (const std::string& word : sentence)
    if (const Symbol symbol = table.source_words().find(word); symbol != Symbols::kNone) symbols.push_back(symbol);
  std::ranges::sort(symbols);
  symbols.erase(std::unique(symbols.begin(), symbols.end()), symbols.end());
  Nodes open = {table.root()};
  while (!open.empty()) {
    const RuleTable::Node node = open.back();
    open.pop_back();
    marked[node] = true;
    if (!table.has_children(node)) continue;
    for (const Symbol symbol : symbols)
      if (const auto child = table.child(node, symbol); child != RuleTable::kNoNode) open.push_back(child);
    for (const RuleTable::Node child : table.variable_children(node)) open.push_back(child);
  }
}

}  // namespace

std::vector<RuleId> select_rules(const FeatureSet& features, std::span<const std::pair<std::string, float>> weights,
                                 const RuleSelection& selection) {
  const RuleTable& table = features.table();
  std::vector<float> values(features.space().names().size(), 0.0f);
  for (const auto& [name, weight] : weights)
    if (const Symbol id = features.space().names().find(name); id != Symbols::kNone) values[id] = weight;
  std::vector<bool> marked(table.nodes(), !selection.filtered);
  for (const auto& sentence : selection.sentences) mark(table, sentence, marked);
  const Scorer scorer(features.make(), std::move(values));
  RuleCache cache(table, features.space(), {}, scorer, selection.per_source);
  std::vector<RuleId> out;
  for (RuleTable::Node node = 0; node < table.nodes(); ++node) {
    if (!marked[node] || table.is_hidden(node) || table.rules_of(node).empty()) continue;
    for (const RuleCache::Group& group : cache.at(node))
      for (const Alternative& alternative : group.alternatives) out.push_back(alternative.rule);
    cache.trim();
  }
  std::ranges::sort(out);
  return out;
}

}  // namespace treeglot
