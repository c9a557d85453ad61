#include "parse/grammar_text.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <tuple>

#include "base/error.h"
#include "base/numbers.h"
#include "base/utf8.h"
#include "syntax/brackets.h"

namespace treeglot {
namespace {

constexpr std::string_view kStateExpected = "; expected LABEL_NUMBER with a label and sub-state of the stateInfo file";

// Lines of a file, one after the other, with their numbers.
class Lines {
 public:
  explicit Lines(const TextFile& file) : file_(file) {
    if (!file.text.empty() && file.text.back() != '\n') {
      number_ = static_cast<std::size_t>(std::count(file.text.begin(), file.text.end(), '\n')) + 1;
      fail("the last line has no end; is the file cut short?");
    }
  }

  bool next(std::string_view& line) {
    if (at_ >= file_.text.size()) return false;
    const std::size_t end = file_.text.find('\n', at_);
    line = std::string_view(file_.text).substr(at_, end - at_);
    if (line.ends_with('\r')) line.remove_suffix(1);
    at_ = end + 1;
    ++number_;
    return true;
  }
  [[noreturn]] void fail(const std::string& problem) const { throw FormatError(file_.name, number_, problem); }

 private:
  const TextFile& file_;
  std::size_t at_ = 0, number_ = 0;
};

// The next piece of `line` up to `separator`.
std::string_view piece(std::string_view& line, char separator) {
  const std::size_t end = std::min(line.find(separator), line.size());
  const std::string_view out = line.substr(0, end);
  line.remove_prefix(std::min(line.size(), end + 1));
  return out;
}

// How sub-states of a label split: tree "[0 [0 0 1] [1 2]]" → for each depth, the parent of each sub-state.
using SplitTree = std::vector<std::vector<std::uint32_t>>;

// False if there is no `room` for so many sub-states.
bool add_split(std::uint32_t number, const std::vector<std::uint32_t>& above, SplitTree& parents, std::size_t& room) {
  const std::size_t depth = above.size();
  if (depth >= parents.size()) parents.resize(depth + 1);
  if (parents[depth].size() <= number) {
    const std::size_t more = number + 1 - parents[depth].size();
    if (more > room) return false;
    room -= more;
    parents[depth].resize(number + 1, 0xffffffffu);
  }
  parents[depth][number] = above.empty() ? 0 : above.back();
  return true;
}

std::optional<SplitTree> parse_splits(std::string_view text) {
  SplitTree parents;
  std::vector<std::uint32_t> above;        // sub-states on the way to the root
  std::size_t at = 0, room = text.size();  // every sub-state is somewhere in the text
  bool opened = false;
  while (at < text.size()) {
    if (text[at] == '[') {
      opened = true;
      ++at;
    } else if (text[at] == ']') {
      if (above.empty()) return std::nullopt;
      above.pop_back();
      ++at;
    } else if (text[at] == ' ') {
      ++at;
    } else {
      const std::size_t end = std::min(text.find_first_of(" []", at), text.size());
      const std::optional<std::uint32_t> number = parse_count(text.substr(at, end - at));
      if (!number || *number > 1u << 20 || !add_split(*number, above, parents, room)) return std::nullopt;
      if (opened) above.push_back(*number);
      opened = false;
      at = end;
    }
  }
  if (!above.empty() || opened) return std::nullopt;
  for (const auto& level : parents) {
    if (std::find(level.begin(), level.end(), 0xffffffffu) != level.end()) return std::nullopt;
  }
  return parents;
}

struct State {
  Symbol label = 0;
  std::uint32_t sub = 0;
};

class GrammarReader {
 public:
  GrammarReader(const std::vector<LevelFiles>& files, SignatureKind signature, bool steps)
      : files_(files), steps_(steps) {
    grammar_.signature = signature;
  }

  SplitGrammar read() {
    if (files_.empty()) throw std::invalid_argument("a grammar has at least one level");
    for (std::size_t level = 0; level < files_.size(); ++level) {
      grammar_.levels.emplace_back();
      read_states(level);
      read_rules(level);
      read_words(level);
      check_complete(level);
    }
    for (Level& level : grammar_.levels) level.first_tag.resize(grammar_.words.size() + 1, level.first_tag.back());
    return std::move(grammar_);
  }

 private:
  void read_states(std::size_t number) {
    Lines lines(files_[number].states);
    Level& level = grammar_.levels[number];
    SplitTree splits_of_level;
    std::vector<std::vector<std::uint32_t>> coarse;
    std::string_view line;
    while (lines.next(line)) {
      if (line.empty()) continue;
      std::string_view rest = line;
      const std::string_view label = piece(rest, '\t');
      const std::optional<std::uint32_t> index = parse_count(piece(rest, '\t'));
      const std::optional<std::uint32_t> count = parse_count(piece(rest, ' '));
      const std::optional<SplitTree> splits = parse_splits(rest);
      if (label.empty() || !index || !count || *count == 0 || !splits)
        lines.fail(quoted(line) + " is not LABEL NUMBER STATES [splits], separated by tabs and a blank");
      const Symbol symbol = grammar_.labels.intern(label);
      if (symbol != *index)
        lines.fail("label " + quoted(label) + " has number " + std::to_string(*index) + "; expected " +
                   std::to_string(symbol));
      if (splits->size() <= number || (*splits)[number].size() != *count)
        lines.fail("label " + quoted(label) + " has " + std::to_string(*count) + " sub-states; its splits have " +
                   std::to_string(splits->size() <= number ? 0 : (*splits)[number].size()) + " at level " +
                   std::to_string(number));
      level.states.push_back(*count);
      coarse.push_back((*splits)[number]);
    }
    if (level.states.size() != grammar_.labels.size() || level.states.empty())
      throw FormatError(files_[number].states.name, 0,
                        "has " + std::to_string(level.states.size()) + " labels; expected " +
                            (number == 0 ? "some" : std::to_string(grammar_.labels.size())));
    level.number_states();
    if (number == 0) return;
    const Level& below = grammar_.levels[number - 1];
    for (Symbol label = 0; label < coarse.size(); ++label) {
      for (const std::uint32_t sub : coarse[label]) {
        if (sub >= below.states[label])
          throw FormatError(files_[number].states.name, 0,
                            "a sub-state of " + quoted(grammar_.labels.text(label)) + " comes from sub-state " +
                                std::to_string(sub) + ", which level " + std::to_string(number - 1) + " does not have");
        level.coarse.push_back(below.first[label] + sub);
      }
    }
  }

  State state(const Lines& lines, const Level& level, std::string_view text) const {
    const std::size_t mark = text.rfind('_');
    if (mark == std::string_view::npos) lines.fail(quoted(text) + " is not a state" + std::string(kStateExpected));
    const Symbol label = grammar_.labels.find(text.substr(0, mark));
    const std::optional<std::uint32_t> sub = parse_count(text.substr(mark + 1));
    if (label == Symbols::kNone || !sub || *sub >= level.states[label])
      lines.fail(quoted(text) + " is not a state" + std::string(kStateExpected));
    return {label, *sub};
  }

  double probability(const Lines& lines, std::string_view text) const {
    const std::optional<double> value = parse_double(text);
    if (!value || *value < 0.0) lines.fail(quoted(text) + " is not a probability");
    return *value;
  }

  // Room for the scores of a rule of labels: a number for each of its rules of sub-states. A file leaves out most of
  // those that are 0.
  std::size_t add_scores(const Lines& lines, Level& level, std::size_t file_size, std::size_t heads, std::size_t lefts,
                         std::size_t rights = 1) const {
    constexpr std::size_t kUsual = 1 << 24, kPerByte = 1000;
    const std::size_t at = level.scores.size();
    if (static_cast<double>(heads) * static_cast<double>(lefts) * static_cast<double>(rights) >
        static_cast<double>(kUsual + kPerByte * file_size - std::min(at, kUsual + kPerByte * file_size)))
      lines.fail("the rules have too many sub-states for a file of " + std::to_string(file_size) +
                 " bytes; expected a line for one in " + std::to_string(kPerByte) + " at least");
    level.scores.resize(at + heads * lefts * rights, 0.0);
    return at;
  }

  void read_rules(std::size_t number) {
    const std::size_t size = files_[number].grammar.text.size();
    Lines lines(files_[number].grammar);
    Level& level = grammar_.levels[number];
    std::map<std::tuple<Symbol, Symbol, Symbol>, std::size_t> found;  // rule → its scores
    std::string_view line;
    while (lines.next(line)) {
      if (line.empty()) continue;
      std::vector<std::string_view> fields;
      for (std::string_view rest = line; !rest.empty();) fields.push_back(piece(rest, ' '));
      if (fields.size() < 4 || fields.size() > 5 || fields[1] != "->")
        lines.fail(quoted(line) + " is not a rule; expected HEAD_0 -> CHILD_0 0.1 or HEAD_0 -> LEFT_0 RIGHT_0 0.1");
      const State head = state(lines, level, fields[0]), left = state(lines, level, fields[2]);
      const double score = probability(lines, fields.back());
      const std::uint32_t heads = level.states[head.label], lefts = level.states[left.label];
      if (fields.size() == 4) {
        if (head.label == left.label) {
          if (steps_) lines.fail(quoted(line) + " is a rule of a label by itself; expected none among single steps");
          level.closed = true;
          continue;
        }
        const auto [at, fresh] = found.try_emplace({head.label, left.label, Symbols::kNone}, level.scores.size());
        if (fresh) {
          level.unary.push_back({head.label, left.label, add_scores(lines, level, size, heads, lefts)});
        }
        level.scores[at->second + left.sub * heads + head.sub] = score;
        continue;
      }
      const State right = state(lines, level, fields[3]);
      const std::uint32_t rights = level.states[right.label];
      const auto [at, fresh] = found.try_emplace({head.label, left.label, right.label}, level.scores.size());
      if (fresh) {
        level.binary.push_back(
            {head.label, left.label, right.label, add_scores(lines, level, size, heads, lefts, rights)});
      }
      level.scores[at->second + (std::size_t{left.sub} * rights + right.sub) * heads + head.sub] = score;
    }
  }

  void read_words(std::size_t number) {
    Lines lines(files_[number].lexicon);
    Level& level = grammar_.levels[number];
    std::vector<std::pair<Symbol, LexicalRule>> found;
    std::string word;
    std::string_view line;
    while (lines.next(line)) {
      if (line.empty()) continue;
      std::string_view rest = line;
      const Symbol tag = grammar_.labels.find(piece(rest, ' '));
      const std::string_view text = piece(rest, ' ');
      if (tag == Symbols::kNone || text.empty() || rest.size() < 3 || rest.front() != '[' || rest.back() != ']')
        lines.fail(quoted(line) + " is not TAG word [0.1, …] with a tag of the stateInfo file");
      rest = rest.substr(1, rest.size() - 2);
      word.clear();
      unescape_brackets(text, word);
      const std::size_t at = level.scores.size();
      while (!rest.empty()) {
        std::string_view value = piece(rest, ',');
        while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
        level.scores.push_back(probability(lines, value));
      }
      const std::size_t count = level.scores.size() - at;
      if (count != level.states[tag])
        lines.fail(quoted(line) + " has " + std::to_string(count) + " probabilities; expected " +
                   std::to_string(level.states[tag]));
      if (std::all_of(level.scores.begin() + static_cast<std::ptrdiff_t>(at), level.scores.end(),
                      [](double p) { return p == 0.0; })) {
        level.scores.resize(at);
        continue;
      }
      found.push_back({grammar_.words.intern(word), {tag, at}});
    }
    level.first_tag.assign(grammar_.words.size() + 1, 0);
    for (const auto& [number_of_word, rule] : found) ++level.first_tag[number_of_word + 1];
    for (std::size_t i = 1; i < level.first_tag.size(); ++i) level.first_tag[i] += level.first_tag[i - 1];
    level.tags.resize(found.size());
    std::vector<std::uint32_t> next = level.first_tag;
    for (const auto& [number_of_word, rule] : found) level.tags[next[number_of_word]++] = rule;
  }

  void check_complete(std::size_t number) const {
    const Level& level = grammar_.levels[number];
    std::vector<std::uint8_t> used(grammar_.labels.size(), 0), tag(grammar_.labels.size(), 0);
    std::vector<std::uint8_t> child(grammar_.labels.size(), 0);
    for (const BinaryRule& rule : level.binary) used[rule.head] = child[rule.left] = child[rule.right] = 1;
    for (const UnaryRule& rule : level.unary) used[rule.head] = child[rule.child] = 1;
    for (const LexicalRule& rule : level.tags) tag[rule.tag] = 1;
    for (Symbol label = 0; label < grammar_.labels.size(); ++label) {
      if (used[label] || tag[label] || (!child[label] && label != grammar_.root)) continue;
      throw FormatError(files_[number].grammar.name, 0,
                        "has no rule for " + quoted(grammar_.labels.text(label)) + ", nor has " +
                            files_[number].lexicon.name + " a word; is one of them cut short?");
    }
  }

  const std::vector<LevelFiles>& files_;
  bool steps_;
  SplitGrammar grammar_;
};

// Zeros need no line, but a rule needs one.
bool is_written(std::span<const double> block, std::size_t place) {
  return block[place] != 0.0 ||
         (place == 0 && std::all_of(block.begin(), block.end(), [](double score) { return score == 0.0; }));
}

void append_state(const SplitGrammar& grammar, Symbol label, std::uint32_t sub, std::string& out) {
  out += grammar.labels.text(label);
  out += '_';
  out += std::to_string(sub);
}

// The sub-states of a label at a level, in preorder of their splits from level 0 on: "[0 [0 1] [1 2 3]]". Children of a
// state are consecutive in the level above it or not at all.
void append_splits(const SplitGrammar& grammar, Symbol label, std::size_t level, std::string& out) {
  struct Open {
    std::size_t depth;
    std::uint32_t sub;
    bool closing;
  };
  std::vector<Open> open;
  for (std::uint32_t sub = grammar.levels[0].states[label]; sub-- > 0;) open.push_back({0, sub, false});
  bool blank = false;
  while (!open.empty()) {
    const Open top = open.back();
    open.pop_back();
    if (top.closing) {
      out += ']';
      continue;
    }
    if (blank) out += ' ';
    blank = true;
    const bool leaf = top.depth == level;
    if (!leaf || level == 0) out += '[';
    out += std::to_string(top.sub);
    if (leaf) {
      if (level == 0) out += ']';
      continue;
    }
    open.push_back({top.depth, top.sub, true});
    const Level& above = grammar.levels[top.depth + 1];
    const std::uint32_t state = grammar.levels[top.depth].first[label] + top.sub;
    for (std::uint32_t sub = above.states[label]; sub-- > 0;) {
      if (above.coarse[above.first[label] + sub] == state) open.push_back({top.depth + 1, sub, false});
    }
  }
}

// A line for each rule of states; without a right child the rule is unary.
void append_rules(const SplitGrammar& grammar, const Level& level, Symbol head, Symbol left, const Symbol* right,
                  std::size_t at, std::string& out) {
  const std::uint32_t heads = level.states[head], rights = right == nullptr ? 1 : level.states[*right];
  const auto block = std::span(level.scores).subspan(at, std::size_t{heads} * level.states[left] * rights);
  for (std::size_t place = 0; place < block.size(); ++place) {
    if (!is_written(block, place)) continue;
    const auto children = static_cast<std::uint32_t>(place / heads);
    append_state(grammar, head, static_cast<std::uint32_t>(place % heads), out);
    out += " -> ";
    append_state(grammar, left, children / rights, out);
    out += ' ';
    if (right != nullptr) {
      append_state(grammar, *right, children % rights, out);
      out += ' ';
    }
    append_double(block[place], out);
    out += '\n';
  }
}

void append_tags(const SplitGrammar& grammar, const Level& level, Symbol word, std::string& out) {
  for (std::uint32_t i = level.first_tag[word]; i < level.first_tag[word + 1]; ++i) {
    const LexicalRule& rule = level.tags[i];
    out += grammar.labels.text(rule.tag);
    out += ' ';
    escape_brackets(grammar.words.text(word), out);
    out += " [";
    for (std::uint32_t h = 0; h < level.states[rule.tag]; ++h) {
      if (h > 0) out += ", ";
      append_double(level.scores[rule.at + h], out);
    }
    out += "]\n";
  }
}

}  // namespace

SplitGrammar read_grammar(const std::vector<LevelFiles>& files, SignatureKind signature, bool steps) {
  if (files.empty()) throw std::invalid_argument("a grammar without levels; expected one or more");
  return GrammarReader(files, signature, steps).read();
}

LevelTexts write_level(const SplitGrammar& grammar, std::size_t number) {
  const Level& level = grammar.levels[number];
  LevelTexts out;
  for (Symbol label = 0; label < grammar.labels.size(); ++label) {
    out.states += grammar.labels.text(label);
    out.states += '\t' + std::to_string(label) + '\t' + std::to_string(level.states[label]) + ' ';
    append_splits(grammar, label, number, out.states);
    out.states += '\n';
  }
  if (level.closed) {
    append_state(grammar, 0, 0, out.grammar);
    out.grammar += " -> ";
    append_state(grammar, 0, 0, out.grammar);
    out.grammar += " 1\n";
  }
  for (const UnaryRule& rule : level.unary)
    append_rules(grammar, level, rule.head, rule.child, nullptr, rule.at, out.grammar);
  for (const BinaryRule& rule : level.binary)
    append_rules(grammar, level, rule.head, rule.left, &rule.right, rule.at, out.grammar);
  for (Symbol word = 0; word + 1 < level.first_tag.size(); ++word) append_tags(grammar, level, word, out.lexicon);
  return out;
}

}  // namespace treeglot
