// A rule of a forest and its translation, written as codes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rules/coded_sentence.h"
#include "rules/frontier.h"
#include "rules/ghkm_fragments.h"
#include "rules/phrase.h"
#include "rules/tally.h"
#include "syntax/dependency_checks.h"

namespace treeglot {

// What the rules of a sentence pair are written from.
struct RulePair {
  std::span<const Symbol> source, target;  // words
  std::span<const Link> links;
  const Frontier* frontier = nullptr;        // of the links
  std::span<const Symbol> node_labels = {};  // by node of the forest
  Heads heads = {};                          // of the target words; none: target sides have no structure
  std::span<const Symbol> tags = {};         // labels of the target words, or none
};

class RuleWriter {
 public:
  void assign(const RulePair& pair);

  // `holes` are what the fragment's variables, from left to right, stand for on the target side: in any order there,
  // all within `target`. What was given before is overwritten.
  CodedRule fragment(const Fragment& fragment, Span target, std::span<const Span> holes);
  // Words alone. An ill-formed structure is marked as such: it has a number more than there are words.
  CodedRule phrase(const PhrasePair& phrase, bool ill_formed);

 private:
  void write_target(Span target, std::span<const Span> holes, bool ill_formed);
  void append_links(std::uint32_t word, std::uint32_t place);

  RulePair pair_;
  CodedSentence source_words_, target_words_;
  std::string source_, target_, alignment_, labels_;
  std::vector<std::uint32_t> order_;  // of holes on the target side
  std::vector<Span> in_order_;
  std::vector<std::uint32_t> places_;  // by target word: its symbol's place, or that of the variable which covers it
};

}  // namespace treeglot
