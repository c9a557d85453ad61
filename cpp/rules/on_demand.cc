#include "rules/on_demand.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "base/error.h"
#include "rules/table_builder.h"
#include "rules/table_patch.h"
#include "rules/tally.h"

namespace treeglot {
namespace {

constexpr std::array<std::string_view, 7> kColumns = {"p_target_given_source",
                                                      "p_source_given_target",
                                                      "lex_target_given_source",
                                                      "lex_source_given_target",
                                                      "count",
                                                      "occurrences",
                                                      "variables"};
constexpr std::size_t kMostTargets = 1'000'000;  // that are kept

std::size_t column_of(const std::string& feature) {
  const auto found = std::ranges::find(kColumns, feature);
  if (found != kColumns.end()) return static_cast<std::size_t>(found - kColumns.begin());
  std::string known;
  for (const std::string_view column : kColumns) known.append(known.empty() ? "" : ", ").append(column);
  throw std::invalid_argument("rules on demand have no feature " + quoted(feature) + "; known: " + known);
}

std::shared_ptr<const RuleTable> table_of(const IndexedCorpus& corpus, const std::vector<std::string>& features) {
  RuleTableBuilder builder(features);
  builder.label("X");
  for (Symbol word = 0; word < corpus.source_texts().size(); ++word)
    builder.source_word(corpus.source_texts().text(word));
  for (Symbol word = 0; word < corpus.target_texts().size(); ++word)
    builder.target_word(corpus.target_texts().text(word));
  return std::make_shared<const RuleTable>(builder.finish());
}

void check_discounts(const DemandScoring& scoring) {
  const std::size_t wanted = scoring.smoothing == RuleSmoothing::none          ? 0
                             : scoring.smoothing == RuleSmoothing::good_turing ? 5
                                                                               : 3;
  if (scoring.discounts.size() != wanted)
    throw std::invalid_argument("there are " + std::to_string(scoring.discounts.size()) +
                                " discounts for the smoothing; expected " + std::to_string(wanted));
  for (std::size_t i = 0; i < wanted; ++i) {
    const std::size_t most = scoring.smoothing == RuleSmoothing::good_turing ? 1 : i + 1;
    if (!(scoring.discounts[i] >= 0 && scoring.discounts[i] <= static_cast<double>(most)))
      throw std::invalid_argument("discount " + std::to_string(i + 1) + " is " + std::to_string(scoring.discounts[i]) +
                                  "; expected 0 to " + std::to_string(most));
  }
  if (!(scoring.rules >= 0 && std::isfinite(scoring.rules)))
    throw std::invalid_argument("there are " + std::to_string(scoring.rules) + " rules; expected 0 or more");
}

}  // namespace

std::span<const std::string_view> RulesOnDemand::columns() { return kColumns; }

RulesOnDemand::RulesOnDemand(std::vector<std::shared_ptr<const PairIndex>> indexes,
                             const std::vector<std::string>& features, const DemandOptions& options,
                             const DemandScoring& scoring)
    : corpus_(std::move(indexes)), options_(options), scoring_(scoring) {
  check_discounts(scoring);
  if (scoring.smoothing == RuleSmoothing::kneser_ney) {
    scoring_.rules = std::max(scoring.rules, 1.0);  // an index without rules has no use for it
    lost_ = [this](double count, double occurrences) { return count - discount(count, occurrences); };
  }
  for (const std::string& feature : features) columns_.push_back(column_of(feature));
  table_ = table_of(corpus_, features);
}

// As the statements of treeglot.rules.sql compute it.
double RulesOnDemand::discount(double count, double occurrences) const {
  const std::size_t most = scoring_.discounts.size();
  if (scoring_.smoothing == RuleSmoothing::none) return count;
  if (scoring_.smoothing == RuleSmoothing::good_turing)
    return occurrences <= static_cast<double>(most)
               ? count * scoring_.discounts[static_cast<std::size_t>(occurrences) - 1]
               : count;
  const double taken =
      scoring_.discounts[static_cast<std::size_t>(std::min(occurrences, static_cast<double>(most))) - 1];
  return count - std::round(count * (taken / occurrences) * kCountUnit) / kCountUnit;
}

TargetCounts RulesOnDemand::target_counts(std::span<const std::int32_t> target, TargetLookup& lookup) const {
  std::string key(reinterpret_cast<const char*>(target.data()), target.size_bytes());
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = targets_.find(key); known != targets_.end()) return known->second;
  }
  const TargetCounts counts = lookup.count(target);
  const std::lock_guard lock(mutex_);
  if (targets_.size() >= kMostTargets) targets_.clear();
  targets_.emplace(std::move(key), counts);
  return counts;
}

// Scores the rules of one source side after the other.
class RulesOnDemand::Scorer {
 public:
  explicit Scorer(const RulesOnDemand& rules)
      : rules_(rules), lookup_(rules.corpus_, rules.options_.target_samples, rules.lost_) {}

  void add(std::span<const Symbol> source, const SideCounts& counts, double scale, std::vector<DemandedRule>& out) {
    count_ = lost_ = 0;
    candidates_.clear();
    for (const SideCounts::Target& target : counts.targets()) {
      const double count = scale * (static_cast<double>(target.units) / kCountUnit);
      const double occurrences =
          scale == 1 ? target.occurrences : std::max(1.0, std::round(scale * target.occurrences));
      const double kept = rules_.discount(count, occurrences);
      candidates_.push_back({&target, count, occurrences, kept, 0, {}});
      count_ += count;
      lost_ += count - kept;
    }
    sources_ = static_cast<double>(candidates_.size());
    choose(source, counts);
    for (const Candidate& candidate : candidates_) {
      if (candidate.target->symbols > kLongestSide) continue;
      out.push_back(rule_of(source, counts, candidate));
    }
  }

 private:
  bool sampled() const { return rules_.options_.target_samples > 0; }
  bool shares() const { return rules_.scoring_.smoothing == RuleSmoothing::kneser_ney; }

  // P(target | source); what smoothing took away is given back by how many rules a target side has.
  float probability(const Candidate& candidate) const {
    const double back = shares() ? lost_ / count_ * (candidate.of_target.rules / rules_.scoring_.rules) : 0;
    return static_cast<float>(candidate.kept / count_ + back);
  }

  // Leaves the rules that a table would have, in its order. With samples only their target sides are looked up, so the
  // others are compared without what smoothing gives back.
  void choose(std::span<const Symbol> source, const SideCounts& counts) {
    const auto variables = std::ranges::count_if(source, is_nonterminal);
    const std::uint32_t least =
        std::max(rules_.scoring_.min_occurrences, variables > 0 ? rules_.scoring_.min_gappy_occurrences : 0);
    std::erase_if(candidates_, [&](const Candidate& candidate) { return candidate.occurrences < least; });
    const auto look_up = [&](Candidate& candidate) {
      candidate.of_target = rules_.target_counts(counts.symbols(*candidate.target), lookup_);
      candidate.of_target.count = std::max(candidate.of_target.count, candidate.count);  // of more places than samples
      candidate.probability = probability(candidate);
    };
    for (Candidate& candidate : candidates_) {
      if (sampled() || !shares()) candidate.probability = probability(candidate);
      else look_up(candidate);
    }
    const auto earlier = [](const Candidate& a, const Candidate& b) { return a.target->first < b.target->first; };
    const std::uint32_t most = rules_.scoring_.targets_per_source;
    if (most > 0 && candidates_.size() > most) {
      std::ranges::sort(candidates_, [&](const Candidate& a, const Candidate& b) {
        return a.probability != b.probability ? a.probability > b.probability : earlier(a, b);
      });
      candidates_.resize(most);
    }
    std::ranges::sort(candidates_, earlier);
    if (sampled() || !shares()) std::ranges::for_each(candidates_, look_up);
  }

  DemandedRule rule_of(std::span<const Symbol> source, const SideCounts& counts, const Candidate& candidate) {
    DemandedRule out;
    out.source.assign(source.begin(), source.end());
    const auto target = counts.symbols(*candidate.target);
    out.target.assign(target.begin(), target.end());
    const auto links = counts.alignment(*candidate.target);
    out.alignment.assign(links.begin(), links.end());
    out.count = candidate.count;
    out.occurrences = candidate.occurrences;
    out.target_given_source = positive(candidate.probability);
    const TargetCounts& t = candidate.of_target;
    const double back = shares() ? t.lost / t.count * (sources_ / rules_.scoring_.rules) : 0;
    out.source_given_target = positive(static_cast<float>(candidate.kept / t.count + back));
    means_.source.clear();
    means_.target.clear();
    for (const Symbol symbol : source) means_.source.push_back(is_nonterminal(symbol) ? LexicalTable::kNull : symbol);
    for (const std::int32_t symbol : target)
      means_.target.push_back(symbol < 0 ? LexicalTable::kNull : static_cast<Symbol>(symbol));
    means_.start();
    const auto weight = [&](Symbol f, Symbol e) { return rules_.corpus_.weight(f, e); };
    for (const RuleLink link : links)
      means_.add(link.source, link.target, weight(means_.source[link.source], means_.target[link.target]));
    const LexicalWeights lexical = means_.finish(weight);
    out.lex_target_given_source = positive(lexical.target_given_source);
    out.lex_source_given_target = positive(lexical.source_given_target);
    return out;
  }

  const RulesOnDemand& rules_;
  TargetLookup lookup_;
  LexicalMeans means_;
  std::vector<Candidate> candidates_;
  double count_ = 0, lost_ = 0, sources_ = 0;  // of the source side; and its different rules
};

std::vector<DemandedRule> RulesOnDemand::find(std::span<const std::string_view> words, std::uint32_t span_limit) const {
  std::vector<Symbol> numbers;
  for (const std::string_view word : words) numbers.push_back(table_->source_words().find(word));
  std::vector<DemandedRule> out;
  Scorer scorer(*this);
  SourceLookup(corpus_, options_, numbers, span_limit)
      .run([&](std::span<const Symbol> source, const SideCounts& counts, double scale) {
        scorer.add(source, counts, scale, out);
      });
  return out;
}

float RulesOnDemand::value(const DemandedRule& rule, std::size_t feature) const {
  const auto log = [](float probability) { return static_cast<float>(std::log(double{probability})); };
  switch (columns_[feature]) {
    case 0: return log(rule.target_given_source);
    case 1: return log(rule.source_given_target);
    case 2: return log(rule.lex_target_given_source);
    case 3: return log(rule.lex_source_given_target);
    case 4: return static_cast<float>(rule.count);
    case 5: return static_cast<float>(rule.occurrences);
    default: return static_cast<float>(std::ranges::count_if(rule.source, is_nonterminal));
  }
}

std::shared_ptr<const RuleTable> RulesOnDemand::rules_for(std::span<const std::string_view> words,
                                                          std::uint32_t span_limit) const {
  std::vector<DemandedRule> rules = find(words, span_limit);
  auto patch = std::make_shared<TablePatch>();
  patch->rules.reserve(rules.size());
  for (std::size_t begin = 0; begin < rules.size();) {
    std::uint32_t node = 0;
    for (const Symbol symbol : rules[begin].source) node = patch->make_child(*table_, node, symbol);
    const auto first = static_cast<std::uint32_t>(patch->rules.size());
    std::size_t end = begin;
    for (; end < rules.size() && rules[end].source == rules[begin].source; ++end) {
      Rule& rule = patch->rules.emplace_back();
      rule.source = rules[end].source;
      for (std::size_t f = 0; f < columns_.size(); ++f) rule.features.push_back(value(rules[end], f));
      rule.target = std::move(rules[end].target);
      rule.alignment = std::move(rules[end].alignment);
      patch->lists.push_back(static_cast<RuleId>(table_->own_rules() + patch->lists.size()));
    }
    patch->nodes[node].changed = true;
    patch->nodes[node].first_rule = first;
    patch->nodes[node].end_rule = static_cast<std::uint32_t>(patch->rules.size());
    begin = end;
  }
  patch->origin.assign(patch->rules.size(), TablePatch::kNone);
  patch->correction.assign(patch->rules.size(), TablePatch::kNone);
  return std::make_shared<const RuleTable>(table_->patched(std::move(patch)));
}

}  // namespace treeglot
