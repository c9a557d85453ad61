#include "syntax/dependency_brackets.h"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/span.h"
#include "syntax/brackets.h"
#include "syntax/dependency_checks.h"

namespace treeglot {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

void check_writable(Heads heads) {
  for (std::size_t word = 0; word < heads.size(); ++word) {
    if (heads[word] == Dependency::kNoHead) {
      throw std::invalid_argument("word " + std::to_string(word) + " has no head: it cannot be written in brackets");
    }
  }
  if (const auto all = cycles(heads); !all.empty()) {
    throw std::invalid_argument("word " + std::to_string(all.front().front()) +
                                " is in a cycle: it cannot be written in brackets");
  }
  if (const auto arcs = nonprojective_arcs(heads); !arcs.empty()) {
    throw std::invalid_argument("the arc from word " + std::to_string(heads[arcs.front()]) + " to word " +
                                std::to_string(arcs.front()) + " is not projective: it cannot be written in brackets");
  }
}

class DependencyBracketReader {
 public:
  Dependency read(std::string_view text) {
    open_.push_back({});
    for (std::size_t at = 0; at < text.size();) {
      const char c = text[at];
      if (kBlanks.find(c) != std::string_view::npos) {
        step(text, at, at + 1);
      } else if (c == '(') {
        open_.push_back({.opened_at = character_});
        step(text, at, at + 1);
      } else if (c == ')') {
        if (open_.size() == 1) fail("a closing bracket too many at character " + std::to_string(character_));
        close();
        step(text, at, at + 1);
      } else {
        const std::size_t end = std::min(text.find_first_of(" \t\r\n()", at), text.size());
        word(text.substr(at, end - at));
        step(text, at, end);
      }
    }
    if (open_.size() > 1) {
      fail("the bracket at character " + std::to_string(open_.back().opened_at) + " is not closed");
    }
    const Group& sentence = open_.back();
    if (sentence.head == kNoWord && sentence.dependents.size() == 1) {
      fail("the sentence is one bracket; expected a head word outside brackets, or several roots in brackets");
    }
    attach(sentence);
    return Dependency(std::move(words_), std::move(heads_));
  }

 private:
  static constexpr std::int32_t kNoWord = Dependency::kRoot;

  struct Group {
    std::size_t opened_at = 0;
    std::int32_t head = kNoWord;
    std::vector<std::int32_t> dependents = {};
  };

  [[noreturn]] static void fail(const std::string& problem) { throw std::invalid_argument(problem); }

  void step(std::string_view text, std::size_t& at, std::size_t to) {
    for (; at < to; ++at) character_ += (static_cast<unsigned char>(text[at]) & 0xc0) != 0x80;
  }

  void word(std::string_view text) {
    Group& group = open_.back();
    if (group.head != kNoWord) {
      fail(quoted(text) + " at character " + std::to_string(character_) + " is a second head word, after " +
           quoted(words_[static_cast<std::size_t>(group.head)]) + "; dependents stand in brackets");
    }
    group.head = static_cast<std::int32_t>(words_.size());
    unescaped_.clear();
    unescape_brackets(text, unescaped_);
    words_.append(unescaped_);
    heads_.push_back(Dependency::kRoot);
  }

  void close() {
    const Group group = std::move(open_.back());
    open_.pop_back();
    if (group.head == kNoWord) {
      fail("the brackets at character " + std::to_string(group.opened_at) + " hold no head word");
    }
    attach(group);
    open_.back().dependents.push_back(group.head);
  }

  void attach(const Group& group) {
    for (const std::int32_t dependent : group.dependents) heads_[static_cast<std::size_t>(dependent)] = group.head;
  }

  std::size_t character_ = 1;
  std::string unescaped_;  // a buffer
  std::vector<Group> open_;
  Strings words_;
  std::vector<std::int32_t> heads_;
};

}  // namespace

std::string to_brackets(const Dependency& dependency) {
  const Heads heads = dependency.heads();
  check_writable(heads);
  const bool one_root = roots(heads).size() == 1;

  // A projective word and its descendants are a span; its brackets stand around that.
  std::vector<Span> spans;
  for (std::uint32_t word = 0; word < heads.size(); ++word) spans.push_back({word, word + 1});
  std::vector<std::size_t> opening(heads.size()), closing(heads.size());
  const DependencyOrder order(heads);
  for (std::size_t i = heads.size(); i-- > 0;) {
    const std::uint32_t word = order.words()[i];
    const Span span = spans[word];
    if (heads[word] >= 0) {
      Span& around = spans[static_cast<std::size_t>(heads[word])];
      around = {std::min(around.begin, span.begin), std::max(around.end, span.end)};
    } else if (one_root) {
      continue;
    }
    ++opening[span.begin];
    ++closing[span.end - 1];
  }

  std::string out;
  for (std::size_t word = 0; word < heads.size(); ++word) {
    if (word > 0) out += ' ';
    out.append(opening[word], '(');
    check_writable_word(dependency.words()[word]);
    escape_brackets(dependency.words()[word], out);
    out.append(closing[word], ')');
  }
  return out;
}

Dependency from_brackets(std::string_view text) { return DependencyBracketReader().read(text); }

}  // namespace treeglot
