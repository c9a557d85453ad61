#include "align/aligner.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace treeglot {
namespace {

constexpr std::string_view kKind = "aligner";
constexpr std::uint32_t kVersion = 1;
constexpr float kMostLinks = 1e18f;  // sums of fewer stay finite
constexpr std::array<const char*, 2> kSides = {"source", "target"}, kDirections = {"forward", "backward"};

template <class T, class Values>
void add(Sections& sections, const std::string& name, const Values& values) {
  std::ranges::copy(values, sections.add<T>(name, values.size()).begin());
}

void count_tokens(const SentencePairs& pairs, bool target_side, std::span<std::uint64_t> tokens) {
  for (std::size_t p = 0; p < pairs.size(); ++p)
    for (const Symbol word : target_side ? pairs.target(p) : pairs.source(p)) ++tokens[word];
}

// Word pairs by source word, with their links and priors in both directions.
struct LinkedPairs {
  std::vector<std::uint64_t> rows = {0};
  std::vector<Symbol> targets;
  std::array<std::vector<float>, 2> links, priors;
};

// The word pairs that are linked often enough.
LinkedPairs linked_pairs(const Cells& cells, const std::array<DirectionCounts, 2>& counts, const LinkPriors& priors) {
  constexpr float kLeast = 0.01f;  // links: rarer word pairs are as good as none
  const auto kept = [&](std::uint32_t n) { return std::max(counts[0].pairs[n], counts[1].pairs[n]) >= kLeast; };
  LinkedPairs out;
  for (Symbol source = 0; source < cells.pairs().source_words().size(); ++source) {
    for (std::uint32_t n = cells.first(source); n < cells.first(source + 1); ++n) {
      if (!kept(n)) continue;
      out.targets.push_back(cells.target(n));
      for (const int d : {0, 1}) {
        out.links[d].push_back(counts[d].pairs[n]);
        out.priors[d].push_back(priors[d].empty() ? 0.0f : priors[d][n]);
      }
    }
    out.rows.push_back(out.targets.size());
  }
  return out;
}

float share(float links, float total) { return links > 0 ? std::min(links / total, 1.0f) : 0.0f; }

}  // namespace

Aligner::Aligner(const Cells& cells, const std::array<DirectionCounts, 2>& counts, const AlignerSettings& settings,
                 const Aligner* before, const LinkPriors& priors)
    : Aligner([&] {
        Sections sections(kKind, kVersion);
        sections.add<AlignerSettings>("settings", 1)[0] = settings;
        for (const int side : {0, 1}) {
          const Symbols& words = side == 0 ? cells.pairs().source_words() : cells.pairs().target_words();
          MappedStrings<Layout>::add(sections, kSides[side], words.size(), [&](Symbol w) { return words.text(w); });
          const auto tokens = sections.add<std::uint64_t>(std::string(kSides[side]) + ".tokens", words.size());
          if (before != nullptr) std::ranges::copy(before->tokens_[side], tokens.begin());
          count_tokens(cells.pairs(), side == 1, tokens);
        }
        const LinkedPairs linked = linked_pairs(cells, counts, priors);
        add<std::uint64_t>(sections, "rows", linked.rows);
        add<Symbol>(sections, "targets", linked.targets);
        for (const int d : {0, 1}) {
          const std::string name = kDirections[d];
          add<float>(sections, name + ".links", linked.links[d]);
          add<float>(sections, name + ".priors", linked.priors[d]);
          add<float>(sections, name + ".given", counts[d].given);
          add<float>(sections, name + ".null", counts[d].null);
          add<float>(sections, name + ".jumps", counts[d].jumps);
          add<float>(sections, name + ".fertilities", counts[d].fertilities);
        }
        return sections;
      }()) {}

Aligner Aligner::open(const std::string& path) { return Aligner(Sections::open(path, kKind, kVersion)); }

Aligner::Aligner(Sections sections) : sections_(std::move(sections)) {
  const auto settings = sections_.array<AlignerSettings>("settings");
  if (settings.size() != 1) sections_.fail("is damaged: settings has " + std::to_string(settings.size()) + " entries");
  settings_ = settings.data();
  if (sections_.untrusted()) check_settings();
  for (const int side : {0, 1}) {
    words_[side] = MappedStrings<Layout>(sections_, kSides[side]);
    tokens_[side] = sections_.array<std::uint64_t>(std::string(kSides[side]) + ".tokens");
    all_tokens_[side] = std::accumulate(tokens_[side].begin(), tokens_[side].end(), 0.0);
  }
  rows_ = sections_.array<std::uint64_t>("rows");
  targets_ = sections_.array<Symbol>("targets");
  open_direction("forward", false);
  open_direction("backward", true);
}

void Aligner::open_direction(const std::string& name, bool backwards) {
  Direction& out = directions_[backwards];
  const std::size_t given = words_[backwards].size(), words = words_[!backwards].size();
  const auto part = [&](const char* what, std::size_t size) {
    const auto values = sections_.array<float>(name + "." + what);
    if (values.size() != size || !std::ranges::all_of(values, [](float x) { return x >= 0 && x < kMostLinks; }))
      sections_.fail("is damaged: " + name + "." + what + " does not fit the words");
    return values;
  };
  if (tokens_[backwards].size() != given) sections_.fail("is damaged: the frequencies do not fit the words");
  out.links = part("links", targets_.size());
  out.priors = part("priors", targets_.size());
  out.given = part("given", given);
  out.null = part("null", words);
  out.jumps = part("jumps", kJumps);
  out.fertilities = part("fertilities", given * kFertilities);
  if (!backwards) check();
  const AlignPriors& priors = settings_->priors;
  // An aligner of no text still has a word to come: probabilities stay finite. Sums are doubles, since a float would
  // no longer grow by small counts.
  const auto vocabulary = static_cast<float>(std::max<std::size_t>(words, 1));
  out.smoothing = priors.lexical * vocabulary;
  out.null_total =
      static_cast<float>(std::accumulate(out.null.begin(), out.null.end(), 0.0)) + priors.null_lexical * vocabulary;
  std::array<float, kJumps> jumps;
  float all = 0;
  for (std::size_t k = 0; k < kJumps; ++k) all += jumps[k] = out.jumps[k] + priors.of_jump(k);
  for (float& jump : jumps) jump /= all;
  out.table = JumpTable(kLongest);
  out.table.set(jumps);
  std::array<double, kFertilities> sums = {};
  for (std::size_t k = 0; k < out.fertilities.size(); ++k) sums[k % kFertilities] += out.fertilities[k];
  const auto total = static_cast<float>(std::accumulate(sums.begin(), sums.end(), 0.0));
  for (std::size_t k = 0; k < kFertilities; ++k) out.unknown[k] = total > 0 ? static_cast<float>(sums[k]) / total : 0;
}

void Aligner::check_settings() const {
  const AlignPriors& priors = settings_->priors;
  const auto fits = [](float prior) { return prior > 0 && prior < kMostLinks; };
  constexpr std::uint32_t kMostRounds = 100000;
  if (!fits(priors.lexical) || !fits(priors.null_lexical) || !fits(priors.jump) || !fits(priors.fertility) ||
      !(priors.null >= 0 && priors.null < 1) || !(settings_->discount >= 0 && settings_->discount < kMostLinks) ||
      settings_->level < AlignLevel::words || settings_->level > AlignLevel::fertilities ||
      settings_->rounds > kMostRounds)
    sections_.fail("is damaged: its settings make no sense");
}

void Aligner::check() const {
  if (rows_.size() != words_[0].size() + 1 || rows_[0] != 0 || rows_.back() != targets_.size() ||
      !std::ranges::is_sorted(rows_))
    sections_.fail("is damaged: rows does not fit the words");
  for (std::size_t row = 0; row + 1 < rows_.size(); ++row) {
    const auto targets = targets_.subspan(rows_[row], rows_[row + 1] - rows_[row]);
    for (std::size_t k = 0; k < targets.size(); ++k)
      if (targets[k] >= words_[1].size() || (k > 0 && targets[k] <= targets[k - 1]))
        sections_.fail("is damaged: targets does not fit the words");
  }
}

std::size_t Aligner::find(Symbol source, Symbol target) const {
  if (source >= words_[0].size()) return targets_.size();
  const auto row = targets_.subspan(rows_[source], rows_[source + 1] - rows_[source]);
  const auto at = std::ranges::lower_bound(row, target);
  return at != row.end() && *at == target ? rows_[source] + static_cast<std::size_t>(at - row.begin())
                                          : targets_.size();
}

float Aligner::link(bool backwards, std::size_t place, Symbol given) const {
  const Direction& direction = directions_[backwards];
  float links = 0;
  if (place < targets_.size()) {
    const float prior = direction.priors[place];
    links = prior + std::max(direction.links[place] - prior - settings_->discount, 0.0f);
  }
  const float total = given < direction.given.size() ? direction.given[given] : 0.0f;
  return (links + settings_->priors.lexical) / (total + direction.smoothing);
}

float Aligner::forward(Symbol source, std::size_t place) const {
  return share(directions_[0].links[place], directions_[0].given[source]);
}

float Aligner::backward(Symbol target, std::size_t place) const {
  return share(directions_[1].links[place], directions_[1].given[target]);
}

Aligner::Pair Aligner::look_up(Words source, Words target) const {
  if (std::max(source.size(), target.size()) > kLongest)
    throw std::invalid_argument("the sentence pair has " + std::to_string(source.size()) + " and " +
                                std::to_string(target.size()) + " words; expected at most " + std::to_string(kLongest));
  Pair pair;
  for (const std::string_view word : source) pair.words[0].push_back(words_[0].find(word));
  for (const std::string_view word : target) pair.words[1].push_back(words_[1].find(word));
  for (const auto& words : pair.words) pair.seed = hash_values(std::span<const Symbol>(words), pair.seed + 1);
  for (const Symbol s : pair.words[0])
    for (const Symbol t : pair.words[1]) pair.places.push_back(find(s, t));
  return pair;
}

PairFactors Aligner::factors(const Pair& pair, bool backwards) const {
  const Direction& direction = directions_[backwards];
  const std::vector<Symbol>&given = pair.words[backwards], &words = pair.words[!backwards];
  const std::size_t columns = pair.words[1].size();
  const AlignPriors& priors = settings_->priors;
  PairFactors out;
  out.given = given.size();
  out.words = words.size();
  out.jumps = &direction.table;
  out.links.reserve(given.size() * words.size());
  for (std::size_t j = 0; j < words.size(); ++j) {
    for (std::size_t i = 0; i < given.size(); ++i) {
      const std::size_t place = pair.places[backwards ? j * columns + i : i * columns + j];
      out.links.push_back((1 - priors.null) * link(backwards, place, given[i]));
    }
    const float none = words[j] < direction.null.size() ? direction.null[words[j]] : 0.0f;
    const float kept = std::max(none - settings_->discount, 0.0f);
    out.none.push_back(priors.null * (kept + priors.null_lexical) / direction.null_total);
  }
  if (settings_->level < AlignLevel::fertilities) return out;
  for (const Symbol word : given) {
    const float* const counts =
        word < words_[backwards].size() ? direction.fertilities.data() + word * kFertilities : direction.unknown.data();
    for (std::size_t k = 0; k + 1 < kFertilities; ++k)
      out.growth.push_back((counts[k + 1] + priors.fertility) / (counts[k] + priors.fertility));
    out.growth.push_back(1.0f);
  }
  return out;
}

LinkPosteriors Aligner::posteriors(const Pair& pair, bool backwards, std::uint32_t rounds) const {
  LinkPosteriors out;
  const PairFactors given = factors(pair, backwards);
  switch (settings_->level) {
    case AlignLevel::words: out.by_words(given); break;
    case AlignLevel::jumps: out.by_hmm(given); break;
    case AlignLevel::fertilities:
      out.by_sampling(given, rounds > 0 ? rounds : settings_->rounds, pair.seed + backwards);
      break;
  }
  return out;
}

PairPosteriors Aligner::posteriors(Words source, Words target, std::uint32_t rounds) const {
  const Pair pair = look_up(source, target);
  PairPosteriors out{source.size(), target.size(), {}, posteriors(pair, true, rounds).values()};
  const LinkPosteriors forward = posteriors(pair, false, rounds);
  for (std::size_t s = 0; s < source.size(); ++s)
    for (std::size_t t = 0; t < target.size(); ++t) out.forward.push_back(forward.link(s, t));
  return out;
}

std::vector<float> Aligner::jumps(bool backwards) const {
  std::vector<float> out;
  for (int jump = -kFarthestJump; jump <= kFarthestJump; ++jump)
    out.push_back(directions_[backwards].table.from(0)[jump]);
  return out;
}

std::array<Alignment, 2> Aligner::directions(Words source, Words target) const {
  const Pair pair = look_up(source, target);
  std::array<std::vector<Link>, 2> links;
  for (const bool backwards : {false, true}) {
    const LinkPosteriors found = posteriors(pair, backwards);
    for (std::uint32_t j = 0; j < pair.words[!backwards].size(); ++j) {
      const auto i = static_cast<std::uint32_t>(found.best(j));
      if (i < found.given()) links[backwards].push_back(backwards ? Link{j, i} : Link{i, j});
    }
  }
  return {Alignment(std::move(links[0])), Alignment(std::move(links[1]))};
}

Alignment Aligner::align(Words source, Words target, Symmetrization method) const {
  const std::array<Alignment, 2> both = directions(source, target);
  return symmetrize(both[0], both[1], method);
}

Alignment Aligner::agreed(Words source, Words target, float agreement) const {
  const PairPosteriors found = posteriors(source, target);
  std::vector<Link> links;
  for (std::uint32_t s = 0; s < source.size(); ++s)
    for (std::uint32_t t = 0; t < target.size(); ++t)
      if (std::sqrt(found.forward[s * target.size() + t] * found.backward[s * target.size() + t]) >= agreement)
        links.push_back({s, t});
  return Alignment(std::move(links));
}

template <class Call>
void Aligner::each_gain(const Pair& pair, Call&& call) const {
  for (const bool backwards : {false, true}) {
    const PairFactors given = factors(pair, backwards);
    const auto& words = pair.words[!backwards];
    const auto& tokens = tokens_[!backwards];
    for (std::size_t j = 0; j < words.size(); ++j) {
      double sum = 0;
      for (std::size_t i = 0; i < given.given; ++i) sum += given.links[j * given.given + i];
      const auto frequency = static_cast<double>(words[j] < tokens.size() ? tokens[words[j]] : 0);
      const double alone = (frequency + 1) / (all_tokens_[!backwards] + static_cast<double>(tokens.size()) + 1);
      call(backwards, (given.none[j] + sum / static_cast<double>(std::max<std::size_t>(given.given, 1))) / alone);
    }
  }
}

double Aligner::score(Words source, Words target) const {
  std::array<double, 2> sums = {};
  each_gain(look_up(source, target), [&](bool backwards, double gain) { sums[backwards] += std::log(gain); });
  return 0.5 * (sums[0] / static_cast<double>(std::max<std::size_t>(target.size(), 1)) +
                sums[1] / static_cast<double>(std::max<std::size_t>(source.size(), 1)));
}

double Aligner::evidence(Words source, Words target) const {
  double sum = 0;
  each_gain(look_up(source, target), [&](bool, double gain) { sum += std::log(0.5 * gain + 0.5); });
  return 0.5 * sum;
}

std::array<std::size_t, 2> Aligner::known(Words words) const {
  std::array<std::size_t, 2> out = {};
  for (const std::string_view word : words)
    for (const int side : {0, 1}) out[side] += words_[side].find(word) < words_[side].size() ? 1 : 0;
  return out;
}

SentencePairs Aligner::new_pairs(std::size_t longest) const {
  SentencePairs out(longest);
  for (Symbol word = 0; word < words_[0].size(); ++word) out.add_source_word(words_[0].text(word));
  for (Symbol word = 0; word < words_[1].size(); ++word) out.add_target_word(words_[1].text(word));
  return out;
}

std::span<const Symbol> Aligner::targets_of(Symbol source) const {
  return source < words_[0].size() ? targets_.subspan(rows_[source], rows_[source + 1] - rows_[source])
                                   : std::span<const Symbol>();
}

float Aligner::prior(bool backwards, Symbol source, Symbol target) const {
  const std::size_t place = find(source, target);
  return place < targets_.size() ? directions_[backwards].priors[place] : 0.0f;
}

std::array<float, 2> Aligner::probabilities(std::string_view source, std::string_view target) const {
  const Symbol s = words_[0].find(source), t = words_[1].find(target);
  const std::size_t place = find(s, t);
  if (place == targets_.size()) return {};
  return {forward(s, place), backward(t, place)};
}

std::uint64_t Aligner::checksum() const {
  std::uint64_t sum = 0;
  for (const Direction& d : directions_)
    for (const std::span<const float> values : {d.links, d.given, d.null, d.jumps, d.fertilities})
      sum = hash_values(values, sum);
  return sum;
}

std::array<DirectionCounts, 2> Aligner::counts_for(const Cells& cells) const {
  std::array<DirectionCounts, 2> out;
  const std::array sizes = {cells.pairs().source_words().size(), cells.pairs().target_words().size()};
  for (const int d : {0, 1}) {
    const auto enlarged = [](std::span<const float> values, std::size_t size) {
      std::vector<float> copy(values.begin(), values.end());
      copy.resize(size);
      return copy;
    };
    out[d] = {std::vector<float>(cells.size()), enlarged(directions_[d].given, sizes[d]),
              enlarged(directions_[d].null, sizes[1 - d]), enlarged(directions_[d].jumps, kJumps),
              enlarged(directions_[d].fertilities, sizes[d] * kFertilities)};
  }
  for (Symbol source = 0; source < words_[0].size(); ++source) {
    for (std::uint32_t n = cells.first(source); n < cells.first(source + 1); ++n) {
      const std::size_t place = find(source, cells.target(n));
      if (place == targets_.size()) continue;
      for (const int d : {0, 1}) out[d].pairs[n] = directions_[d].links[place];
    }
  }
  return out;
}

}  // namespace treeglot
