// Rules of a sentence pair, written as codes: the one place that makes the sides of rules for all extractors.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/span.h"
#include "base/symbols.h"
#include "rules/bitext.h"
#include "rules/code.h"
#include "rules/frontier.h"
#include "rules/tally.h"
#include "syntax/dependency_checks.h"

namespace treeglot {

// What the rules of a sentence pair are written from. All must outlive the writer's use of the pair.
struct RulePair {
  std::span<const Symbol> source, target;  // words
  std::span<const Link> links;
  const Frontier* frontier = nullptr;   // of the links
  Heads heads = {};                     // of the target words; none: target sides have no structure
  std::span<const Symbol> tags = {};    // labels of the target words, noted beside a rule; or none
  std::span<const float> weights = {};  // of the links; none: all are 1
  PairShare share = {};                 // of this alignment
};

// A variable of a rule: what it stands for. Variables are numbered in the order of their source sides.
struct RuleVariable {
  Span source, target;
  Symbol label = 0;  // of the variable on both sides; 0 is X
};

// One side of a sentence, its words already as codes.
class CodedSentence {
 public:
  void assign(std::span<const Symbol> words) {
    bytes_.clear();
    ends_.assign(1, 0);
    for (const Symbol word : words) {
      code::append(bytes_, word + code::kFirstWord);
      ends_.push_back(static_cast<std::uint32_t>(bytes_.size()));
    }
  }
  std::string_view words(Span span) const {
    return std::string_view(bytes_).substr(ends_[span.begin], ends_[span.end] - ends_[span.begin]);
  }

 private:
  std::string bytes_;
  std::vector<std::uint32_t> ends_;
};

class RuleWriter {
 public:
  void assign(const RulePair& pair);

  // A rule whose sides are words with variables between them. Left-hand side 0 is X.
  void write(Symbol lhs, const PhrasePair& phrase, std::span<const RuleVariable> variables);

  // The source side symbol by symbol.
  void start_source() {
    source_.clear();
    linked_.clear();
    place_ = 0;
  }
  void left_hand_side(Symbol label) { append(source_, code::kLeftHandSide, label); }
  void open(Symbol label) {
    append(source_, code::kOpen, label);
    ++place_;
  }
  void close() {
    code::append(source_, code::kClose);
    ++place_;
  }
  void source_variable(std::uint32_t index, Symbol label) {
    append_variable(source_, index, label);
    ++place_;
  }
  // Links are written only of `linked` words: all of theirs must be to words of the rule's target side.
  void source_words(Span words, bool linked = true) {
    if (words.empty()) return;
    source_.append(source_words_.words(words));
    if (linked) linked_.push_back({words, place_});
    place_ += words.size();
  }

  // The target side symbol by symbol, after the source side.
  void start_target() {
    target_.clear();
    notes_.clear();
    target_place_ = 0;
  }
  void target_words(Span words) {
    target_.append(target_words_.words(words));
    for (std::uint32_t word = words.begin; word < words.end; ++word) places_[word] = target_place_++;
    if (pair_.tags.empty()) return;
    for (const Symbol tag : pair_.tags.subspan(words.begin, words.size())) note(tag);
  }
  void target_variable(std::uint32_t index, Symbol label) {
    append_variable(target_, index, label);
    ++target_place_;
  }
  // Words with variables between them, in any order, all within `target`; and their structure.
  void write_target(Span target, std::span<const RuleVariable> variables);
  // Calls write() with other heads and tags of the target words.
  template <class Write>
  void write_as(Heads heads, std::span<const Symbol> tags, const Write& write) {
    const Heads own_heads = std::exchange(pair_.heads, heads);
    const std::span<const Symbol> own_tags = std::exchange(pair_.tags, tags);
    write();
    pair_.heads = own_heads;
    pair_.tags = own_tags;
  }
  // Marks the structure of the target side as ill-formed: it has a number more than there are symbols.
  void mark_ill_formed() {
    if (!pair_.heads.empty()) code::append(target_, 1);
  }

  void note(Symbol label) { code::append(notes_, label); }

  // The rule, with the links of its words; its weight is the product of theirs. Valid until the next is started.
  CodedRule rule();
  std::string_view target() const { return target_; }

 private:
  struct LinkedWords {
    Span words;
    std::uint32_t place;  // of the first among the symbols of the source side
  };

  static void append(std::string& side, std::uint32_t first, std::uint32_t second) {
    char bytes[2 * code::kLongest];
    side.append(bytes, code::put(code::put(bytes, first), second));
  }
  static void append_variable(std::string& side, std::uint32_t index, Symbol label) {
    char bytes[3 * code::kLongest];
    side.append(bytes, code::put_variable(bytes, index, label));
  }

  RulePair pair_;
  CodedSentence source_words_, target_words_;
  std::string source_, target_, alignment_, notes_;
  std::vector<LinkedWords> linked_;
  std::uint32_t place_ = 0, target_place_ = 0;  // symbols written
  std::vector<std::uint32_t> places_;           // by target word: its place in the rule at hand
  std::vector<std::uint32_t> order_;            // of variables on the target side
  std::vector<Span> holes_;                     // the same variables' target sides
};

// Appends the structure of a target side to its code. Each symbol has 0 if it is a root, else 1 + the place of its
// head. The side is the words of `target`, with a variable for each of `holes`, which are in order and apart. Some
// words of a hole have a head outside. If these heads are one place, the variable hangs there; else it is a root. It is
// in head position for the words outside that have a head in its hole. So heads without a cycle in `target` give
// numbers without a cycle.
void append_structure(std::string& code, Span target, std::span<const Span> holes, Heads heads);

}  // namespace treeglot
