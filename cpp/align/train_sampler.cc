#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <vector>

#include "align/chain.h"
#include "align/train.h"
#include "align/watched.h"

namespace treeglot {
namespace {

// Rounds at the lower levels come first: their links are a start that a chain reaches sooner.
constexpr unsigned kLowerRounds = 2;

struct Schedule {
  AlignLevel level;
  unsigned rounds;

  unsigned lower() const { return kLowerRounds * (static_cast<unsigned>(level) - 1); }
  unsigned total() const { return lower() + rounds; }
  AlignLevel at(unsigned round) const {
    return round < lower() ? static_cast<AlignLevel>(1 + round / kLowerRounds) : level;
  }
  // The last round is kept. Averages over more rounds are smoother, but lose links of rare words.
  bool keeps(unsigned round) const { return round + 1 == total(); }
};

// One chain to its end, or until it is stopped.
void run_chain(Chain& chain, const Schedule& schedule, const std::string& file, std::uint64_t key, double save_every,
               const std::atomic<bool>& stop, std::atomic<std::uint64_t>& done) {
  using Clock = std::chrono::steady_clock;
  if (!file.empty() && chain.load(file, key)) done += std::min(chain.rounds(), schedule.total());
  Clock::time_point saved = Clock::now();
  while (chain.rounds() < schedule.total()) {
    const unsigned round = chain.rounds();
    chain.round(schedule.at(round), stop);
    if (stop) return;
    if (schedule.keeps(round)) chain.keep();
    ++done;
    const bool last = chain.rounds() == schedule.total();
    if (file.empty() || (!last && std::chrono::duration<double>(Clock::now() - saved).count() < save_every)) continue;
    chain.save(file, key);
    saved = Clock::now();
  }
}

void add(const DirectionCounts& from, float share, DirectionCounts& to) {
  const auto part = [&](std::vector<float> DirectionCounts::* member) {
    (to.*member).resize((from.*member).size());
    for (std::size_t k = 0; k < (from.*member).size(); ++k) (to.*member)[k] += share * (from.*member)[k];
  };
  part(&DirectionCounts::pairs);
  part(&DirectionCounts::given);
  part(&DirectionCounts::null);
  part(&DirectionCounts::jumps);
  part(&DirectionCounts::fertilities);
}

// An aligner of the words' first letters, by a short run. `watch` may stop it.
Aligner train_stems(const SentencePairs& pairs, const SamplerOptions& options, unsigned threads,
                    const AlignWatch& watch) {
  SamplerOptions short_run;
  short_run.seed = options.seed;
  short_run.chains = 1;
  short_run.rounds = 8;
  short_run.level = static_cast<int>(AlignLevel::jumps);
  return train_sampler(stemmed(pairs, options.priors.stem_letters), nullptr, {}, short_run, threads, "",
                       [&](std::uint64_t, std::uint64_t) { watch(0, 1); });
}

// Adds priors to the counts that chains start from. Those that an updated aligner had are in its counts already.
void add_priors(const Cells& cells, const Aligner* before, const LinkPriors& priors,
                std::array<DirectionCounts, 2>& start) {
  const SentencePairs& pairs = cells.pairs();
  const std::array sizes = {pairs.source_words().size(), pairs.target_words().size()};
  for (const int d : {0, 1}) {
    start[d].pairs.resize(cells.size());
    start[d].given.resize(sizes[d]);
    start[d].null.resize(sizes[1 - d]);
    start[d].jumps.resize(kJumps);
    start[d].fertilities.resize(sizes[d] * kFertilities);
  }
  for (Symbol source = 0; source < sizes[0]; ++source)
    for (std::uint32_t n = cells.first(source); n < cells.first(source + 1); ++n)
      for (const int d : {0, 1}) {
        const Symbol target = cells.target(n);
        const float more = priors[d][n] - (before != nullptr ? before->prior(d == 1, source, target) : 0.0f);
        start[d].pairs[n] += more;
        start[d].given[d == 0 ? source : target] += more;
      }
}

AlignerSettings new_settings(const SamplerOptions& options) {
  AlignerSettings out;
  out.priors.null = static_cast<float>(options.null);
  out.priors.lexical = out.priors.null_lexical = static_cast<float>(options.lexical);
  out.level = static_cast<AlignLevel>(options.level);
  return out;
}

}  // namespace

void SamplerOptions::check() const {
  if (chains < 1 || rounds < 0 || level < 1 || level > 3 || !(null > 0.0 && null < 1.0) || !(lexical > 0.0) ||
      !(priors.cognates >= 0.0 && priors.cognates <= 1000) || !(priors.stems >= 0.0 && priors.stems <= 1000) ||
      priors.stem_letters < 1)
    throw std::invalid_argument(
        "a sampler has at least one chain, a level of 1 to 3, priors above 0, and links of 0 to 1,000");
}

int sampler_rounds(std::size_t pairs) {
  const double rounds = 4000 / std::sqrt(static_cast<double>(std::max<std::size_t>(pairs, 1)));
  return static_cast<int>(std::lround(std::clamp(rounds, 16.0, 250.0)));
}

// Of all that the state of a chain depends on.
static std::uint64_t chain_key(const SentencePairs& pairs, const Aligner* before,
                               const std::array<DirectionCounts, 2>& start, const AlignerSettings& settings,
                               const Schedule& schedule, std::uint64_t seed) {
  std::uint64_t started = 0;
  for (const DirectionCounts& counts : start) started = hash_values(std::span<const float>(counts.pairs), started);
  const std::array<std::uint64_t, 6> identity = {pairs.checksum(), before != nullptr ? before->checksum() : 0,
                                                 started,          seed,
                                                 schedule.rounds,  static_cast<std::uint64_t>(schedule.level)};
  return hash_values(std::span<const std::uint64_t>(identity),
                     hash_values(std::span<const AlignerSettings>(&settings, 1), 0));
}

Aligner train_sampler(const SentencePairs& pairs, const Aligner* before, const std::vector<LexiconEntry>& lexicon,
                      const SamplerOptions& options, unsigned threads, const std::string& folder,
                      const AlignWatch& watch) {
  options.check();
  std::optional<Aligner> stems;
  if (options.priors.stems > 0) stems.emplace(train_stems(pairs, options, threads, watch));
  const Aligner* const by_stems = stems ? &*stems : nullptr;
  std::optional<Cells> made;
  const auto make = [&](std::size_t, const std::atomic<bool>& stop) {
    made.emplace(make_cells(pairs, before, lexicon, options.priors, by_stems, stop));
  };
  run_watched(1, 1, make, [&] { watch(0, 1); });
  const Cells& cells = *made;
  // What the chains start from: the counts of an aligner that is updated, and priors.
  std::array<DirectionCounts, 2> start;
  LinkPriors priors;
  const bool known = !lexicon.empty() || options.priors.cognates > 0 || options.priors.stems > 0;
  const bool starts = before != nullptr || known;
  if (before != nullptr) start = before->counts_for(cells);
  if (starts) {
    priors = make_priors(cells, before, lexicon, options.priors, by_stems);
    add_priors(cells, before, priors, start);
  }
  const AlignerSettings settings = before != nullptr ? before->settings() : new_settings(options);
  const Schedule schedule{settings.level,
                          static_cast<unsigned>(options.rounds > 0 ? options.rounds : sampler_rounds(pairs.used()))};
  const auto chains = static_cast<std::size_t>(options.chains);
  const std::uint64_t key = chain_key(pairs, before, start, settings, schedule, options.seed);

  std::atomic<std::uint64_t> done = 0;
  const std::uint64_t total = 2 * chains * schedule.total();
  std::array<DirectionCounts, 2> counts;
  std::vector<std::unique_ptr<Chain>> ended(2 * chains);
  std::mutex mutex;
  std::size_t next = 0;
  const auto task = [&](std::size_t k, const std::atomic<bool>& stop) {
    const bool backwards = k % 2 == 1;
    auto chain = std::make_unique<Chain>(cells, backwards, settings.priors, starts ? &start[backwards] : nullptr,
                                         Random(Random(options.seed).next() + k).next());
    const std::string file = folder.empty() ? "" : folder + "/chain-" + std::to_string(k);
    run_chain(*chain, schedule, file, key + k, options.save_every, stop, done);
    if (stop) return;
    // Sums of floats depend on their order.
    const std::lock_guard lock(mutex);
    ended[k] = std::move(chain);
    for (; next < ended.size() && ended[next]; ended[next++].reset())
      add(ended[next]->sums(), 1.0f / static_cast<float>(ended[next]->kept() * chains), counts[next % 2]);
  };
  run_watched(2 * chains, threads, task, [&] { watch(done, total); });
  for (const int d : {0, 1}) {
    if (before == nullptr) continue;
    for (std::size_t k = 0; k < kJumps; ++k) counts[d].jumps[k] += start[d].jumps[k];
    for (std::size_t k = 0; k < counts[d].fertilities.size(); ++k) counts[d].fertilities[k] += start[d].fertilities[k];
  }
  return Aligner(cells, counts, settings, before, priors);
}

}  // namespace treeglot
