#include "syntax/egret.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "base/numbers.h"
#include "base/symbols.h"
#include "graph/rewrite.h"
#include "syntax/brackets.h"

namespace treeglot {
namespace {

constexpr std::string_view kSuffix = "^g";
constexpr std::string_view kArrow = "=> ";
constexpr std::string_view kBar = " ||| ";

struct Printed {
  std::string_view label;
  Span span;
};

// LABEL[FIRST,LAST], or nothing.
std::optional<Printed> parse_node(std::string_view token) {
  if (!token.ends_with(']')) return std::nullopt;
  const std::size_t bracket = token.rfind('[');
  if (bracket == std::string_view::npos || bracket == 0) return std::nullopt;
  const std::string_view numbers = token.substr(bracket + 1, token.size() - bracket - 2);
  const std::size_t comma = numbers.find(',');
  if (comma == std::string_view::npos) return std::nullopt;
  const auto first = parse_count(numbers.substr(0, comma)), last = parse_count(numbers.substr(comma + 1));
  if (!first || !last || *last < *first || *last == 0xffffffffu) return std::nullopt;
  return Printed{token.substr(0, bracket), {*first, *last + 1}};
}

}  // namespace

std::string_view without_egret_mark(std::string_view label) {
  const std::size_t digits = label.find_last_not_of("0123456789") + 1;  // 0 when there are digits alone
  const std::string_view before = label.substr(0, digits);
  const bool marked = before.size() > kSuffix.size() && before.ends_with(kSuffix);
  return marked ? label.substr(0, digits - kSuffix.size()) : label;
}

void EgretReader::forget() {
  expect_ = Expect::header;
  tokens_.clear();
  printed_.clear();
  index_.clear();
  builder_.clear();
  lines_.clear();
  is_head_.clear();
  is_tail_.clear();
}

LineReader::Resume EgretReader::resume(std::string_view line) const {
  return line.starts_with("sentence ") && line.ends_with(" :") ? Resume::here : Resume::not_yet;
}

void EgretReader::read_line(std::string_view line) {
  switch (expect_) {
    case Expect::header:
      if (!line.empty()) header(line);
      break;
    case Expect::words: words(line); break;
    default:
      if (line.empty()) return complete();
      if (resume(line) == Resume::not_yet) return edge(line);
      skip_or_fail_at(began_, "the forest that begins here has no empty line after it before line " +
                                  std::to_string(line_number()) + ", where another begins");
      forget();
      header(line);
  }
}

void EgretReader::header(std::string_view line) {
  if (resume(line) != Resume::here || !parse_count(line.substr(9, line.size() - 11)))
    fail(quoted(line) + "; expected a forest that begins with 'sentence 1 :'");
  began_ = line_number();
  expect_ = Expect::words;
}

void EgretReader::words(std::string_view line) {
  try {
    tokens_ = split_tokens(line);
  } catch (const std::invalid_argument& problem) {
    fail(problem.what());
  }
  for (std::string& token : tokens_) {
    unescaped_.clear();
    unescape_brackets(token, unescaped_);
    token = unescaped_;
    builder_.add_word(token);
  }
  expect_ = Expect::edges;
}

NodeId EgretReader::node(std::string_view token) {
  const auto same = [&](std::uint32_t known) { return printed_[known] == token; };
  const std::uint64_t hash = hash_bytes(token);
  const std::uint32_t index = index_.find(hash, same);
  if (index != HashIndex::kNone) return static_cast<NodeId>(tokens_.size() + index);
  const std::optional<Printed> printed = parse_node(token);
  if (!printed) return kNoNode;
  if (printed->span.end > tokens_.size())
    fail("the node " + quoted(token) + " in a sentence with " + std::to_string(tokens_.size()) + " words");
  const NodeId node =
      builder_.add_node(keep_suffix_ ? printed->label : without_egret_mark(printed->label), printed->span);
  lines_.push_back(line_number());
  is_head_.push_back(0);
  is_tail_.push_back(0);
  index_.intern(hash, static_cast<std::uint32_t>(printed_.size()), same);
  printed_.append(token);
  return node;
}

static void skip_blanks(std::string_view& rest) {
  while (rest.starts_with(' ')) rest.remove_prefix(1);
}

void EgretReader::edge(std::string_view line) {
  const std::size_t words = tokens_.size();
  const std::size_t blank = line.find(' '), bar = line.rfind(kBar);
  if (blank == std::string_view::npos || !line.substr(blank + 1).starts_with(kArrow) || bar == std::string_view::npos ||
      bar < blank + 1 + kArrow.size()) {
    fail(quoted(line) + "; expected an edge such as 'NP[0,1] => DT[0,0] NN[1,1] ||| -0.5', or an empty line");
  }
  const std::string_view head_token = line.substr(0, blank), score_token = line.substr(bar + kBar.size());
  std::string_view rest = line.substr(blank + 1 + kArrow.size(), bar - blank - 1 - kArrow.size());
  const NodeId head = node(head_token);
  if (head == kNoNode) fail(quoted(head_token) + " is not a node; expected LABEL[FIRST,LAST] such as NP[0,1]");
  const std::optional<double> score = parse_double(score_token);
  if (!score) fail(quoted(score_token) + " is not a score; expected a number such as -0.5");

  const Span span = builder_.span(head);
  tails_.clear();
  std::uint32_t at = span.begin;
  // Egret itself leaves two blanks before the bar; what it is read and written by may leave one.
  while (rest.ends_with(' ')) rest.remove_suffix(1);
  skip_blanks(rest);
  for (bool more = true; more;) {
    const std::string_view token = rest.substr(0, rest.find(' '));
    rest.remove_prefix(token.size());
    skip_blanks(rest);
    more = !rest.empty();
    NodeId tail = node(token);
    if (tail == kNoNode) {
      if (more || !tails_.empty()) fail(quoted(token) + " is not a node; expected LABEL[FIRST,LAST] such as NP[0,1]");
      unescaped_.clear();
      unescape_brackets(token, unescaped_);
      tail = span.begin;
      if (span.size() != 1 || unescaped_ != tokens_[tail]) {
        fail("the word " + quoted(unescaped_) + " below " + quoted(head_token) + "; the sentence has " +
             quoted(tokens_[tail]) + " there" + (span.size() == 1 ? "" : " and more"));
      }
    } else {
      is_tail_[tail - words] = 1;
    }
    if (builder_.span(tail).begin != at) {
      fail("the tail " + quoted(token) + " of " + quoted(head_token) + " begins at " +
           std::to_string(builder_.span(tail).begin) + "; expected " + std::to_string(at));
    }
    at = builder_.span(tail).end;
    tails_.push_back(tail);
  }
  if (at != span.end) {
    fail("the tails of " + quoted(head_token) + " end at " + std::to_string(at - 1) + "; expected " +
         std::to_string(span.end - 1));
  }
  is_head_[head - words] = 1;
  builder_.add_edge(head, tails_, *score * unit_);
}

NodeId EgretReader::goal() {
  const std::size_t words = tokens_.size();
  NodeId found = kNoNode;
  for (NodeId i = 0; i < printed_.size(); ++i) {
    if (is_tail_[i] || builder_.span(static_cast<NodeId>(words + i)).size() != words) continue;
    if (found != kNoNode) {
      fail_at(began_, "two nodes over the whole sentence that are no tails, " + quoted(printed_[found - words]) +
                          " and " + quoted(printed_[i]) + "; expected one root");
    }
    found = static_cast<NodeId>(words + i);
  }
  if (found == kNoNode) fail_at(began_, "no root; expected a node over all words that is no tail");
  return found;
}

void EgretReader::complete() {
  const std::size_t words = tokens_.size();
  for (std::size_t i = 0; i < printed_.size(); ++i) {
    if (!is_head_[i]) fail_at(lines_[i], "the tail " + quoted(printed_[i]) + " is never a head");
  }
  std::optional<ParseForest> forest;
  try {
    forest = builder_.finish(printed_.empty() ? kNoNode : goal(), ScoreKind::posterior);
  } catch (const std::invalid_argument& problem) {
    const NodeId node = topological_order(builder_.edges()).on_cycle;
    if (node == kNoNode) fail_at(began_, problem.what());
    fail_at(lines_[node - words], "the node " + quoted(printed_[node - words]) + " derives itself through unary edges");
  }
  give(std::move(*forest));
  forget();
}

void EgretReader::end_of_file() {
  if (expect_ != Expect::header)
    fail_at(began_, "the forest that begins here is cut off at the end of the file; expected an empty line after it");
}

namespace {

std::string span_text(Span span) { return "[" + std::to_string(span.begin) + "," + std::to_string(span.end - 1) + "]"; }

// What is printed for each node that is no word: nodes of one label and span are X[0,1], X^g[0,1], X^g2[0,1] …
std::vector<std::string> printed_nodes(const ParseForest& forest) {
  if (forest.kind() != ScoreKind::posterior)
    throw std::invalid_argument("a forest whose scores are no posteriors cannot be written in Egret's format");
  std::vector<std::string> out(forest.graph().nodes());
  std::unordered_map<std::string, std::size_t> seen;
  for (NodeId node = 0; node < forest.graph().nodes(); ++node) {
    const std::string_view label = forest.label(node);
    if (forest.is_word(node)) {
      check_writable_word(label);
      continue;
    }
    const auto refuse = [&](const std::string& why) {
      throw std::invalid_argument("the label " + quoted(label) + " cannot be written in Egret's format: " + why);
    };
    if (const std::size_t bad = label.find_first_of(std::string_view(" \n\r\0", 4)); bad != std::string_view::npos)
      refuse("it contains " + quoted(label.substr(bad, 1)));
    if (const std::size_t mark = without_egret_mark(label).size(); mark < label.size())
      refuse("its end " + std::string(label.substr(mark)) + " would be taken off");
    const std::string span = span_text(forest.span(node));
    out[node] = std::string(label) + span;
    if (const std::size_t before = seen[out[node]]++; before > 0)
      out[node].insert(label.size(), std::string(kSuffix) + (before > 1 ? std::to_string(before) : ""));
  }
  return out;
}

}  // namespace

std::string write_egret(const ParseForest& forest, std::size_t number) {
  const std::vector<std::string> printed = printed_nodes(forest);
  const Hypergraph& graph = forest.graph();
  std::string out = "sentence " + std::to_string(number) + " :\n";
  for (std::size_t word = 0; word < forest.words(); ++word) {
    if (word > 0) out += ' ';
    escape_brackets(forest.word(word), out);
  }
  out += '\n';
  std::vector<std::uint8_t> is_tail(graph.nodes(), 0);
  for (const NodeId tail : graph.all_tails()) is_tail[tail] = 1;
  for (auto node = static_cast<NodeId>(forest.words()); node < graph.nodes(); ++node) {
    if (!is_tail[node] && node != graph.goal() && forest.span(node) == forest.span(graph.goal()))
      throw std::invalid_argument("a second node over the whole sentence that is no tail, " +
                                  quoted(forest.label(node)) + ", cannot be written in Egret's format");
    for (EdgeId edge = graph.edges_begin(node); edge < graph.edges_end(node); ++edge) {
      out += printed[node];
      out += " =>";
      const auto tails = graph.tails(edge);
      for (const NodeId tail : tails) {
        out += ' ';
        if (!forest.is_word(tail)) {
          out += printed[tail];
          continue;
        }
        if (tails.size() > 1) {
          throw std::invalid_argument("the word " + quoted(forest.label(tail)) +
                                      " beside other tails cannot be written in Egret's format");
        }
        escape_brackets(forest.label(tail), out);
      }
      out += kBar;
      append_double(forest.score(edge), out);
      out += '\n';
    }
  }
  if (forest.parsed() && is_tail[graph.goal()])
    throw std::invalid_argument("a goal that is a tail cannot be written in Egret's format");
  return out + (forest.parsed() ? "\n" : "\n\n");
}

}  // namespace treeglot
