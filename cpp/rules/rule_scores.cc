#include "rules/rule_scores.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "base/symbols.h"
#include "rules/tally.h"

namespace treeglot {
namespace {

constexpr std::size_t kLookAhead = 8;  // rows between fetching something into the cache and looking at it

}  // namespace

RuleScores::RuleScores(RuleScoring scoring) : scoring_(std::move(scoring)) {
  if (!scoring_.smoothing.factors.empty() && !scoring_.smoothing.discounts.empty())
    throw std::invalid_argument("counts are smoothed by factors or by discounts");
}

void RuleScores::check(const CountsOfRules& rows) const {
  const std::size_t size = rows.count.size();
  if (rows.source_row.size() != size || rows.occurrences.size() != size || rows.lhs.size() != size ||
      rows.variables.size() != size)
    throw std::invalid_argument("the columns of counts differ in length");
}

double RuleScores::factor(std::uint32_t occurrences) const {
  const std::vector<double>& factors = scoring_.smoothing.factors;
  return occurrences == 0 || occurrences > factors.size() ? 1.0 : factors[occurrences - 1];
}

// A multiple of 2^-28, so that sums are exact.
double RuleScores::lost(double count, std::uint32_t occurrences) const {
  const std::vector<double>& discounts = scoring_.smoothing.discounts;
  if (discounts.empty()) return 0;
  const std::size_t place = occurrences == 0 ? discounts.size() : std::min<std::size_t>(occurrences, discounts.size());
  return std::round(count * (discounts[place - 1] / occurrences) * kCountUnit) / kCountUnit;
}

std::uint32_t RuleScores::number_of(std::string_view target, bool phrase, std::uint64_t hash) {
  const auto next = static_cast<std::uint32_t>(counts_.size());
  const std::uint32_t number = index_.intern(hash, next, [&](std::uint32_t known) {
    const std::string_view bytes(bytes_.data() + begins_[known], begins_[known + 1] - begins_[known]);
    return scoring_.apart ? bytes.front() == char{phrase} && bytes.substr(1) == target : bytes == target;
  });
  if (number != next) return number;
  if (next == HashIndex::kNone - 1) throw std::length_error("there are more than 2^32 target sides");
  if (scoring_.apart) bytes_.push_back(char{phrase});
  bytes_.insert(bytes_.end(), target.begin(), target.end());
  begins_.push_back(bytes_.size());
  counts_.push_back(0);
  if (!scoring_.smoothing.discounts.empty()) lost_rules_.resize(2 * counts_.size(), 0);
  return number;
}

void RuleScores::add(const Codes& targets, const CountsOfRules& rows) {
  if (begins_.empty() || next_ > 0) throw std::invalid_argument("rows were finished; expected no more of them");
  check(rows);
  const std::size_t size = rows.count.size();
  if (targets.rows() != size) throw std::invalid_argument("there must be as many target sides as counts");
  const auto phrase = [&](std::size_t row) { return scoring_.apart && rows.lhs[row] == 0; };
  const auto hash = [&](std::size_t row) { return hash_bytes(targets[row], phrase(row) ? 1 : 0); };
  // Rows are looked at before their turn: first for the slot that they lead to, then for what it points to.
  std::uint64_t hashes[4 * kLookAhead] = {};
  const auto kept = [&](std::size_t row) -> std::uint64_t& { return hashes[row % std::size(hashes)]; };
  for (std::size_t step = 0; step < size + 3 * kLookAhead; ++step) {
    if (step < size) index_.prefetch(kept(step) = hash(step));
    if (step >= kLookAhead && step - kLookAhead < size) {
      const std::uint32_t likely = index_.likely(kept(step - kLookAhead));
      if (likely != HashIndex::kNone) {
        __builtin_prefetch(&begins_[likely]);
        __builtin_prefetch(&counts_[likely]);
      }
    }
    if (step >= 2 * kLookAhead && step - 2 * kLookAhead < size) {
      const std::uint32_t likely = index_.likely(kept(step - 2 * kLookAhead));
      if (likely != HashIndex::kNone) __builtin_prefetch(bytes_.data() + begins_[likely]);
    }
    if (step < 3 * kLookAhead) continue;
    const std::size_t row = step - 3 * kLookAhead;
    add_row(rows, row, number_of(targets[row], phrase(row), kept(row)));
  }
}

void RuleScores::add_row(const CountsOfRules& rows, std::size_t row, std::uint32_t target) {
  target_of_row_.push_back(target);
  counts_[target] += rows.count[row];
  if (!lost_rules_.empty()) {
    lost_rules_[2 * target] += lost(rows.count[row], rows.occurrences[row]);
    lost_rules_[2 * target + 1] += 1;
  }
  if (!scoring_.roots) return;
  if (rows.lhs[row] >= roots_.size()) roots_.resize(std::size_t{rows.lhs[row]} + 1, 0);
  roots_[rows.lhs[row]] += rows.count[row];
}

std::size_t RuleScores::bytes() const {
  return index_.bytes() + bytes_.capacity() + begins_.capacity() * sizeof(std::uint64_t) +
         (counts_.capacity() + lost_rules_.capacity()) * sizeof(double) +
         target_of_row_.capacity() * sizeof(std::uint32_t) + roots_.capacity() * sizeof(double);
}

std::size_t RuleScores::bytes_to_add(const Codes& targets, const CountsOfRules& rows) const {
  check(rows);
  const auto growth = []<class T>(const std::vector<T>& values, std::size_t more) {
    const std::size_t size = values.size() + more;
    return size <= values.capacity() ? 0 : 2 * size * sizeof(T);
  };
  const std::size_t count = rows.count.size(), sums = scoring_.smoothing.discounts.empty() ? 0 : 2 * count;
  // The index has at most three slots of eight bytes for each side when it grows.
  const std::size_t sides = counts_.size() + count, slots = std::max<std::size_t>(64, 3 * sides) * 8;
  const std::size_t index = 12 * sides <= index_.bytes() ? 0 : slots;
  const std::size_t last = scoring_.roots && count > 0 ? std::size_t{std::ranges::max(rows.lhs)} + 1 : 0;
  return bytes() + index + growth(bytes_, targets.bytes.size() + (scoring_.apart ? count : 0)) +
         growth(begins_, count) + growth(counts_, count) + growth(lost_rules_, sums) + growth(target_of_row_, count) +
         growth(roots_, last - std::min(last, roots_.size()));
}

void RuleScores::finish() {
  index_ = {};
  bytes_ = {};
  begins_ = {};
  counts_.shrink_to_fit();
  lost_rules_.shrink_to_fit();
  target_of_row_.shrink_to_fit();
}

RuleScores::Sum RuleScores::target(std::uint32_t number) const {
  if (lost_rules_.empty()) return {counts_[number]};
  return {counts_[number], lost_rules_[2 * number], lost_rules_[2 * number + 1]};
}

double RuleScores::probability(double kept, const Sum& given, const Sum& side) const {
  const double share = kept / given.count;
  if (scoring_.smoothing.discounts.empty()) return share;
  return share + given.lost / given.count * (side.rules / scoring_.smoothing.rules);
}

// Leaves out rules with too few occurrences, then all but the most probable. The others keep the order of the rows.
void RuleScores::score_source(const CountsOfRules& rows, std::size_t begin, std::size_t end, ScoredRules& out) {
  Sum source;
  for (std::size_t row = begin; row < end; ++row) {
    source.count += rows.count[row];
    source.lost += lost(rows.count[row], rows.occurrences[row]);
    source.rules += 1;
  }
  const std::size_t first = out.kept.size();
  for (std::size_t row = begin; row < end; ++row) {
    const std::uint32_t number = target_of_row_[next_ + row - begin], occurrences = rows.occurrences[row];
    if (occurrences < scoring_.least || (rows.variables[row] > 0 && occurrences < scoring_.least_gappy)) continue;
    const double kept = rows.count[row] * factor(occurrences) - lost(rows.count[row], occurrences);
    const Sum of_target = target(number);
    out.kept.push_back(static_cast<std::int64_t>(row));
    out.target_given_source.push_back(static_cast<float>(probability(kept, source, of_target)));
    out.source_given_target.push_back(static_cast<float>(probability(kept, of_target, source)));
    if (scoring_.roots) out.given_root.push_back(static_cast<float>(rows.count[row] / roots_[rows.lhs[row]]));
  }
  next_ += end - begin;
  const std::size_t most = scoring_.targets_per_source;
  if (most == 0 || out.kept.size() - first <= most) return;
  ranked_.clear();
  for (std::size_t at = first; at < out.kept.size(); ++at) ranked_.push_back({out.target_given_source[at], at});
  const auto last = ranked_.begin() + static_cast<std::ptrdiff_t>(most);
  std::ranges::nth_element(ranked_, last, [](const Place& a, const Place& b) {
    return a.probability != b.probability ? a.probability > b.probability : a.at < b.at;
  });
  std::sort(ranked_.begin(), last, [](const Place& a, const Place& b) { return a.at < b.at; });
  std::size_t to = first;
  for (auto place = ranked_.begin(); place != last; ++place, ++to) {
    out.kept[to] = out.kept[place->at];
    out.target_given_source[to] = out.target_given_source[place->at];
    out.source_given_target[to] = out.source_given_target[place->at];
    if (scoring_.roots) out.given_root[to] = out.given_root[place->at];
  }
  out.kept.resize(to);
  out.target_given_source.resize(to);
  out.source_given_target.resize(to);
  if (scoring_.roots) out.given_root.resize(to);
}

ScoredRules RuleScores::score(const CountsOfRules& rows) {
  check(rows);
  const std::size_t size = rows.count.size();
  if (size > waiting()) throw std::invalid_argument("there are more rows than were added");
  ScoredRules out;
  out.kept.reserve(size);
  out.target_given_source.reserve(size);
  out.source_given_target.reserve(size);
  if (scoring_.roots) out.given_root.reserve(size);
  for (std::size_t begin = 0, end = 0; begin < size; begin = end) {
    while (end < size && rows.source_row[end] == rows.source_row[begin]) ++end;
    for (std::size_t row = begin; scoring_.roots && row < end; ++row)
      if (rows.lhs[row] >= roots_.size()) throw std::invalid_argument("rows differ from those that were added");
    score_source(rows, begin, end, out);
  }
  return out;
}

}  // namespace treeglot
