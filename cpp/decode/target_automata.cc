#include <algorithm>
#include <deque>
#include <stdexcept>

#include "decode/target_constraints.h"

namespace treeglot {
namespace {

void check_phrase(const std::vector<std::string>& phrase, const char* what) {
  if (phrase.empty()) throw std::invalid_argument(std::string(what) + " has no words; expected at least one");
}

}  // namespace

TargetAutomata::TargetAutomata(const TargetConstraints& constraints, Glue& glue)
    : glue_(glue), part_(constraints.part) {
  if (constraints.exactly) {
    check_phrase(*constraints.exactly, "the output that was given");
    add_words(*constraints.exactly, true, glue);
    exact_states_ = parts_.back().end;
  }
  if (!constraints.prefix.empty() || !part_.empty()) add_words(constraints.prefix, false, glue);
  for (const auto& phrase : constraints.contains) add_phrases({&phrase, 1}, true, glue);
  if (!constraints.forbid.empty()) add_phrases(constraints.forbid, false, glue);
  std::vector<State> same(width());
  for (State state = 0; state < width(); ++state) same[state] = state;
  intern(same);
  std::vector<State> first;
  for (const Part& part : parts_) first.push_back(part.begin);
  place(first);
}

TargetAutomata::State TargetAutomata::add_states(std::size_t number, bool accepting) {
  if (width() + number >= kNone)
    throw std::invalid_argument("the constraints have more than 65,534 words; expected fewer");
  const auto first = static_cast<State>(width());
  accepting_.resize(width() + number, accepting);
  return first;
}

// States count the words that were read. After first words anything may follow.
void TargetAutomata::add_words(const std::vector<std::string>& words, bool whole, Glue& glue) {
  const State begin = add_states(words.size() + 1 + (!whole && !part_.empty() ? 1 : 0), false);
  accepting_.back() = true;
  for (const std::string& word : words) read_.push_back(glue.target_word(word));
  if (!whole && !part_.empty()) read_.push_back(kPart);
  read_.push_back(whole ? kStop : kAny);
  parts_.push_back({begin, static_cast<State>(width())});
}

// Breadth first: the fallback of a state is its longest proper suffix that is in the trie.
template <class State, class Phrases>
static void find_fallbacks(Phrases& made) {
  std::deque<State> open = {0};
  while (!open.empty()) {
    const State at = open.front();
    open.pop_front();
    for (const auto& [word, next] : made.next[at]) {
      open.push_back(next);
      State back = made.fallback[at];
      while (back != 0 && !made.next[back].contains(word)) back = made.fallback[back];
      const auto found = made.next[back].find(word);
      made.fallback[next] = at == 0 || found == made.next[back].end() ? State{0} : found->second;
      if (made.ends[made.fallback[next]]) made.ends[next] = true;
    }
  }
}

void TargetAutomata::add_phrases(std::span<const std::vector<std::string>> phrases, bool wanted, Glue& glue) {
  Phrases made{static_cast<State>(width()), {{}}, {0}, {false}, wanted};
  for (const auto& phrase : phrases) {
    check_phrase(phrase, wanted ? "a phrase that the output must contain" : "a forbidden phrase");
    State at = 0;
    for (const std::string& word : phrase) {
      const auto [next, is_new] =
          made.next[at].try_emplace(glue.target_word(word), static_cast<State>(made.next.size()));
      if (is_new) {
        if (made.next.size() >= kNone)
          throw std::invalid_argument("the constraints have more than 65,534 words; expected fewer");
        at = next->second;
        made.next.emplace_back();
        made.fallback.push_back(0);
        made.ends.push_back(false);
      } else {
        at = next->second;
      }
    }
    made.ends[at] = true;
  }
  find_fallbacks<State>(made);
  const State begin = add_states(made.next.size(), !wanted);
  for (std::size_t state = 0; wanted && state < made.ends.size(); ++state) accepting_[begin + state] = made.ends[state];
  read_.resize(width(), kStop);
  parts_.push_back({begin, static_cast<State>(width())});
  phrases_.push_back(std::move(made));
}

// A wanted phrase stays found; a forbidden one ends it all.
TargetAutomata::State TargetAutomata::step(const Phrases& phrases, State state, std::int32_t word) const {
  if (phrases.wanted && phrases.ends[state]) return static_cast<State>(phrases.first + state);
  for (State at = state;; at = phrases.fallback[at]) {
    const auto found = phrases.next[at].find(word);
    if (found != phrases.next[at].end()) {
      const bool gone = phrases.ends[found->second] && !phrases.wanted;
      return gone ? kNone : static_cast<State>(phrases.first + found->second);
    }
    if (at == 0) return phrases.first;
  }
}

TargetAutomata::Effect TargetAutomata::word(std::int32_t number) {
  const auto [known, is_new] = words_.try_emplace(number, kDead);
  if (!is_new) return known->second;
  std::vector<State> map(width(), kNone);
  for (State state = 0; state < width(); ++state) {
    const std::int32_t read = read_[state];
    if (read == kAny) {
      map[state] = state;
    } else if (read == number || (read == kPart && glue_.text(number).starts_with(part_))) {
      map[state] = static_cast<State>(state + 1);
    }
  }
  for (const Phrases& phrases : phrases_)
    for (State state = 0; state < phrases.next.size(); ++state)
      map[phrases.first + state] = step(phrases, state, number);
  return known->second = intern(map);
}

TargetAutomata::Effect TargetAutomata::join(Effect first, Effect second) {
  if (first == kDead || second == kDead) return kDead;
  if (first == kNothing) return second;
  if (second == kNothing) return first;
  const std::uint64_t key = std::uint64_t{first} << 32 | second;
  const auto next = static_cast<std::uint32_t>(joined_.size());
  const std::uint32_t at =
      joins_.intern(hash_number(key), next, [&](std::uint32_t known) { return joined_[known].first == key; });
  if (at != next) return joined_[at].second;
  std::vector<State> map(width(), kNone);
  for (State state = 0; state < width(); ++state)
    if (const State between = maps_[first * width() + state]; between != kNone)
      map[state] = maps_[second * width() + between];
  const Effect made = intern(map);
  joined_.emplace_back(key, made);
  return made;
}

TargetAutomata::Place TargetAutomata::move(Place from, Effect effect) {
  if (effect == kNothing || from == kAnywhere) return from;
  const std::uint64_t key = std::uint64_t{from} << 32 | effect;
  const auto next = static_cast<std::uint32_t>(moved_.size());
  const std::uint32_t at =
      moves_.intern(hash_number(key), next, [&](std::uint32_t known) { return moved_[known].first == key; });
  if (at != next) return moved_[at].second;
  std::vector<State> states;
  for (std::size_t part = 0; part < parts_.size(); ++part)
    states.push_back(maps_[effect * width() + places_[from * parts_.size() + part]]);
  const Place made = place(std::move(states));
  moved_.emplace_back(key, made);
  return made;
}

TargetAutomata::Place TargetAutomata::end(Place from) {
  if (from == kAnywhere) return from;
  std::vector<State> states;
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    const bool accepted = accepting_[places_[from * parts_.size() + part]];
    states.push_back(accepted ? static_cast<State>(parts_[part].end - 1) : kNone);
  }
  return place(std::move(states));
}

TargetAutomata::Place TargetAutomata::place(std::vector<State> states) {
  if (std::ranges::find(states, kNone) != states.end()) return kDead;
  const std::size_t parts = parts_.size();
  const auto view = [&](const State* at) {
    return std::string_view(reinterpret_cast<const char*>(at), parts * sizeof(State));
  };
  const auto next = static_cast<Place>(parts == 0 ? 0 : places_.size() / parts);
  const Place found = place_index_.intern(hash_bytes(view(states.data())), next, [&](Place known) {
    return view(places_.data() + known * parts) == view(states.data());
  });
  if (found == next) places_.insert(places_.end(), states.begin(), states.end());
  return found;
}

bool TargetAutomata::dead(std::span<const State> map) const {
  return std::ranges::any_of(parts_, [&](const Part& part) {
    return std::ranges::all_of(map.subspan(part.begin, static_cast<std::size_t>(part.end - part.begin)),
                               [](State state) { return state == kNone; });
  });
}

TargetAutomata::Effect TargetAutomata::intern(std::span<const State> map) {
  if (dead(map)) return kDead;
  const auto view = [&](const State* at) {
    return std::string_view(reinterpret_cast<const char*>(at), width() * sizeof(State));
  };
  const auto next = static_cast<Effect>(width() == 0 ? 0 : maps_.size() / width());
  const Effect found = effects_.intern(hash_bytes(view(map.data())), next, [&](Effect known) {
    return view(maps_.data() + known * width()) == view(map.data());
  });
  if (found == next) maps_.insert(maps_.end(), map.begin(), map.end());
  return found;
}

}  // namespace treeglot
