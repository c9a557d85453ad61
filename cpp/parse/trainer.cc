#include "parse/trainer.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "base/random.h"

namespace treeglot {
namespace {

constexpr std::string_view kMagic = "treeglot parser training 1\n";
constexpr RuleKind kKinds[] = {RuleKind::lexical, RuleKind::unary, RuleKind::binary};

std::size_t index(RuleKind kind) { return static_cast<std::size_t>(kind); }

// The scores of a rule: one for each combination of its children's sub-states and each state of the head.
struct Block {
  Block(RuleKind kind, const BankRule& rule, const std::vector<std::uint32_t>& states)
      : lefts(kind == RuleKind::lexical ? 1 : states[rule.left]),
        rights(kind == RuleKind::binary ? states[rule.right] : 1),
        heads(states[rule.head]) {}

  std::size_t rows() const { return lefts * rights; }
  std::size_t size() const { return rows() * heads; }
  std::size_t at(std::size_t left, std::size_t right, std::size_t head) const {
    return (left * rights + right) * heads + head;
  }
  // action(left, right, head), in the order of the scores.
  template <class Do>
  void for_each(Do action) const {
    for (std::size_t left = 0; left < lefts; ++left)
      for (std::size_t right = 0; right < rights; ++right)
        for (std::size_t head = 0; head < heads; ++head) action(left, right, head);
  }

  std::size_t lefts, rights, heads;
};

template <class Do>
void for_each_rule(const Treebank& bank, Do action) {
  for (const RuleKind kind : kKinds) {
    const auto rules = bank.rules(kind);
    for (std::uint32_t r = 0; r < rules.size(); ++r) action(kind, r, rules[r]);
  }
}

void check_share(const char* name, double value) {
  if (!(value >= 0.0 && value <= 1.0)) {
    throw std::invalid_argument(std::string(name) + " is " + std::to_string(value) + "; expected a number from 0 to 1");
  }
}

void append_bytes(std::string& out, const void* data, std::size_t size) {
  out.append(static_cast<const char*>(data), size);
}

template <class T>
void append_array(std::string& out, const std::vector<T>& values) {
  const std::uint64_t size = values.size();
  append_bytes(out, &size, sizeof size);
  append_bytes(out, values.data(), values.size() * sizeof(T));
}

[[noreturn]] void refuse_state() { throw std::invalid_argument("the saved state of training is damaged"); }

// Each label has a state or more, and so few that products of three can be counted.
void check_states(const std::vector<std::uint32_t>& states, std::size_t labels) {
  const auto bad = [](std::uint32_t number) { return number == 0 || number > 1u << 16; };
  if (states.size() != labels || std::ranges::any_of(states, bad)) refuse_state();
}

// Each label's states are parts of all its states in the level below, in order.
void check_coarse(const std::vector<std::uint32_t>& coarse, const std::vector<std::uint32_t>& first,
                  const Level& below) {
  if (coarse.size() != first.back()) refuse_state();
  for (std::size_t label = 0; label + 1 < first.size(); ++label) {
    std::uint32_t next = below.first[label];
    for (std::uint32_t state = first[label]; state < first[label + 1]; ++state) {
      if (coarse[state] != next && (state == first[label] || coarse[state] + 1 != next)) refuse_state();
      next = coarse[state] + 1;
    }
    if (next != below.first[label + 1]) refuse_state();
  }
}

// Refuses a level with a number that leads nowhere. `below` is the one before it, if there is one.
void check_level(const Level& level, const Level* below, std::size_t labels, std::size_t words) {
  const auto fits = [&](std::uint64_t at, std::uint64_t size) {
    return at <= level.scores.size() && size <= level.scores.size() - at;
  };
  const auto states = [&](Symbol label) -> std::uint64_t { return level.states[label]; };
  if (below != nullptr) check_coarse(level.coarse, level.first, *below);
  bool good = below != nullptr || level.coarse.empty();
  for (const UnaryRule& rule : level.unary) good = good && fits(rule.at, states(rule.head) * states(rule.child));
  for (const BinaryRule& rule : level.binary)
    good = good && fits(rule.at, states(rule.head) * states(rule.left) * states(rule.right));
  for (const LexicalRule& rule : level.tags) good = good && rule.tag < labels && fits(rule.at, states(rule.tag));
  good = good && !level.first_tag.empty() && level.first_tag.size() <= words + 1 && level.first_tag.front() == 0 &&
         std::ranges::is_sorted(level.first_tag) && level.first_tag.back() == level.tags.size();
  for (const double score : level.scores) good = good && score >= 0.0 && score <= 2.0;
  if (!good) refuse_state();
}

template <class T>
T take_value(std::string_view& bytes) {
  T value;
  if (bytes.size() < sizeof value) refuse_state();
  std::memcpy(&value, bytes.data(), sizeof value);
  bytes.remove_prefix(sizeof value);
  return value;
}

template <class T>
std::vector<T> take_array(std::string_view& bytes) {
  const std::uint64_t size = take_value<std::uint64_t>(bytes);
  if (size > bytes.size() / sizeof(T)) refuse_state();
  std::vector<T> out(size);
  if (size > 0) std::memcpy(out.data(), bytes.data(), size * sizeof(T));  // nothing has no address
  bytes.remove_prefix(size * sizeof(T));
  return out;
}

}  // namespace

Trainer::Trainer(std::shared_ptr<const Treebank> bank, SignatureKind signature,
                 std::shared_ptr<const WordClasses> classes)
    : bank_(std::move(bank)), grammar_(std::make_shared<SplitGrammar>()) {
  if (bank_->size() == 0) throw std::invalid_argument("no trees to train on");
  for (Symbol label = 0; label < bank_->labels().size(); ++label) grammar_->labels.intern(bank_->labels().text(label));
  for (Symbol word = 0; word < bank_->words().size(); ++word) grammar_->words.intern(bank_->words().text(word));
  grammar_->signature = signature;
  grammar_->classes = std::move(classes);
  level_.states.assign(bank_->labels().size(), 1);
  level_.lay_out(*bank_);
  for (std::size_t t = 0; t < bank_->size(); ++t) {
    for (const BankNode& node : (*bank_)[t]) level_.scores[level_.at[index(node.kind)][node.rule]] += 1.0;
  }
  normalise();
}

// Probabilities from counts: they sum to 1 over the rules of every state that has any.
void Trainer::normalise() {
  std::vector<double> totals(level_.total_states(), 0.0);
  for (const bool divide : {false, true}) {
    for_each_rule(*bank_, [&](RuleKind kind, std::uint32_t r, const BankRule& rule) {
      const Block block(kind, rule, level_.states);
      double* score = level_.scores.data() + level_.at[index(kind)][r];
      double* total = totals.data() + level_.first[rule.head];
      block.for_each([&](std::size_t, std::size_t, std::size_t h) {
        if (!divide) {
          total[h] += *score;
        } else if (total[h] > 0.0) {
          *score /= total[h];
        }
        ++score;
      });
    });
  }
}

double Trainer::log_likelihood(unsigned threads) const { return expect(*bank_, level_, threads, false).log_likelihood; }

double Trainer::em(unsigned threads) {
  Expectation found = expect(*bank_, level_, threads, true);
  level_.scores = std::move(found.counts);
  normalise();
  return found.log_likelihood;
}

// Whether the level as it is is the last of the grammar.
bool Trainer::finished() const {
  if (grammar_->levels.empty()) return false;
  const Level& last = grammar_->levels.back();
  return level_.states == last.states && level_.coarse == last.coarse;
}

void Trainer::split(std::uint64_t seed, double noise) {
  check_share("noise", noise);
  const bool from_finished = finished() || grammar_->levels.empty();
  TrainingLevel old = std::move(level_);
  level_ = TrainingLevel();
  for (Symbol label = 0; label < old.states.size(); ++label)
    level_.states.push_back(label == grammar_->root ? old.states[label] : 2 * old.states[label]);
  level_.lay_out(*bank_);
  for (Symbol label = 0; label < old.states.size(); ++label) {
    for (std::uint32_t s = 0; s < level_.states[label]; ++s) {
      const std::uint32_t before = old.first[label] + (label == grammar_->root ? s : s / 2);
      level_.coarse.push_back(from_finished ? before : old.coarse[before]);
    }
  }
  Random random(seed);
  const auto old_state = [&](Symbol label, std::size_t s) { return label == grammar_->root ? s : s / 2; };
  for_each_rule(*bank_, [&](RuleKind kind, std::uint32_t r, const BankRule& rule) {
    const Block block(kind, rule, level_.states), before(kind, rule, old.states);
    const double* from = old.scores.data() + old.at[index(kind)][r];
    double* to = level_.scores.data() + level_.at[index(kind)][r];
    const double part = static_cast<double>(before.rows()) / static_cast<double>(block.rows());
    block.for_each([&](std::size_t x, std::size_t y, std::size_t h) {  // what a rule has none of is 0 in both
      const double score = from[before.at(old_state(rule.left, x), old_state(rule.right, y), old_state(rule.head, h))];
      *to++ = score * part * (1.0 + noise * (2.0 * random.uniform() - 1.0));
    });
  });
  normalise();
  split_ = true;
}

// How often each state is expected.
std::vector<double> Trainer::expected_states(unsigned threads) const {
  const Expectation found = expect(*bank_, level_, threads, true);
  std::vector<double> often(level_.total_states(), 0.0);
  for_each_rule(*bank_, [&](RuleKind kind, std::uint32_t r, const BankRule& rule) {
    const double* count = found.counts.data() + level_.at[index(kind)][r];
    Block(kind, rule, level_.states).for_each([&](std::size_t, std::size_t, std::size_t h) {
      often[level_.first[rule.head] + h] += *count++;
    });
  });
  return often;
}

std::size_t Trainer::merge(double share, unsigned threads) {
  if (!split_) throw std::invalid_argument("nothing was split that could be merged");
  check_share("share", share);
  const std::vector<double> often = expected_states(threads);
  std::vector<double> part(level_.total_states(), 0.0);  // of a state in its pair
  std::vector<std::uint32_t> pairs;
  for (Symbol label = 0; label < level_.states.size(); ++label) {
    for (std::uint32_t s = level_.first[label]; s < level_.first[label + 1]; s += 2) {
      if (label == grammar_->root) continue;
      pairs.push_back(s);
      const double sum = often[s] + often[s + 1];
      part[s] = sum > 0.0 ? often[s] / sum : 0.5;
      part[s + 1] = 1.0 - part[s];
    }
  }
  const std::vector<double> gains = merging_gains(*bank_, level_, pairs, part, threads);
  std::vector<std::uint32_t> order(pairs.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return gains[a] > gains[b]; });
  const std::size_t merged = static_cast<std::size_t>(share * static_cast<double>(pairs.size()));
  std::vector<std::uint8_t> is_merged(level_.total_states(), 0);
  for (std::size_t i = 0; i < merged; ++i) is_merged[pairs[order[i]]] = is_merged[pairs[order[i]] + 1] = 1;
  merge_states(is_merged, part);
  split_ = false;
  return merged;
}

// Makes one state of each pair whose members are both merged, with their shares of it.
void Trainer::merge_states(std::span<const std::uint8_t> is_merged, std::span<const double> part) {
  TrainingLevel old = std::move(level_);
  level_ = TrainingLevel();
  std::vector<std::uint32_t> target(old.total_states());  // sub-state of the same label
  level_.states.assign(old.states.size(), 0);
  for (Symbol label = 0; label < old.states.size(); ++label) {
    for (std::uint32_t s = old.first[label]; s < old.first[label + 1]; ++s) {
      const bool second = is_merged[s] && (s - old.first[label]) % 2 == 1;
      target[s] = second ? level_.states[label] - 1 : level_.states[label]++;
      if (!second) level_.coarse.push_back(old.coarse[s]);
    }
  }
  level_.lay_out(*bank_);
  for_each_rule(*bank_, [&](RuleKind kind, std::uint32_t r, const BankRule& rule) {
    const Block block(kind, rule, level_.states), before(kind, rule, old.states);
    const double* from = old.scores.data() + old.at[index(kind)][r];
    double* to = level_.scores.data() + level_.at[index(kind)][r];
    before.for_each([&](std::size_t x, std::size_t y, std::size_t h) {
      const std::size_t new_x = kind == RuleKind::lexical ? 0 : target[old.first[rule.left] + x];
      const std::size_t new_y = kind == RuleKind::binary ? target[old.first[rule.right] + y] : 0;
      const std::size_t state = old.first[rule.head] + h;
      to[block.at(new_x, new_y, target[state])] += (is_merged[state] ? part[state] : 1.0) * *from++;
    });
  });
}

void Trainer::smooth(double grammar, double lexicon) {
  check_share("grammar", grammar);
  check_share("lexicon", lexicon);
  for_each_rule(*bank_, [&](RuleKind kind, std::uint32_t r, const BankRule& rule) {
    const Block block(kind, rule, level_.states);
    const double part = kind == RuleKind::lexical ? lexicon : grammar;
    for (std::size_t row = 0; row < block.rows(); ++row) {
      const auto scores = std::span(level_.scores).subspan(level_.at[index(kind)][r] + row * block.heads, block.heads);
      const double mean = std::accumulate(scores.begin(), scores.end(), 0.0) / static_cast<double>(block.heads);
      for (double& score : scores) score = (1.0 - part) * score + part * mean;
    }
  });
}

void Trainer::finish_level(unsigned threads, double least, double lexicon) {
  check_share("least", least);
  check_share("lexicon", lexicon);
  if (grammar_->levels.empty()) {
    level_.coarse.clear();  // there is nothing below it
  } else if (finished()) {  // each state is a part of itself
    level_.coarse.resize(level_.total_states());
    std::iota(level_.coarse.begin(), level_.coarse.end(), 0u);
  }
  Level out;
  out.states = level_.states;
  out.number_states();
  out.coarse = level_.coarse;
  const auto copy = [&](std::size_t at, std::size_t size) {
    const std::size_t begin = out.scores.size();
    for (std::size_t i = 0; i < size; ++i) {
      const double score = level_.scores[at + i];
      out.scores.push_back(score < least ? 0.0 : score);
    }
    return begin;
  };
  const auto unary = bank_->rules(RuleKind::unary), binary = bank_->rules(RuleKind::binary);
  for (std::size_t r = 0; r < unary.size(); ++r) {
    const std::size_t size = Block(RuleKind::unary, unary[r], level_.states).size();
    out.unary.push_back({unary[r].head, unary[r].left, copy(level_.at[index(RuleKind::unary)][r], size)});
  }
  for (std::size_t r = 0; r < binary.size(); ++r) {
    const BankRule& rule = binary[r];
    const std::size_t size = Block(RuleKind::binary, rule, level_.states).size();
    out.binary.push_back({rule.head, rule.left, rule.right, copy(level_.at[index(RuleKind::binary)][r], size)});
  }
  add_words(expect(*bank_, level_, threads, true).counts, lexicon, out);
  // The grammar may be in use by parsers: it is never changed, but followed by another.
  auto next = std::make_shared<SplitGrammar>();
  for (Symbol label = 0; label < grammar_->labels.size(); ++label) next->labels.intern(grammar_->labels.text(label));
  next->signature = grammar_->signature;
  next->classes = grammar_->classes;
  next->root = grammar_->root;
  next->levels = grammar_->levels;
  next->levels.push_back(std::move(out));
  for (Symbol word = 0; word < grammar_->words.size(); ++word) next->words.intern(grammar_->words.text(word));
  grammar_ = std::move(next);
}

std::uint64_t Trainer::hash() const {
  std::uint64_t out = bank_->hash();
  const WordClasses* classes = grammar_->classes.get();
  for (std::size_t i = 0; classes != nullptr && i < classes->size(); ++i)
    out = hash_bytes(in_word_class(classes->word(i), classes->of(i)), out);
  return out;
}

std::string Trainer::state() const {
  std::string out(kMagic);
  const std::uint64_t from = hash();
  append_bytes(out, &from, sizeof from);
  out += split_ ? '\1' : '\0';
  append_array(out, level_.states);
  append_array(out, level_.coarse);
  append_array(out, level_.scores);
  const std::uint64_t levels = grammar_->levels.size();
  append_bytes(out, &levels, sizeof levels);
  for (const Level& level : grammar_->levels) {
    append_array(out, level.states);
    append_array(out, level.coarse);
    append_array(out, level.scores);
    append_array(out, level.first_tag);
    std::vector<std::uint64_t> rules;
    for (const UnaryRule& rule : level.unary) rules.push_back(rule.at);
    for (const BinaryRule& rule : level.binary) rules.push_back(rule.at);
    for (const LexicalRule& rule : level.tags) {
      rules.push_back(rule.tag);
      rules.push_back(rule.at);
    }
    append_array(out, rules);
  }
  const std::uint64_t words = grammar_->words.size() - bank_->words().size();
  append_bytes(out, &words, sizeof words);
  for (std::size_t w = bank_->words().size(); w < grammar_->words.size(); ++w) {
    const std::string_view text = grammar_->words.text(static_cast<Symbol>(w));
    append_array(out, std::vector<char>(text.begin(), text.end()));
  }
  return out;
}

static Level take_level(std::string_view& bytes, const Treebank& bank) {
  Level out;
  out.states = take_array<std::uint32_t>(bytes);
  check_states(out.states, bank.labels().size());
  out.number_states();
  out.coarse = take_array<std::uint32_t>(bytes);
  out.scores = take_array<double>(bytes);
  out.first_tag = take_array<std::uint32_t>(bytes);
  const std::vector<std::uint64_t> rules = take_array<std::uint64_t>(bytes);
  const auto unary = bank.rules(RuleKind::unary), binary = bank.rules(RuleKind::binary);
  if (rules.size() < unary.size() + binary.size()) refuse_state();
  std::size_t at = 0;
  for (const BankRule& rule : unary) out.unary.push_back({rule.head, rule.left, rules[at++]});
  for (const BankRule& rule : binary) out.binary.push_back({rule.head, rule.left, rule.right, rules[at++]});
  for (; at + 1 < rules.size(); at += 2) out.tags.push_back({static_cast<Symbol>(rules[at]), rules[at + 1]});
  return out;
}

void Trainer::restore(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) refuse_state();
  bytes.remove_prefix(kMagic.size());
  if (take_value<std::uint64_t>(bytes) != hash())
    throw std::invalid_argument("the saved state of training is that of other trees, options or word classes");
  const bool split = take_value<char>(bytes) != 0;
  TrainingLevel level;
  level.states = take_array<std::uint32_t>(bytes);
  level.coarse = take_array<std::uint32_t>(bytes);
  std::vector<double> scores = take_array<double>(bytes);
  check_states(level.states, bank_->labels().size());
  std::size_t total = 0;
  for_each_rule(*bank_, [&](RuleKind kind, std::uint32_t r, const BankRule&) { total += level.size(*bank_, kind, r); });
  if (scores.size() != total) refuse_state();
  for (Symbol label = 0; split && label < level.states.size(); ++label)
    if (label != grammar_->root && level.states[label] % 2 != 0) refuse_state();
  level.lay_out(*bank_);
  level.scores = std::move(scores);
  auto grammar = std::make_shared<SplitGrammar>();
  for (Symbol label = 0; label < bank_->labels().size(); ++label) grammar->labels.intern(bank_->labels().text(label));
  for (Symbol word = 0; word < bank_->words().size(); ++word) grammar->words.intern(bank_->words().text(word));
  grammar->signature = grammar_->signature;
  grammar->classes = grammar_->classes;
  for (std::uint64_t levels = take_value<std::uint64_t>(bytes); levels > 0; --levels)
    grammar->levels.push_back(take_level(bytes, *bank_));
  for (std::uint64_t words = take_value<std::uint64_t>(bytes); words > 0; --words) {
    const std::vector<char> text = take_array<char>(bytes);
    grammar->words.intern({text.data(), text.size()});
  }
  if (!bytes.empty()) refuse_state();
  for (std::size_t i = 0; i < grammar->levels.size(); ++i)
    check_level(grammar->levels[i], i == 0 ? nullptr : &grammar->levels[i - 1], grammar->labels.size(),
                grammar->words.size());
  // The level at hand lies above the last one that is finished, or is that one.
  const std::vector<Level>& done = grammar->levels;
  const bool same = !done.empty() && level.states == done.back().states && level.coarse == done.back().coarse;
  if (!same && !done.empty()) check_coarse(level.coarse, level.first, done.back());
  if (split && (same || level.coarse.size() != level.total_states())) refuse_state();
  level_ = std::move(level);
  grammar_ = std::move(grammar);
  split_ = split;
}

}  // namespace treeglot
