// What an output must look like, and the translation forest of the outputs that do.
//
// Constraints on words are one thing: finite automata that read the output from left to right. They are its exact words
// (forced decoding), its first words (completion), phrases that it contains, and phrases that it never contains. A node
// of a forest does not know where its words will stand. It therefore carries their effect: the map from each state
// before the words to the state after them. Effects of neighbours compose, whatever order a rule puts its variables in.
//
// `restrict_forest` intersects a translation forest with the automata (Bar-Hillel et al. 1961): a node of the result is
// an old node with an effect. Matchers, features, search, k-best lists and reading stay as they are, and every node has
// pops of its own, so that the search cannot lose what the constraints ask for. Steps that a derivation must take are
// kept in the same way: a node carries which of them are below it.
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

// All that is given holds at once. Words are the target words of rules.
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
  using Effect = std::uint32_t;
  static constexpr Effect kDead = 0xffffffffu;  // no output has these words
  static constexpr Effect kNothing = 0;         // the effect of no words

  // Adds the constraints' words to those of the sentence, which `glue` has.
  TargetAutomata(const TargetConstraints& constraints, Glue& glue);

  Effect word(std::int32_t number);
  Effect join(Effect first, Effect second);
  // The same where nothing stands on its left or right (EdgePlace): less remains possible.
  Effect at(Effect effect, std::uint8_t place);
  bool accepts(Effect effect) const;  // of a whole output

  // Of an effect on the exact words, where there are some: calls visit(begin, end) for each place of the words.
  template <class Visit>
  void places(Effect effect, const Visit& visit) const {
    for (State state = 0; state < exact_states_; ++state)
      if (const State after = maps_[effect * width() + state]; after != kNone) visit(state, after);
  }

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
};

// A part of the exact words that some rules give for a part of the input.
struct ReachedPart {
  Span source, target;
  std::string label;
};

// The derivations that meet the constraints; without a goal if there are none. New alternatives live in `glue`.
// `reading` says what steps the edges of the forest are; the input has so many `words`. With `reached`, the parts of
// the exact words that can be reached, largest first and without overlap.
TranslationForest restrict_forest(const TranslationForest& forest, const TargetConstraints& constraints,
                                  const Reading& reading, Glue& glue, std::size_t words,
                                  std::vector<ReachedPart>* reached = nullptr);

}  // namespace treeglot
