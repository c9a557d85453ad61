// Tree-to-string rules of cdec and Travatar: source sides that are tree fragments.
#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/numbers.h"
#include "foreign/grammar.h"
#include "syntax/brackets.h"
#include "syntax/egret.h"

namespace treeglot {
namespace {

[[noreturn]] void refuse(const std::string& problem) { throw std::invalid_argument(problem); }

bool is_word(std::string_view token) { return token.size() > 2 && token.front() == '"' && token.back() == '"'; }

}  // namespace

void GrammarReader::close_node() {
  if (source_.back().bracket && !source_.back().text.empty())
    refuse("the node " + quoted(source_.back().text) + " has no children");
  source_.push_back({{}, false, 0, true});
}

// Nodes are (LABEL child …), variables [LABEL], all else are words.
std::string_view GrammarReader::read_fragment(std::string_view tree) {
  std::string_view root;
  std::size_t depth = 0;
  bool opened = false;  // the next token is a label
  for (std::size_t at = 0; at < tree.size();) {
    const char c = tree[at];
    if (c == ' ') {
      ++at;
      continue;
    }
    if (!root.empty() && depth == 0) refuse("found " + quoted(tree.substr(at)) + " after the tree; expected |||");
    if (c == '(' || c == ')') {
      if (opened) refuse("a node without a label in " + quoted(tree) + "; expected (LABEL child …)");
      opened = c == '(';
      if (c == ')') {
        close_node();
        --depth;
      }
      ++at;
      continue;
    }
    const std::string_view token = tree.substr(at, tree.find_first_of(" ()", at) - at);
    at += token.size();
    if (opened) {
      source_.push_back({token, false, 0, true});
      if (depth++ == 0) root = token;
      opened = false;
    } else if (token.size() > 2 && token.front() == '[' && token.back() == ']') {
      source_.push_back({token.substr(1, token.size() - 2), true, 0});
    } else {
      source_.push_back({source_word(token), false, 0});
    }
  }
  if (depth != 0 || opened) refuse("the tree " + quoted(tree) + " is not closed");
  return root;
}

void GrammarReader::read_cdec_tree_rule() {
  if (fields_used_ < 2) refuse(std::to_string(fields_used_) + " fields; expected TREE ||| TARGET ||| FEATURES");
  tree_.clear();
  unquoted_.clear();
  for (const std::string_view token : fields_[0]) tree_.append(tree_.empty() ? "" : " ").append(token);
  const std::string_view root = read_fragment(tree_);
  for (const std::string_view token : fields_[1]) target_.push_back(parse_target(token));
  if (fields_used_ > 2) read_features(fields_[2]);
  add_rule(root);
}

// Trees are read with brackets for -LRB- and so on: a rule has to have them, too.
std::string_view GrammarReader::source_word(std::string_view word) {
  if (!word.starts_with('-')) return word;
  unquoted_.emplace_back();
  unescape_brackets(word, unquoted_.back());
  return unquoted_.back();
}

// A word in quotes; what a backslash stands before is itself.
std::string_view GrammarReader::unquoted(std::string_view token) {
  const std::string_view inside = token.substr(1, token.size() - 2);
  if (inside.find('\\') == std::string_view::npos) return inside;
  std::string word;
  for (std::size_t i = 0; i < inside.size(); ++i) {
    if (inside[i] == '\\' && i + 1 < inside.size()) ++i;
    word += inside[i];
  }
  unquoted_.push_back(std::move(word));
  return unquoted_.back();
}

// x0 and x0:NN, variables from 0; nothing when it is not one.
std::optional<GrammarReader::Token> GrammarReader::travatar_variable(std::string_view token) {
  const std::size_t colon = std::min(token.find(':'), token.size());
  const auto index = token.starts_with('x') ? parse_count(token.substr(1, colon - 1)) : std::nullopt;
  if (!index || *index == 0xffffffffu) return std::nullopt;
  const std::string_view label = colon < token.size() ? token.substr(colon + 1) : std::string_view();
  return Token{without_egret_mark(label), true, *index + 1};
}

// NP ( DT ( "das" ) x0:NN ) ||| "the" x0:NN @ NP ||| EgivenF=0.5
void GrammarReader::read_travatar_rule() {
  if (fields_used_ < 3) refuse(std::to_string(fields_used_) + " fields; expected TREE ||| TARGET ||| FEATURES");
  unquoted_.clear();
  read_travatar_source(fields_[0]);
  read_travatar_target(fields_[1]);
  read_features(fields_[2]);
  add_rule(source_.front().text);
}

void GrammarReader::read_travatar_source(const std::vector<std::string_view>& tokens) {
  std::size_t depth = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (i > 0 && depth == 0) {
      refuse("found " + quoted(tokens[i]) + " after the tree" +
             (tokens[i] == "@" ? ": rules of strings are not read" : "") + "; expected |||");
    }
    if (i + 1 < tokens.size() && tokens[i + 1] == "(") {
      source_.push_back({without_egret_mark(tokens[i]), false, 0, true});  // as in forests that are read
      ++depth;
      ++i;
    } else if (tokens[i] == ")" && depth > 0) {
      close_node();
      --depth;
    } else if (is_word(tokens[i]) && depth > 0) {
      source_.push_back({source_word(unquoted(tokens[i])), false, 0});
    } else if (const auto found = travatar_variable(tokens[i]); found && !found->text.empty() && depth > 0) {
      source_.push_back(*found);
    } else {
      refuse("found " + quoted(tokens[i]) + "; expected a tree such as NP ( DT ( \"das\" ) x0:NN )");
    }
  }
  if (depth != 0 || source_.empty()) refuse("a tree that is not closed; expected LABEL ( child … )");
}

void GrammarReader::read_travatar_target(const std::vector<std::string_view>& tokens) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view token = tokens[i];
    if (token == "@" && i + 2 == tokens.size()) break;  // the label of the target side
    if (is_word(token)) {
      target_.push_back({unquoted(token), false, 0});
    } else if (auto found = travatar_variable(token)) {
      found->text = {};  // its label may be another on the target side, which makes no difference
      target_.push_back(*found);
    } else {
      refuse("found " + quoted(token) + "; expected \"WORD\" or a variable such as x0");
    }
  }
}

}  // namespace treeglot
