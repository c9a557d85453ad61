// The lexicon of a trained level: words as they were seen, rare ones smoothed by the class they look like, and the
// classes themselves for words never seen.
#include <algorithm>
#include <map>
#include <numeric>
#include <span>

#include "parse/trainer.h"

namespace treeglot {
namespace {

constexpr double kRare = 10.0;        // words seen less often are smoothed
constexpr double kClassWeight = 1.0;  // what the class of a rare word counts, in occurrences
constexpr double kClassRare = 3.0;    // words seen so often or less say how words look that were never seen
constexpr double kWiderWeight = 2.0;  // what a wider class counts for a narrower one
constexpr double kLeastTag = 1e-3;    // a class gives no tag that is less likely: lexicons stay small, charts sparse

using States = std::vector<double>;  // by state of the level

}  // namespace

// With counts c of states t, words w and classes u, P(w | t) = P(t | w) c(w) / c(t), where for a rare word
//   P(t | w) = (c(t, w) + k P(t | u)) / (c(w) + k),
// and for an unseen one P(t | u) / c(t): as if it had been seen once. Sub-states then get a part of the mean over those
// of their tag (Petrov et al. 2006, section 2.3).
void Trainer::add_words(const std::vector<double>& counts, double smooth, Level& out) const {
  const std::size_t lexical = static_cast<std::size_t>(RuleKind::lexical);
  const auto rules = bank_->rules(RuleKind::lexical);
  const std::uint32_t states = level_.total_states();
  const std::size_t known = bank_->words().size();
  std::vector<double> word_count(known, 0.0), state_count(states, 0.0);
  std::vector<std::vector<std::uint32_t>> rules_of(known);
  for (std::uint32_t r = 0; r < rules.size(); ++r) {
    rules_of[rules[r].left].push_back(r);
    for (std::uint32_t h = 0; h < level_.states[rules[r].head]; ++h) {
      const double count = counts[level_.at[lexical][r] + h];
      word_count[rules[r].left] += count;
      state_count[level_.first[rules[r].head] + h] += count;
    }
  }
  // Occurrences of rare words go to all classes that they could have been taken for; where the word stands matters.
  std::map<std::pair<Symbol, std::uint32_t>, double> at_start;  // occurrences of (word, rule) that begin a sentence
  for (std::size_t t = 0; t < bank_->size(); ++t) {
    for (const BankNode& node : (*bank_)[t]) {
      if (node.kind == RuleKind::lexical && node.position == 0) at_start[{node.word, node.rule}] += 1.0;
    }
  }
  std::map<std::string, States> classes;
  std::map<std::string, std::string> wider;
  std::vector<std::string> class_of(known);
  for (Symbol word = 0; word < known; ++word) {
    if (word_count[word] >= kRare - 0.5) continue;
    const std::string_view text = bank_->words().text(word);
    const Symbol lower = bank_->words().find(lower_first(grammar_->signature, text));
    for (const std::size_t position : {std::size_t{1}, std::size_t{0}}) {
      const std::vector<std::string> names =
          signatures(grammar_->signature, text, position, lower != Symbols::kNone && lower != word);
      if (position == 1) class_of[word] = names.front();
      for (std::size_t n = 0; n + 1 < names.size(); ++n) wider.emplace(names[n], names[n + 1]);
      for (const std::string& name : names) {
        States& sums = classes.try_emplace(name, states, 0.0).first->second;
        if (word_count[word] > kClassRare + 0.5) continue;
        for (const std::uint32_t r : rules_of[word]) {
          double total = 0.0;
          for (std::uint32_t h = 0; h < level_.states[rules[r].head]; ++h) total += counts[level_.at[lexical][r] + h];
          const auto found = at_start.find({word, r});
          const double starts = found == at_start.end() ? 0.0 : found->second;
          const double part = total > 0.0 ? (position == 0 ? starts : total - starts) / total : 0.0;
          for (std::uint32_t h = 0; h < level_.states[rules[r].head]; ++h)
            sums[level_.first[rules[r].head] + h] += part * counts[level_.at[lexical][r] + h];
        }
      }
    }
  }
  // P(t | u), widest first: a narrow class leans on the one around it.
  const std::string widest = "UNK";
  const auto total_of = [](const States& sums) {
    double sum = 0.0;
    for (const double value : sums) sum += value;
    return sum;
  };
  States& all = classes.try_emplace(widest, states, 0.0).first->second;
  if (total_of(all) <= 0.0) all = state_count;  // no rare words: an unseen one may be anything
  std::map<std::string, States> given;
  const auto distribution = [&](const std::string& name) -> const States& {
    std::vector<std::string> chain = {name};
    while (chain.back() != widest && !given.contains(chain.back())) {
      const auto found = wider.find(chain.back());
      chain.push_back(found == wider.end() ? widest : found->second);
    }
    for (std::size_t i = chain.size(); i-- > 0;) {
      if (given.contains(chain[i])) continue;
      States out_states = classes.at(chain[i]);
      const double total = total_of(out_states);
      const States* around = i + 1 < chain.size() ? &given.at(chain[i + 1]) : nullptr;
      for (std::uint32_t s = 0; s < states; ++s) {
        out_states[s] = around == nullptr ? out_states[s] / total
                                          : (out_states[s] + kWiderWeight * (*around)[s]) / (total + kWiderWeight);
      }
      for (Symbol label = 0; label < level_.states.size(); ++label) {
        const auto begin = out_states.begin() + level_.first[label], end = out_states.begin() + level_.first[label + 1];
        if (std::accumulate(begin, end, 0.0) < kLeastTag) std::fill(begin, end, 0.0);
      }
      given.emplace(chain[i], std::move(out_states));
    }
    return given.at(name);
  };

  std::vector<std::pair<Symbol, LexicalRule>> made;
  const auto emit = [&](Symbol word, const States& probabilities, double count) {
    for (Symbol label = 0; label < level_.states.size(); ++label) {
      bool any = false;
      for (std::uint32_t s = level_.first[label]; s < level_.first[label + 1]; ++s) any |= probabilities[s] > 0.0;
      if (!any) continue;
      made.push_back({word, {label, out.scores.size()}});
      for (std::uint32_t s = level_.first[label]; s < level_.first[label + 1]; ++s)
        out.scores.push_back(state_count[s] > 0.0 ? std::min(1.0, probabilities[s] * count / state_count[s]) : 0.0);
      if (level_.states[label] == 1) continue;
      const auto block = std::span(out.scores).last(level_.states[label]);
      const double mean = std::accumulate(block.begin(), block.end(), 0.0) / static_cast<double>(block.size());
      for (double& score : block) score = (1.0 - smooth) * score + smooth * mean;
    }
  };
  States probabilities(states);
  for (Symbol word = 0; word < known; ++word) {
    std::fill(probabilities.begin(), probabilities.end(), 0.0);
    const bool rare = word_count[word] < kRare - 0.5;
    const double weight = rare ? kClassWeight : 0.0;
    if (rare) {
      const States& around = distribution(class_of[word]);
      for (std::uint32_t s = 0; s < states; ++s) probabilities[s] = weight * around[s];
    }
    for (const std::uint32_t r : rules_of[word]) {
      for (std::uint32_t h = 0; h < level_.states[rules[r].head]; ++h)
        probabilities[level_.first[rules[r].head] + h] += counts[level_.at[lexical][r] + h];
    }
    for (double& p : probabilities) p /= word_count[word] + weight;
    emit(word, probabilities, word_count[word]);
  }
  for (const auto& [name, sums] : classes) {
    if (name == widest || total_of(sums) > 0.0) emit(grammar_->words.intern(name), distribution(name), 1.0);
  }
  std::stable_sort(made.begin(), made.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  out.first_tag.assign(grammar_->words.size() + 1, 0);
  for (const auto& [word, rule] : made) {
    ++out.first_tag[word + 1];
    out.tags.push_back(rule);
  }
  for (std::size_t w = 1; w < out.first_tag.size(); ++w) out.first_tag[w] += out.first_tag[w - 1];
}

}  // namespace treeglot
