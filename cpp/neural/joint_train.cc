#include "neural/joint_train.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "base/error.h"
#include "base/lanes.h"
#include "base/random.h"
#include "base/utf8.h"

namespace treeglot {
namespace {

constexpr std::string_view kStateKind = "neural-training";
constexpr std::uint32_t kStateVersion = 2;
constexpr double kProgress = 1e-3;  // nats per word that an epoch must gain
constexpr float kFirstDecay = 0.9f, kSecondDecay = 0.999f, kEpsilon = 1e-8f;

// All of a run but its parameters.
struct State {
  std::uint64_t key = 0;   // of all that the run depends on
  std::uint64_t step = 0;  // batches since the beginning
  std::uint64_t epoch = 0, position = 0, failures = 0, ended = 0;
  double loss = 0, best_loss = 0;
};

std::uint64_t key_of(const JointCorpus& corpus, const JointCorpus& held_out, const JointTrainOptions& o) {
  std::uint64_t key = hash_number(hash_number(JointModel::kVersion) + corpus.checksum()) + held_out.checksum();
  const std::int64_t history = joint_facts(o, corpus.parse_kind()).history;
  for (const std::int64_t value : {history, o.before, o.after, std::int64_t{o.source}, std::int64_t{o.sentence},
                                   o.embedding, o.hidden, o.second, o.least_source, o.least_target, o.least_fallback,
                                   o.loss.samples, o.loss.frequent, o.batch, o.epochs, o.patience, o.seed})
    key = hash_number(key + static_cast<std::uint64_t>(value));
  for (const double value :
       {o.loss.penalty, o.loss.dropout, o.loss.input_dropout, o.loss.short_history, o.rate, o.decay})
    key = hash_number(key + std::bit_cast<std::uint64_t>(value));
  if (o.parse) key = hash_number(key + 1);
  return o.heads ? hash_number(key + 2) : key;
}

void save_block(Sections& sections, const std::string& name, const JointNetwork::Values& values) {
  for (std::size_t block = 0; block < JointNetwork::kBlocks; ++block)
    std::ranges::copy(
        values[block],
        sections.add<float>(name + "." + std::string(JointNetwork::kBlockNames[block]), values[block].size()).begin());
}

bool load_block(const Sections& sections, const std::string& name, JointNetwork::Values& values) {
  for (std::size_t block = 0; block < JointNetwork::kBlocks; ++block) {
    const auto saved = sections.array<float>(name + "." + std::string(JointNetwork::kBlockNames[block]));
    if (saved.size() != values[block].size()) return false;
    std::ranges::copy(saved, values[block].begin());
  }
  return true;
}

// The numbers of all words, by a way to find them.
using Find = std::uint32_t (JointVocabulary::*)(std::string_view) const;
std::vector<std::uint32_t> find_all(const Symbols& symbols, const JointWords& words, Find find) {
  Sections sections(JointModel::kKind, JointModel::kVersion);
  Vocabulary::add_sections(words.texts, sections);
  const JointVocabulary vocabulary(sections, "words", words.fallbacks);
  std::vector<std::uint32_t> out;
  for (Symbol word = 0; word < symbols.size(); ++word) out.push_back((vocabulary.*find)(symbols.text(word)));
  return out;
}

class Run {
 public:
  Run(const JointCorpus& corpus, const JointCorpus& held_out, const JointTrainOptions& options, unsigned threads,
      std::string file, const JointWatch& watch, const JointLearner* learner)
      : options_(options),
        file_(std::move(file)),
        watch_(watch),
        learner_(learner),
        facts_(joint_facts(options, corpus.parse_kind())),
        source_(choose_words(corpus, false, static_cast<std::uint64_t>(options.least_source),
                             static_cast<std::uint64_t>(options.least_fallback))),
        target_(choose_words(corpus, true, static_cast<std::uint64_t>(options.least_target),
                             static_cast<std::uint64_t>(options.least_fallback))),
        examples_(make_examples(corpus, facts_, source_.numbers, target_.numbers)),
        held_out_(
            make_examples(held_out, facts_, find_all(held_out.source_words(), source_, &JointVocabulary::find_context),
                          find_all(held_out.target_words(), target_,
                                   held_out.lexical() ? &JointVocabulary::find_translation : &JointVocabulary::find))),
        network_(facts_, source_.texts.size(), target_.counts, options.loss, static_cast<std::uint64_t>(options.seed)),
        best_(network_.values()),
        crew_(threads),
        saved_(Clock::now()) {
    if (target_.texts.size() == JointVocabulary::kSpecial + target_.fallbacks)
      throw std::invalid_argument("no target word occurs " + std::to_string(options.least_target) +
                                  " times: the model would have no words");
    state_.key = key_of(corpus, held_out, options);
    if (!file_.empty()) load();
  }

  JointModel train() {
    if (learner_ != nullptr && state_.ended == 0) learner_->begin(network_);
    while (state_.ended == 0) {
      epoch();
      fetch();
      judge();
      save();
    }
    network_.values() = best_;
    return network_.model(source_, target_);
  }

 private:
  using Clock = std::chrono::steady_clock;

  // The rate falls to 0, batch by batch.
  double rate_now() const {
    const auto size = static_cast<std::size_t>(options_.batch);
    const std::size_t batches = (examples_.size() + size - 1) / size * static_cast<std::size_t>(options_.epochs);
    return options_.rate * (1 - static_cast<double>(state_.step) / static_cast<double>(batches));
  }

  // The rest of an epoch.
  void epoch() {
    std::vector<std::uint32_t> order(examples_.size());
    std::iota(order.begin(), order.end(), 0u);
    Random random(hash_number(static_cast<std::uint64_t>(options_.seed)) + state_.epoch);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[place_of(random.next(), i)]);
    while (state_.position < order.size()) {
      const std::size_t size = std::min<std::size_t>(order.size() - state_.position, options_.batch);
      const double rate = rate_now();
      ++state_.step;
      const auto steps = static_cast<double>(state_.step);
      const double corrected =
          rate * std::sqrt(1 - std::pow(kSecondDecay, steps)) / (1 - std::pow(static_cast<double>(kFirstDecay), steps));
      const neural::AdamStep step{static_cast<float>(corrected), kFirstDecay, kSecondDecay, kEpsilon,
                                  static_cast<float>(rate * options_.decay)};
      const JointNetwork::Batch batch{examples_, std::span(order).subspan(state_.position, size), state_.step};
      const double loss = learner_ != nullptr ? learner_->learn(network_.drawn(batch, crew_, step))
                                              : network_.learn(batch, crew_, step);
      if (!std::isfinite(loss)) diverged("the loss of a batch is not finite");
      state_.loss += loss;
      state_.position += size;
      watch_.progress(state_.epoch + 1, state_.position, order.size());
      if (std::chrono::duration<double>(Clock::now() - saved_).count() >= options_.save_every) {
        fetch();
        save();
      }
    }
  }

  void fetch() {  // what a learner has learnt
    if (learner_ != nullptr) learner_->give(network_);
  }

  // All that the rounding of numbers depends on.
  std::string maker() const {
    return (learner_ != nullptr ? learner_->name : "core") + ", registers of " + std::to_string(register_width()) +
           " floats";
  }

  // The end of an epoch: keeps its parameters if they are the best.
  void judge() {
    const JointNetwork::Scores scores = network_.evaluate(held_out_, crew_);
    double loss = 0, sum = 0, squares = 0;
    for (std::size_t i = 0; i < held_out_.size(); ++i) {
      loss -= double{scores.log_probabilities[i]} + target_.share[held_out_.words[i]];
      sum += scores.log_sums[i];
      squares += double{scores.log_sums[i]} * scores.log_sums[i];
    }
    const auto count = static_cast<double>(held_out_.size());
    loss /= count;
    if (!std::isfinite(loss)) diverged("the loss of held-out words is not finite");
    const bool first = state_.epoch == 0, better = first || loss < state_.best_loss;
    const bool progress = first || loss < state_.best_loss - kProgress;
    watch_.report({.epoch = state_.epoch + 1,
                   .rate = rate_now(),
                   .train_loss = state_.loss / static_cast<double>(examples_.size()),
                   .perplexity = std::exp(loss),
                   .mean_log_sum = sum / count,
                   .log_sum_error = std::sqrt(squares / count),
                   .best = better ? 1u : 0u});
    state_.failures = progress ? 0 : state_.failures + 1;
    if (better) {
      best_ = network_.values();
      state_.best_loss = loss;
    }
    state_.loss = 0;
    state_.position = 0;
    ++state_.epoch;
    if (state_.epoch >= static_cast<std::uint64_t>(options_.epochs) ||
        state_.failures >= static_cast<std::uint64_t>(options_.patience))
      state_.ended = 1;
  }

  [[noreturn]] void diverged(const std::string& problem) const {
    throw TrainingDiverged("training diverged in epoch " + std::to_string(state_.epoch + 1) + ", batch " +
                           std::to_string(state_.step) + ": " + problem + "; a lower rate may help");
  }

  void save() {
    if (file_.empty()) return;
    Sections sections(kStateKind, kStateVersion);
    sections.add<State>("state", 1)[0] = state_;
    const std::string name = maker();
    std::ranges::copy(name, sections.add<char>("maker", name.size()).begin());
    save_block(sections, "values", network_.values());
    save_block(sections, "means", network_.means());
    save_block(sections, "variances", network_.variances());
    save_block(sections, "best", best_);
    sections.write(file_);
    saved_ = Clock::now();
  }

  // The state of a run with the same data and options. That of another run is named, and overwritten when this saves.
  void load() {
    struct stat status = {};
    if (stat(file_.c_str(), &status) != 0) return;
    const Sections sections = Sections::open(file_, kStateKind, kStateVersion);
    const auto saved = sections.array<State>("state");
    if (saved.size() != 1 || saved[0].key != state_.key) {
      watch_.warn(file_ + ": the state of a run with other data or options; training starts anew and will replace it");
      return;
    }
    if (!load_block(sections, "values", network_.values()) || !load_block(sections, "means", network_.means()) ||
        !load_block(sections, "variances", network_.variances()) || !load_block(sections, "best", best_))
      sections.fail("is damaged: its parameters do not fit its state");
    state_ = saved[0];
    const auto text = sections.array<char>("maker");
    const std::string_view other(text.data(), text.size());
    if (!is_utf8(other)) sections.fail("is damaged: the name of its maker is not UTF-8");
    if (state_.ended == 0 && other != maker())
      watch_.warn(file_ + ": the state is of another trainer or processor (" + std::string(other) +
                  "); training continues (" + maker() + "), with a result that neither alone would give");
  }

  const JointTrainOptions& options_;
  std::string file_;
  const JointWatch& watch_;
  const JointLearner* learner_;
  JointFacts facts_;
  JointWords source_, target_;
  JointExamples examples_, held_out_;
  JointNetwork network_;
  JointNetwork::Values best_;
  neural::Crew crew_;
  Clock::time_point saved_;
  State state_;
};

}  // namespace

JointFacts joint_facts(const JointTrainOptions& options, ParseKind parse) {
  JointFacts facts;
  facts.history = options.heads ? kHeadContext : static_cast<std::uint32_t>(options.history);
  if (options.lexical) facts.history = 0;
  facts.heads = options.heads ? 1 : 0;
  facts.before = static_cast<std::uint32_t>(options.before);
  facts.after = static_cast<std::uint32_t>(options.after);
  facts.has_source = options.source ? 1 : 0;
  facts.sentence = options.source && options.sentence ? 1 : 0;
  facts.parse = options.parse ? static_cast<std::uint16_t>(parse) : 0;
  facts.embedding = static_cast<std::uint32_t>(options.embedding);
  facts.hidden = static_cast<std::uint32_t>(options.hidden);
  facts.second = static_cast<std::uint32_t>(options.second);
  return facts;
}

void JointTrainOptions::check() const {
  const auto refuse = [](const std::string& problem) { throw std::invalid_argument(problem); };
  const auto within = [&](std::string_view name, std::int64_t value, std::int64_t least, std::int64_t most) {
    if (value < least || value > most)
      refuse(std::string(name) + " is " + std::to_string(value) + "; expected " + std::to_string(least) + " to " +
             std::to_string(most));
  };
  const auto units = [&](std::string_view name, std::int64_t value, std::int64_t least) {
    within(name, value, least, 4096);
    if (value % kLanes != 0) refuse(std::string(name) + " is " + std::to_string(value) + "; expected a multiple of 16");
  };
  const auto part = [&](std::string_view name, double value) {
    if (!(value >= 0 && value <= 0.95))
      refuse(std::string(name) + " is " + std::to_string(value) + "; expected 0 to 0.95");
  };
  constexpr std::int64_t kMany = std::int64_t{1} << 31;
  within("history", history, 1, 16);
  if (lexical && heads) refuse("a lexical model over heads; expected one of both");
  if (lexical && !source) refuse("a lexical model without source words; expected one of both");
  if (parse && !source) refuse("a model of parses without source words; expected both");
  within("before", before, 0, 64);
  within("after", after, 0, 64);
  units("embedding", embedding, 16);
  units("hidden", hidden, 16);
  units("second", second, 0);
  within("least_source", least_source, 1, kMany);
  within("least_target", least_target, 1, kMany);
  within("least_fallback", least_fallback, 1, kMany);
  within("samples", loss.samples, 0, 1 << 20);
  within("frequent", loss.frequent, 0, kMany);
  within("batch", batch, 1, 1 << 16);
  within("epochs", epochs, 1, kMany);
  within("patience", patience, 1, kMany);
  part("dropout", loss.dropout);
  part("input_dropout", loss.input_dropout);
  part("short_history", loss.short_history);
  if (!(loss.penalty >= 0 && std::isfinite(loss.penalty))) refuse("penalty is negative or not finite");
  if (!(decay >= 0 && decay <= 1)) refuse("decay is " + std::to_string(decay) + "; expected 0 to 1");
  if (!(rate > 0 && rate <= 1)) refuse("rate is " + std::to_string(rate) + "; expected above 0, at most 1");
}

void check_kind(const JointCorpus& corpus, const JointTrainOptions& options) {
  if (corpus.lexical() != options.lexical)
    throw std::invalid_argument(
        "the corpus is of another kind of model; expected lexical ones for lexical models alone");
  if (corpus.heads() != options.heads)
    throw std::invalid_argument("the corpus is of another kind of model; expected heads for models over heads alone");
}

JointModel train_joint(const JointCorpus& corpus, const JointCorpus& held_out, const JointTrainOptions& options,
                       unsigned threads, const std::string& file, const JointWatch& watch,
                       const JointLearner* learner) {
  options.check();
  check_kind(corpus, options);
  check_kind(held_out, options);
  if (corpus.pairs() == 0 && corpus.treeless() != 0)
    throw std::invalid_argument("no sentence pair has a target dependency tree; expected trees for a model over heads");
  if (corpus.pairs() == 0) throw std::invalid_argument("the corpus has no sentence pairs");
  if (held_out.pairs() == 0) throw std::invalid_argument("there are no held-out sentence pairs");
  if (options.source && corpus.unlinked() == corpus.pairs())
    throw std::invalid_argument("no sentence pair has links; expected word alignments");
  if (options.parse && corpus.parse_kind() == ParseKind::none)
    throw std::invalid_argument("no sentence pair has a parse; expected parses of the source sentences");
  if (options.parse && held_out.parse_kind() != ParseKind::none && held_out.parse_kind() != corpus.parse_kind())
    throw std::invalid_argument("held-out sentence pairs have " + std::string(parse_kind_name(held_out.parse_kind())) +
                                "; expected " + std::string(parse_kind_name(corpus.parse_kind())));
  if (corpus.examples() > Symbols::kNone) throw std::length_error("a corpus has fewer than 2^32 target words");
  return Run(corpus, held_out, options, threads, file, watch, learner).train();
}

}  // namespace treeglot
