#include "align/chain.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "base/sections.h"

namespace treeglot {
namespace {

constexpr std::uint16_t kUnset = 0xffff;
constexpr std::string_view kKind = "align-chain";
constexpr std::array<std::pair<std::string_view, std::vector<float> DirectionCounts::*>, 5> kSums = {
    {{"pairs", &DirectionCounts::pairs},
     {"given", &DirectionCounts::given},
     {"null", &DirectionCounts::null},
     {"jumps", &DirectionCounts::jumps},
     {"fertilities", &DirectionCounts::fertilities}}};

bool is_link(std::uint16_t link) { return link != 0 && link != kUnset; }

// Two independent draws from the normal distribution (Marsaglia's polar method).
std::pair<double, double> draw_normals(Random& random) {
  while (true) {
    const double u = 2.0 * random.uniform() - 1.0, v = 2.0 * random.uniform() - 1.0, s = u * u + v * v;
    if (s >= 1.0 || s == 0.0) continue;
    const double scale = std::sqrt(-2.0 * std::log(s) / s);
    return {u * scale, v * scale};
  }
}

// A draw from the Gamma distribution (Marsaglia and Tsang 2000).
double draw_gamma(double shape, Random& random) {
  double scale = 1.0;
  if (shape < 1.0) {
    scale = std::pow(1.0 - random.uniform(), 1.0 / shape);
    shape += 1.0;
  }
  const double d = shape - 1.0 / 3.0, c = 1.0 / std::sqrt(9.0 * d);
  while (true) {
    const double x = draw_normals(random).first, t = 1.0 + c * x;
    if (t <= 0.0) continue;
    const double cube = t * t * t;
    if (std::log(1.0 - random.uniform()) < 0.5 * x * x + d - d * cube + d * std::log(cube)) return scale * d * cube;
  }
}

}  // namespace

Chain::Chain(const Cells& cells, bool backwards, const AlignPriors& priors, const DirectionCounts* before,
             std::uint64_t seed)
    : cells_(cells), backwards_(backwards), priors_(priors), before_(before), seed_(seed), jumps_(0) {
  const SentencePairs& pairs = cells.pairs();
  const std::size_t given = (backwards ? pairs.target_words() : pairs.source_words()).size();
  const std::size_t words = (backwards ? pairs.source_words() : pairs.target_words()).size();
  links_.assign(backwards ? pairs.source_tokens() : pairs.target_tokens(), kUnset);
  smoothing_ = priors.lexical * static_cast<float>(words) * kUnit;
  null_smoothing_ = priors.null_lexical * static_cast<float>(words) * kUnit;
  pairs_.resize(cells.size());
  given_.resize(given);
  null_.resize(words);
  jump_counts_.resize(kJumps);
  fertility_counts_.resize(given * kFertilities);
  growth_.resize(given * kFertilities);
  sums_ = {std::vector<float>(pairs_.size()), std::vector<float>(given), std::vector<float>(words),
           std::vector<float>(kJumps), std::vector<float>(given * kFertilities)};
  std::size_t longest = 0;
  for (std::size_t p = 0; p < pairs.size(); ++p) longest = std::max(longest, cells.pair(p, backwards).given.size());
  jumps_ = JumpTable(longest);
  fertility_.resize(longest);
  same_.resize(longest);
  last_.assign(given, kUnset);
  share_.resize(longest);
  weight_.resize(longest);
  sum_.resize(longest);
  check_counts();
  recount();
}

void Chain::check_counts() const {
  const SentencePairs& pairs = cells_.pairs();
  std::vector<std::uint64_t> tokens(null_.size());
  for (std::size_t p = 0; p < pairs.size(); ++p)
    for (const Symbol word : cells_.pair(p, backwards_).words) ++tokens[word];
  double most = 0, known = 0;
  for (const std::uint64_t count : tokens) most = std::max(most, static_cast<double>(count));
  if (before_ != nullptr)
    for (const auto* counts : {&before_->pairs, &before_->null})
      for (const float count : *counts) known = std::max(known, static_cast<double>(count));
  if (most + known > kMostLinks)
    throw std::invalid_argument("a word occurs " + std::to_string(std::llround(most)) + " times, and a word pair has " +
                                std::to_string(std::llround(known)) + " links already; expected at most " +
                                std::to_string(kMostLinks) + " in all");
}

void Chain::set_jumps(Random& random) {
  std::array<float, kJumps> p;
  double total = 0;
  for (std::size_t k = 0; k < kJumps; ++k) {
    const double before = before_ != nullptr ? before_->jumps[k] : 0.0;
    const double x = draw_gamma(static_cast<double>(jump_counts_[k]) + before + priors_.of_jump(k), random);
    p[k] = static_cast<float>(x);
    total += x;
  }
  for (float& x : p) x = static_cast<float>(std::max(x / total, 1e-12));
  jumps_.set(p);
}

void Chain::set_fertilities(Random& random) {
  for (std::size_t first = 0; first < growth_.size(); first += kFertilities) {
    std::array<float, kFertilities> p;
    for (std::size_t k = 0; k < kFertilities; ++k) {
      const float before = before_ != nullptr ? before_->fertilities[first + k] : 0.0f;
      const float n = static_cast<float>(fertility_counts_[first + k]) + before + priors_.fertility;
      p[k] = std::max(static_cast<float>(draw_gamma(n, random)), 1e-6f);
    }
    for (std::size_t k = 0; k + 1 < kFertilities; ++k) growth_[first + k] = p[k + 1] / p[k];
    growth_[first + kFertilities - 1] = 1.0f;
  }
}

void Chain::round(AlignLevel level, const std::atomic<bool>& stop) {
  Random random(seed_ + rounds_);
  if (level >= AlignLevel::jumps) set_jumps(random);
  if (level >= AlignLevel::fertilities) set_fertilities(random);
  std::ranges::fill(jump_counts_, 0);
  std::ranges::fill(fertility_counts_, 0);
  std::uint16_t* links = links_.data();
  for (std::size_t p = 0; p < cells_.pairs().size(); ++p) {
    if (p % 256 == 0 && stop) return;
    const DirectedPair pair = cells_.pair(p, backwards_);
    prefetch(pair);
    sample(pair, links, level, random);
    count(pair, links);
    links += pair.words.size();
  }
  ++rounds_;
}

void Chain::prefetch(const DirectedPair& pair) const {
  for (std::size_t k = 0; k < pair.given.size() * pair.words.size(); ++k)
    __builtin_prefetch(pairs_.data() + pair.cells[k]);
  for (const Symbol word : pair.given) {
    __builtin_prefetch(given_.data() + word);
    __builtin_prefetch(growth_.data() + word * kFertilities);
    __builtin_prefetch(fertility_counts_.data() + word * kFertilities);
  }
}

void Chain::start(const DirectedPair& pair, const std::uint16_t* links) {
  for (std::size_t i = 0; i < pair.given.size(); ++i) {
    fertility_[i] = 0;
    same_[i] = static_cast<std::uint16_t>(i);
    const std::uint16_t before = std::exchange(last_[pair.given[i]], static_cast<std::uint16_t>(i));
    if (before != kUnset) same_[i] = std::exchange(same_[before], same_[i]);
  }
  for (const Symbol given : pair.given) last_[given] = kUnset;
  for (std::size_t j = 0; j < pair.words.size(); ++j)
    if (is_link(links[j])) ++fertility_[links[j] - 1];
}

void Chain::set_share(const DirectedPair& pair, std::size_t first, bool fertile) {
  const Symbol given = pair.given[first];
  const float inverted = (1.0f - priors_.null) * inverse(given);
  std::size_t i = first;
  do {
    share_[i] = fertile ? inverted * growth_[given * kFertilities + fertility_index(fertility_[i])] : inverted;
    i = same_[i];
  } while (i != first);
}

void Chain::take_back(const DirectedPair& pair, std::size_t j, std::uint16_t link, bool fertile) {
  if (link == kUnset) return;
  if (link == 0) {
    null_[pair.words[j]] -= kUnit;
    nulls_ -= kUnit;
    return;
  }
  const std::size_t i = link - 1u;
  const std::uint32_t cell = pair.column(j)[i * pair.given_step];
  pairs_[cell] -= cell != Cells::kNone ? kUnit : 0;
  given_[pair.given[i]] -= kUnit;
  --fertility_[i];
  set_share(pair, i, fertile);
}

std::size_t Chain::draw(const DirectedPair& pair, std::size_t j, float none, Random& random) {
  const std::uint32_t* const column = pair.column(j);
  const std::size_t length = pair.given.size();
  const float alpha = priors_.lexical * kUnit;
  float total = 0.0f;
  for (std::size_t i = 0; i < length; ++i) {
    total += (static_cast<float>(static_cast<std::int32_t>(pairs_[column[i * pair.given_step]])) + alpha) * weight_[i];
    sum_[i] = total;
  }
  const float drawn = static_cast<float>(random.uniform()) * (total + none);
  std::size_t i = 0;
  while (i < length && sum_[i] <= drawn) ++i;
  return i;
}

// The first word from `j` on that has a link.
static std::size_t next_linked(const DirectedPair& pair, const std::uint16_t* links, std::size_t j) {
  while (j < pair.words.size() && !is_link(links[j])) ++j;
  return j;
}

void Chain::sample(const DirectedPair& pair, std::uint16_t* links, AlignLevel level, Random& random) {
  const std::size_t length = pair.given.size();
  const bool jumping = level >= AlignLevel::jumps, fertile = level >= AlignLevel::fertilities;
  start(pair, links);
  for (std::size_t i = 0; i < length; ++i) set_share(pair, i, fertile);

  std::ptrdiff_t previous = -1, next = -1;
  std::size_t next_at = 0;  // the word that is linked to `next`
  for (std::size_t j = 0; j < pair.words.size(); ++j) {
    const Symbol word = pair.words[j];
    take_back(pair, j, links[j], fertile);
    float none = priors_.null * (static_cast<float>(null_[word]) + priors_.null_lexical * kUnit) /
                 (static_cast<float>(nulls_) + null_smoothing_);
    if (jumping) {
      if (next_at <= j) {
        next_at = next_linked(pair, links, j + 1);
        next = next_at < pair.words.size() ? links[next_at] - 1 : static_cast<std::ptrdiff_t>(length);
      }
      const float* const to_here = jumps_.from(previous);
      const float* const from_here = jumps_.to(next);
      for (std::size_t i = 0; i < length; ++i) weight_[i] = share_[i] * to_here[i] * from_here[i];
      none *= to_here[next];
    } else {
      std::copy_n(share_.begin(), length, weight_.begin());
    }
    const std::size_t i = draw(pair, j, none, random);
    links[j] = i == length ? std::uint16_t{0} : static_cast<std::uint16_t>(i + 1);
    if (i == length) {
      null_[word] += kUnit;
      nulls_ += kUnit;
      continue;
    }
    const std::uint32_t cell = pair.column(j)[i * pair.given_step];
    pairs_[cell] += cell != Cells::kNone ? kUnit : 0;
    given_[pair.given[i]] += kUnit;
    ++fertility_[i];
    set_share(pair, i, fertile);
    previous = static_cast<std::ptrdiff_t>(i);
  }
}

void Chain::count(const DirectedPair& pair, const std::uint16_t* links) {
  std::ptrdiff_t previous = -1;
  for (std::size_t j = 0; j < pair.words.size(); ++j) {
    if (links[j] == 0) continue;
    ++jump_counts_[jump_index(links[j] - 1 - previous)];
    previous = links[j] - 1;
  }
  if (!pair.words.empty()) ++jump_counts_[jump_index(static_cast<std::ptrdiff_t>(pair.given.size()) - previous)];
  for (std::size_t i = 0; i < pair.given.size(); ++i)
    ++fertility_counts_[pair.given[i] * kFertilities + fertility_index(fertility_[i])];
}

void Chain::recount() {
  const auto start = [&]<class Count>(std::vector<float> DirectionCounts::* counts, std::vector<Count>& to) {
    std::ranges::fill(to, 0);
    if (before_ == nullptr) return;
    std::ranges::transform(before_->*counts, to.begin(),
                           [](float x) { return static_cast<Count>(std::llround(x * kUnit)); });
  };
  start(&DirectionCounts::pairs, pairs_);
  start(&DirectionCounts::given, given_);
  start(&DirectionCounts::null, null_);
  std::ranges::fill(jump_counts_, 0);
  std::ranges::fill(fertility_counts_, 0);
  const std::uint16_t* links = links_.data();
  for (std::size_t p = 0; p < cells_.pairs().size() && rounds_ > 0; ++p) {
    const DirectedPair pair = cells_.pair(p, backwards_);
    std::fill_n(fertility_.begin(), pair.given.size(), 0);
    for (std::size_t j = 0; j < pair.words.size(); ++j) {
      if (links[j] == 0) {
        null_[pair.words[j]] += kUnit;
        continue;
      }
      const std::size_t i = links[j] - 1u;
      const std::uint32_t cell = pair.column(j)[i * pair.given_step];
      pairs_[cell] += cell != Cells::kNone ? kUnit : 0;
      given_[pair.given[i]] += kUnit;
      ++fertility_[i];
    }
    count(pair, links);
    links += pair.words.size();
  }
  nulls_ = std::accumulate(null_.begin(), null_.end(), std::uint64_t{0});
}

void Chain::save(const std::string& path, std::uint64_t key) const {
  Sections sections(kKind, 1);
  const auto add = [&](std::string_view name, const auto& values) {
    std::ranges::copy(values,
                      sections.add<typename std::decay_t<decltype(values)>::value_type>(name, values.size()).begin());
  };
  add("state", std::array<std::uint64_t, 3>{key, rounds_, kept_});
  add("links", links_);
  for (const auto& [name, member] : kSums) add(name, sums_.*member);
  sections.write(path);
}

// Whether every word is linked to a given word of its sentence, or to none.
bool Chain::fit(std::span<const std::uint16_t> links) const {
  for (std::size_t p = 0, first = 0; p < cells_.pairs().size(); ++p) {
    const DirectedPair pair = cells_.pair(p, backwards_);
    const auto own = links.subspan(first, pair.words.size());
    if (std::ranges::any_of(own, [&](std::uint16_t link) { return link > pair.given.size(); })) return false;
    first += pair.words.size();
  }
  return true;
}

bool Chain::load(const std::string& path, std::uint64_t key) {
  try {
    const Sections sections = Sections::open(path, kKind, 1);
    const auto state = sections.array<std::uint64_t>("state");
    const auto links = sections.array<std::uint16_t>("links");
    if (state.size() != 3 || state[0] != key || links.size() != links_.size()) return false;
    if (state[2] > state[1] || state[1] > UINT32_MAX || !fit(links)) return false;
    for (const auto& [name, member] : kSums) {
      const auto sums = sections.array<float>(name);
      if (sums.size() != (sums_.*member).size() || !std::ranges::all_of(sums, [](float x) { return x >= 0; }))
        return false;
    }
    std::ranges::copy(links, links_.begin());
    for (const auto& [name, member] : kSums) std::ranges::copy(sections.array<float>(name), (sums_.*member).begin());
    rounds_ = static_cast<std::uint32_t>(state[1]);
    kept_ = static_cast<std::uint32_t>(state[2]);
  } catch (const FormatError&) {  // cut short or damaged: the chain starts again
    return false;
  } catch (const FileError&) {
    return false;
  }
  recount();
  return true;
}

void Chain::keep() {
  const auto add = [](const auto& counts, float unit, std::vector<float>& sums) {
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += static_cast<float>(counts[k]) / unit;
  };
  add(pairs_, kUnit, sums_.pairs);
  add(given_, kUnit, sums_.given);
  add(null_, kUnit, sums_.null);
  add(jump_counts_, 1, sums_.jumps);
  add(fertility_counts_, 1, sums_.fertilities);
  ++kept_;
}

}  // namespace treeglot
