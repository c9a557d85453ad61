// What an output must look like, and the translation forest of the outputs that do.
//
// Constraints on words are one thing: finite automata that read the output from left to right. They are its exact words
// (forced decoding), its first words (completion), phrases that it contains, and phrases that it never contains.
//
// `restrict_forest` intersects a translation forest with the automata (Bar-Hillel et al. 1961). A node of the result is
// an old node with the states before and after its words. It begins with the goal and the automata's first states, and
// asks for nodes with states that words on their left lead to (Earley 1970). Matchers, features, search, k-best lists
// and reading stay as they are. Every node has its own pops, so the search cannot lose what the constraints ask for.
// Steps that a derivation must take are kept in the same way: a node carries which of them are below it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash_index.h"
#include "base/span.h"
#include "decode/derivation.h"
#include "decode/glue.h"
#include "decode/translation_forest.h"

namespace treeglot {

// A step that every derivation takes: a node of the input, and the rule that is used there; nothing stands for any.
struct RequiredStep {
  Span span;
  std::string label;  // as Step has it; empty: any
  std::optional<std::string> source, target;
};

// All given constraints hold at once. Words are the target words of rules.
struct TargetConstraints {
  std::optional<std::vector<std::string>> exactly;
  std::vector<std::string> prefix;                         // the first words
  std::string part;                                        // what the word after them begins with; empty: anything
  std::vector<std::vector<std::string>> contains, forbid;  // phrases
  std::vector<RequiredStep> steps;

  bool empty() const {
    return !exactly && prefix.empty() && part.empty() && contains.empty() && forbid.empty() && steps.empty();
  }
};

// The automata of one sentence, and the effects that words have on them.
class TargetAutomata {
 public:
  // Of some words: the map from each state before them to the state after them.
  using Effect = std::uint32_t;
  static constexpr Effect kNothing = 0;  // the effect of no words
  // A state of every automaton.
  using Place = std::uint32_t;
  static constexpr Place kStart = 0;
  static constexpr Place kAnywhere = 0xfffffffeu;      // of words that are no part of the output
  static constexpr std::uint32_t kDead = 0xffffffffu;  // an effect or a place that no output has

  // Adds the constraints' words to those of the sentence, which `glue` has.
  TargetAutomata(const TargetConstraints& constraints, Glue& glue);

  Effect word(std::int32_t number);
  Effect join(Effect first, Effect second);
  Place move(Place from, Effect effect);
  // The place at the end of an output. All accepted outputs end in the same place.
  Place end(Place place);

  // The place after so many of the exact words, where there are some and no other constraints; and how many these are.
  Place after(std::size_t words) { return place({static_cast<State>(words)}); }
  std::size_t words_before(Place place) const { return places_[place]; }
  std::size_t exact_words() const { return exact_states_ - std::size_t{1}; }

 private:
  using State = std::uint16_t;
  static constexpr State kNone = 0xffff;

  struct Part {  // one automaton; its states are numbered from `begin` on, and `begin` is where it starts
    State begin, end;
  };
  struct Phrases {  // words that are read wherever they stand (Aho and Corasick 1975)
    State first;
    std::vector<std::unordered_map<std::int32_t, State>> next;  // by state: the trie
    std::vector<State> fallback;
    std::vector<bool> ends;  // whether a phrase ends here
    bool wanted;             // or forbidden
  };

  std::size_t width() const { return accepting_.size(); }
  State add_states(std::size_t number, bool accepting);
  void add_words(const std::vector<std::string>& words, bool whole, Glue& glue);
  void add_phrases(std::span<const std::vector<std::string>> phrases, bool wanted, Glue& glue);
  State step(const Phrases& phrases, State state, std::int32_t word) const;
  Effect intern(std::span<const State> map);
  bool dead(std::span<const State> map) const;
  Place place(std::vector<State> states);

  const Glue& glue_;
  std::vector<Part> parts_;
  std::vector<bool> accepting_;     // by state
  std::vector<std::int32_t> read_;  // by state of exact and first words: the word that leads on, or one of these
  static constexpr std::int32_t kStop = -1, kAny = -2, kPart = -3;
  State exact_states_ = 0;
  std::string part_;
  std::vector<Phrases> phrases_;

  std::unordered_map<std::int32_t, Effect> words_;
  std::vector<State> maps_;  // by effect and state
  HashIndex effects_;
  std::vector<std::pair<std::uint64_t, Effect>> joined_;
  HashIndex joins_;
  std::vector<State> places_;  // by place and automaton
  HashIndex place_index_;
  std::vector<std::pair<std::uint64_t, Place>> moved_;
  HashIndex moves_;
};

// A part of an output that some rules give for a part of the input.
struct ReachedPart {
  Span source, target;
  std::string label;
};

// The derivations that meet the constraints; without a goal if there are none. New alternatives live in `glue`.
// `reading` says what steps the edges of the forest are; the input has so many `words`.
TranslationForest restrict_forest(const TranslationForest& forest, const TargetConstraints& constraints,
                                  const Reading& reading, Glue& glue, std::size_t words);

// Which words are in the target sides of a forest's rules.
std::vector<bool> words_there(const TranslationForest& forest, std::span<const std::int32_t> words);

// The derivations without some words, as restrict_forest finds them, in a fraction of its time. Nothing if a rule
// leaves out what a tail gives: such words are forbidden in outputs alone.
std::optional<TranslationForest> without_words(const TranslationForest& forest, std::span<const std::int32_t> words,
                                               Glue& glue);

// The parts of an output that rules give, the largest first, and without overlap.
std::vector<ReachedPart> reached_parts(const TranslationForest& forest, const std::vector<std::string>& target,
                                       const Reading& reading, Glue& glue);

}  // namespace treeglot
