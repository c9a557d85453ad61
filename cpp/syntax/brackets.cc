#include "syntax/brackets.h"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace treeglot {
namespace {

constexpr std::string_view kBrackets = "()[]{}";
constexpr std::array<std::string_view, 6> kEscapes = {"-LRB-", "-RRB-", "-LSB-", "-RSB-", "-LCB-", "-RCB-"};
constexpr std::size_t kEscapeSize = 5;

constexpr bool is_blank(char c) { return c == ' ' || c == '\t'; }
constexpr bool ends_atom(char c) { return is_blank(c) || c == '(' || c == ')'; }

void refuse_label(std::string_view label) {
  const auto bad = std::ranges::find_if(label, [](char c) { return ends_atom(c) || c == '\n' || c == '\r' || c == 0; });
  if (bad != label.end()) {
    throw std::invalid_argument("the label " + quoted(label) + " cannot be written in brackets: it contains " +
                                quoted(std::string_view(&*bad, 1)));
  }
}

void write(const Tree& tree, std::string& out) {
  if (tree.empty()) {
    out += "(())";
    return;
  }
  std::vector<std::uint32_t> ends;  // of the open nodes
  for (std::uint32_t node = 0; node < tree.size(); ++node) {
    if (node > 0) out += ' ';
    if (tree.is_word(node)) {
      escape_brackets(tree.label(node), out);
      while (!ends.empty() && ends.back() == node + 1) {
        out += ')';
        ends.pop_back();
      }
    } else {
      out += '(';
      out += tree.label(node);
      ends.push_back(tree.end(node));
    }
  }
}

}  // namespace

void escape_brackets(std::string_view word, std::string& out) {
  for (const char c : word) {
    const std::size_t bracket = kBrackets.find(c);
    if (bracket == std::string_view::npos) {
      out += c;
    } else {
      out += kEscapes[bracket];
    }
  }
}

void unescape_brackets(std::string_view word, std::string& out) {
  std::size_t done = 0;
  for (std::size_t at = word.find('-'); at + kEscapeSize <= word.size() && at != std::string_view::npos;
       at = word.find('-', at)) {
    const auto escape = std::ranges::find(kEscapes, word.substr(at, kEscapeSize));
    if (escape == kEscapes.end()) {
      ++at;
      continue;
    }
    out += word.substr(done, at - done);
    out += kBrackets[static_cast<std::size_t>(escape - kEscapes.begin())];
    done = at += kEscapeSize;
  }
  out += word.substr(done);
}

void check_writable_word(std::string_view word) {
  const auto refuse = [&](const std::string& why) {
    throw std::invalid_argument("the word " + quoted(word) + " cannot be written: " + why);
  };
  if (word.empty()) refuse("it is empty");
  for (const char c : word) {
    if (is_blank(c) || c == '\n' || c == '\r' || c == 0) refuse("it contains " + quoted(std::string_view(&c, 1)));
  }
  std::string escaped, back;
  escape_brackets(word, escaped);
  unescape_brackets(escaped, back);
  if (back != word) refuse("it would be read back as " + quoted(back));
}

void BracketReader::forget() {
  builder_.clear();
  began_ = 0;
  unlabelled_ = wrapped_ = unwrapped_ = complete_ = false;
}

LineReader::Resume BracketReader::resume(std::string_view line) const {
  return line.starts_with('(') || std::ranges::all_of(line, is_blank) ? Resume::here : Resume::not_yet;
}

void BracketReader::opening() {
  if (builder_.depth() == 0) {
    if (unwrapped_) fail("a second tree in one outer bracket");
    if (unlabelled_ && wrapped_) fail("more than one outer bracket without a label");
    wrapped_ = unlabelled_;
    if (began_ == 0) began_ = line_number();
  } else if (unlabelled_) {
    fail("a bracket without a label inside a tree");
  }
  unlabelled_ = true;
}

void BracketReader::closing() {
  if (unlabelled_) {
    if (builder_.depth() > 0) fail("an empty bracket inside a tree");
    unlabelled_ = false;  // () or (()): no parse
  } else if (builder_.depth() > 0) {
    builder_.close();
    if (builder_.depth() > 0) return;
  } else if (began_ == 0) {
    fail("a closing bracket where a tree should begin");
  }
  complete_ = !wrapped_ || unwrapped_;
  unwrapped_ = wrapped_;
}

void BracketReader::atom(std::string_view text) {
  if (unlabelled_) {
    builder_.open(text);
    unlabelled_ = false;
    return;
  }
  if (builder_.depth() == 0) fail(quoted(text) + " outside a tree; expected a bracket");
  if (text.size() < kEscapeSize || text.find('-') == std::string_view::npos) {
    builder_.word(text);
    return;
  }
  unescaped_.clear();
  unescape_brackets(text, unescaped_);
  builder_.word(unescaped_);
}

void BracketReader::read_line(std::string_view line) {
  const bool begins = line.starts_with('(');
  const auto first = std::ranges::find_if_not(line, is_blank);
  if (began_ == 0) {
    if (first == line.end() || line.starts_with('#')) return;
  } else if (begins) {
    skip_or_fail_at(began_, "the tree that begins here is still open at line " + std::to_string(line_number()) +
                                ", where another begins");
    forget();
  }
  for (std::size_t at = static_cast<std::size_t>(first - line.begin()); at < line.size();) {
    const char c = line[at];
    if (is_blank(c)) {
      ++at;
      continue;
    }
    if (complete_) fail(quoted(line.substr(at)) + " after the end of a tree; expected a new line");
    try {
      if (c == '(') {
        opening();
        ++at;
      } else if (c == ')') {
        closing();
        ++at;
      } else {
        std::size_t end = at + 1;
        while (end < line.size() && !ends_atom(line[end])) ++end;
        atom(line.substr(at, end - at));
        at = end;
      }
    } catch (const std::invalid_argument& problem) {
      fail(problem.what());
    }
  }
  if (complete_) {  // not before the rest of its line is known to be blank
    give(builder_.finish());
    forget();
  }
}

void BracketReader::end_of_file() {
  if (began_ != 0) fail_at(began_, "the tree that begins here is not closed at the end of the file");
}

Tree parse_brackets(std::string_view text) {
  std::string line(text);
  std::ranges::replace(line, '\n', ' ');
  BracketReader reader("", false);
  try {
    BracketReader::Values trees = reader.feed(line);
    for (auto& tree : reader.finish()) trees.push_back(std::move(tree));
    return trees.empty() ? Tree() : std::move(*trees.front());
  } catch (const FormatError& error) {
    throw std::invalid_argument(error.problem());
  }
}

std::string show_brackets(const Tree& tree) {
  std::string out;
  write(tree, out);
  return out;
}

std::string write_brackets(const Tree& tree) {
  for (std::uint32_t node = 0; node < tree.size(); ++node) {
    if (tree.is_word(node)) {
      check_writable_word(tree.label(node));
    } else {
      refuse_label(tree.label(node));
    }
  }
  return show_brackets(tree);
}

}  // namespace treeglot
