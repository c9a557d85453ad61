// The lexicon of a trained level: words as they were seen, and classes for words never seen. Rare words are smoothed by
// the class that they look like, and by the word class whose neighbours they share.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "parse/trainer.h"

namespace treeglot {
namespace {

constexpr double kRare = 10.0;         // words seen less often are smoothed
constexpr double kClassWeight = 1.0;   // what the class of a rare word counts, in occurrences
constexpr double kClassRare = 3.0;     // words seen so often or less say how words look that were never seen
constexpr double kWiderWeight = 2.0;   // what a wider class counts for a narrower one
constexpr double kPriorWeight = 16.0;  // what all words count for a word class, in occurrences
constexpr double kLeastTag = 1e-3;     // a class gives no tag that is less likely: lexicons stay small, charts sparse

using States = std::vector<double>;  // by state of the level

double total_of(const States& sums) { return std::accumulate(sums.begin(), sums.end(), 0.0); }

const std::string kWidest = "UNK";

// With counts c of states t, words w and classes u, P(w | t) = P(t | w) c(w) / c(t). For a rare word,
//
//   P(t | w) = (c(t, w) + k P(t | u)) / (c(w) + k).
//
// For an unseen one, it is P(t | u) / c(t), as if it had been seen once. Sub-states then get a part of the mean over
// those of their tag (Petrov et al. 2006, section 2.3).
//
// A word class v is further evidence for rare and unseen words. Given the state, it is taken as independent of the
// form:
//
//   P(t | u, v) ∝ P(t | u) P(t | v) / P(t),  P(t | v) = (c(t, v) + m P(t)) / (c(v) + m).
//
// In c(t, v), no word counts more than kRare times. If no word of v was seen, P(t | u, v) = P(t | u).
class WordModel {
 public:
  WordModel(const Treebank& bank, const TrainingLevel& level, const SplitGrammar& grammar,
            const std::vector<double>& counts)
      : bank_(bank),
        level_(level),
        signature_(grammar.signature),
        word_classes_(grammar.classes.get()),
        counts_(counts) {
    count_words();
    count_classes();
    if (word_classes_ != nullptr) count_word_classes();
  }

  // Each gives `give` the numbers P(t | w) and c(w), or P(t | u) and 1.
  template <class Give>
  void words(Give give);
  template <class Give>
  void classes(Give give);
  template <class Give>
  void word_classes(Give give);

  // The score of a state for a word that was seen `count` times.
  double score(std::uint32_t state, double probability, double count) const {
    return state_count_[state] > 0.0 ? std::min(1.0, probability * count / state_count_[state]) : 0.0;
  }

 private:
  bool rare(Symbol word) const { return word_count_[word] < kRare - 0.5; }
  std::span<const double> counts(std::uint32_t rule) const {
    const std::size_t at = level_.at[static_cast<std::size_t>(RuleKind::lexical)][rule];
    return std::span(counts_).subspan(at, level_.states[rules_[rule].head]);
  }
  void add_counts(std::uint32_t rule, double factor, States& sums) const {
    double* to = &sums[level_.first[rules_[rule].head]];
    for (const double count : counts(rule)) *to++ += factor * count;
  }

  void count_words();
  void count_classes();
  void count_word_classes();
  std::uint32_t word_class(std::string_view word) const {
    return word_classes_ == nullptr ? WordClasses::kNone : word_classes_->find(word);
  }
  std::string form_class(std::string_view word, std::size_t position) const;
  void add_to_class(Symbol word, bool start, States& sums) const;
  const States& distribution(const std::string& name);
  States distribution(const std::string& name, std::uint32_t word_class);
  States distribution_in(const States& sums, const States* around) const;
  void drop_unlikely(States& given) const;

  const Treebank& bank_;
  const TrainingLevel& level_;
  SignatureKind signature_;
  const WordClasses* word_classes_;
  const std::vector<double>& counts_;
  std::span<const BankRule> rules_ = bank_.rules(RuleKind::lexical);
  States word_count_, state_count_;
  std::vector<std::vector<std::uint32_t>> rules_of_;             // by word
  std::map<std::pair<Symbol, std::uint32_t>, double> at_start_;  // of (word, rule): how often they begin a sentence
  std::map<std::string, States> classes_, given_;                // occurrences, and P(t | u)
  std::map<std::string, std::string> wider_;
  std::vector<std::string> class_of_;              // by word, if it is rare
  States all_;                                     // occurrences of all words, no word oftener than a rare one
  std::map<std::uint32_t, States> in_word_class_;  // the same of each word class
};

void WordModel::count_words() {
  word_count_.assign(bank_.words().size(), 0.0);
  state_count_.assign(level_.total_states(), 0.0);
  rules_of_.resize(word_count_.size());
  for (std::uint32_t r = 0; r < rules_.size(); ++r) {
    rules_of_[rules_[r].left].push_back(r);
    for (const double count : counts(r)) word_count_[rules_[r].left] += count;
    add_counts(r, 1.0, state_count_);
  }
  for (std::size_t t = 0; t < bank_.size(); ++t) {
    for (const BankNode& node : bank_[t]) {
      if (node.kind == RuleKind::lexical && node.position == 0) at_start_[{node.word, node.rule}] += 1.0;
    }
  }
}

// Occurrences of rare words go to all classes that they could have been taken for; where the word stands matters.
void WordModel::count_classes() {
  class_of_.resize(word_count_.size());
  for (Symbol word = 0; word < word_count_.size(); ++word) {
    if (!rare(word)) continue;
    const std::string_view text = bank_.words().text(word);
    const Symbol lower = bank_.words().find(lower_first(signature_, text));
    for (const std::size_t position : {std::size_t{1}, std::size_t{0}}) {
      const std::vector<std::string> names =
          signatures(signature_, text, position, lower != Symbols::kNone && lower != word);
      if (position == 1) class_of_[word] = names.front();
      for (std::size_t n = 0; n + 1 < names.size(); ++n) wider_.emplace(names[n], names[n + 1]);
      for (const std::string& name : names) {
        States& sums = classes_.try_emplace(name, state_count_.size(), 0.0).first->second;
        if (word_count_[word] <= kClassRare + 0.5) add_to_class(word, position == 0, sums);
      }
    }
  }
  States& all = classes_.try_emplace(kWidest, state_count_.size(), 0.0).first->second;
  if (total_of(all) <= 0.0) all = state_count_;  // no rare words: an unseen one may be anything
}

void WordModel::count_word_classes() {
  all_.assign(state_count_.size(), 0.0);
  for (Symbol word = 0; word < word_count_.size(); ++word) {
    const std::uint32_t number = word_class(bank_.words().text(word));
    const double share = std::min(1.0, kRare / word_count_[word]);
    for (const std::uint32_t r : rules_of_[word]) {
      add_counts(r, share, all_);
      if (number != WordClasses::kNone)
        add_counts(r, share, in_word_class_.try_emplace(number, all_.size(), 0.0).first->second);
    }
  }
}

void WordModel::add_to_class(Symbol word, bool start, States& sums) const {
  for (const std::uint32_t r : rules_of_[word]) {
    double total = 0.0;
    for (const double count : counts(r)) total += count;
    const auto found = at_start_.find({word, r});
    const double starts = found == at_start_.end() ? 0.0 : found->second;
    add_counts(r, total > 0.0 ? (start ? starts : total - starts) / total : 0.0, sums);
  }
}

// The class of unknown words that a word is taken for, as a grammar looks it up.
std::string WordModel::form_class(std::string_view word, std::size_t position) const {
  const bool known_lower = bank_.words().find(lower_first(signature_, word)) != Symbols::kNone;
  for (const std::string& name : signatures(signature_, word, position, known_lower)) {
    if (const auto found = classes_.find(name); found != classes_.end() && total_of(found->second) > 0.0) return name;
  }
  return kWidest;
}

// P(t | u), widest first: a narrow class leans on the one around it.
const States& WordModel::distribution(const std::string& name) {
  std::vector<std::string> chain = {name};
  while (chain.back() != kWidest && !given_.contains(chain.back())) {
    const auto found = wider_.find(chain.back());
    chain.push_back(found == wider_.end() ? kWidest : found->second);
  }
  for (std::size_t i = chain.size(); i-- > 0;) {
    if (given_.contains(chain[i])) continue;
    const States* around = i + 1 < chain.size() ? &given_.at(chain[i + 1]) : nullptr;
    given_.emplace(chain[i], distribution_in(classes_.at(chain[i]), around));
  }
  return given_.at(name);
}

States WordModel::distribution_in(const States& sums, const States* around) const {
  States out = sums;
  const double total = total_of(sums);
  for (std::size_t s = 0; s < out.size(); ++s) {
    out[s] = around == nullptr ? out[s] / total : (out[s] + kWiderWeight * (*around)[s]) / (total + kWiderWeight);
  }
  drop_unlikely(out);
  return out;
}

// P(t | u, v).
States WordModel::distribution(const std::string& name, std::uint32_t word_class) {
  States out = distribution(name);
  const auto found = in_word_class_.find(word_class);
  if (found == in_word_class_.end()) return out;
  const double total = total_of(all_);
  for (std::size_t s = 0; s < out.size(); ++s)
    out[s] *= kPriorWeight + (all_[s] > 0.0 ? found->second[s] * total / all_[s] : 0.0);
  const double sum = total_of(out);
  for (double& p : out) p /= sum;
  drop_unlikely(out);
  return out;
}

void WordModel::drop_unlikely(States& given) const {
  for (Symbol label = 0; label < level_.states.size(); ++label) {
    const auto begin = given.begin() + level_.first[label], end = given.begin() + level_.first[label + 1];
    if (std::accumulate(begin, end, 0.0) < kLeastTag) std::fill(begin, end, 0.0);
  }
}

template <class Give>
void WordModel::words(Give give) {
  for (Symbol word = 0; word < word_count_.size(); ++word) {
    const double weight = rare(word) ? kClassWeight : 0.0;
    States probabilities(state_count_.size(), 0.0);
    if (rare(word)) probabilities = distribution(class_of_[word], word_class(bank_.words().text(word)));
    for (double& p : probabilities) p *= weight;
    for (const std::uint32_t r : rules_of_[word]) add_counts(r, 1.0, probabilities);
    for (double& p : probabilities) p /= word_count_[word] + weight;
    give(word, probabilities, word_count_[word]);
  }
}

template <class Give>
void WordModel::classes(Give give) {
  for (const auto& [name, sums] : classes_) {
    if (name == kWidest || total_of(sums) > 0.0) give(name, distribution(name), 1.0);
  }
}

// Of the words with a class that were not seen, as they look at the beginning of a sentence and within it.
template <class Give>
void WordModel::word_classes(Give give) {
  std::set<std::pair<std::string, std::uint32_t>> needed;
  for (std::size_t i = 0; word_classes_ != nullptr && i < word_classes_->size(); ++i) {
    const std::string_view word = word_classes_->word(i);
    if (bank_.words().find(word) != Symbols::kNone || !in_word_class_.contains(word_classes_->of(i))) continue;
    for (const std::size_t position : {std::size_t{0}, std::size_t{1}})
      needed.emplace(form_class(word, position), word_classes_->of(i));
  }
  for (const auto& [name, number] : needed) give(in_word_class(name, number), distribution(name, number), 1.0);
}

}  // namespace

void Trainer::add_words(const std::vector<double>& counts, double smooth, Level& out) const {
  WordModel model(*bank_, level_, *grammar_, counts);
  std::vector<std::pair<Symbol, LexicalRule>> made;
  const auto add = [&](Symbol word, const States& probabilities, double count) {
    for (Symbol label = 0; label < level_.states.size(); ++label) {
      const auto given = std::span(probabilities).subspan(level_.first[label], level_.states[label]);
      if (std::ranges::none_of(given, [](double p) { return p > 0.0; })) continue;
      made.push_back({word, {label, out.scores.size()}});
      for (std::uint32_t h = 0; h < given.size(); ++h)
        out.scores.push_back(model.score(level_.first[label] + h, given[h], count));
      if (given.size() == 1) continue;
      const auto block = std::span(out.scores).last(given.size());
      const double mean = std::accumulate(block.begin(), block.end(), 0.0) / static_cast<double>(block.size());
      for (double& score : block) score = (1.0 - smooth) * score + smooth * mean;
    }
  };
  model.words(add);
  const auto add_class = [&](const std::string& name, const States& probabilities, double count) {
    add(grammar_->words.intern(name), probabilities, count);
  };
  model.classes(add_class);
  model.word_classes(add_class);
  std::stable_sort(made.begin(), made.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  out.first_tag.assign(grammar_->words.size() + 1, 0);
  for (const auto& [word, rule] : made) {
    ++out.first_tag[word + 1];
    out.tags.push_back(rule);
  }
  for (std::size_t w = 1; w < out.first_tag.size(); ++w) out.first_tag[w] += out.first_tag[w - 1];
}

}  // namespace treeglot
