#include "align/sentences.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace treeglot {
namespace {

constexpr double kNever = -1e300;     // the score of what cannot be; sums of it stay finite
constexpr double kHopeless = 1e-8;    // the posterior by lengths under which words are not looked at
constexpr std::size_t kNarrow = 100;  // sentences beside the diagonal that are looked at first

double log_add(double a, double b) {
  if (a < b) std::swap(a, b);
  return b <= kNever ? a : a + std::log1p(std::exp(b - a));
}

// What may be reached: of each number of source sentences, a range of numbers of target sentences.
class Band {
 public:
  // Around the places where both sides have had the same share of their length.
  Band(std::span<const double> source, std::span<const double> target, std::size_t width) {
    const double all_source = std::reduce(source.begin(), source.end()),
                 all_target = std::reduce(target.begin(), target.end());
    double before_source = 0, before_target = 0;
    std::size_t j = 0;
    for (std::size_t i = 0; i <= source.size(); ++i) {
      while (j < target.size() && before_target * all_source < before_source * all_target) before_target += target[j++];
      low_.push_back(j > width ? j - width : 0);
      high_.push_back(std::min(j + width, target.size()));
      if (i < source.size()) before_source += source[i];
    }
    low_.front() = 0;
    high_.back() = target.size();
    // Neighbouring ranges meet, so that there always is a path.
    for (std::size_t i = 0; i < source.size(); ++i) high_[i] = std::max(high_[i], low_[i + 1]);
    begin_.push_back(0);
    for (std::size_t i = 0; i <= source.size(); ++i) begin_.push_back(begin_.back() + high_[i] - low_[i] + 1);
  }

  bool has(std::size_t i, std::size_t j) const { return j >= low_[i] && j <= high_[i]; }
  std::size_t at(std::size_t i, std::size_t j) const { return begin_[i] + j - low_[i]; }
  std::size_t low(std::size_t i) const { return low_[i]; }
  std::size_t high(std::size_t i) const { return high_[i]; }
  std::size_t size() const { return begin_.back(); }
  // Whether a place is so near the edge that a wider band might have a better path.
  bool near_edge(std::size_t i, std::size_t j, std::size_t targets) const {
    constexpr std::size_t kNear = 5;
    return (low_[i] > 0 && j < low_[i] + kNear) || (high_[i] < targets && j + kNear > high_[i]);
  }

 private:
  std::vector<std::size_t> low_, high_, begin_;
};

// The scores of all beads within a band, and what follows from them.
class Lattice {
 public:
  Lattice(std::span<const double> source, std::span<const double> target, const LengthModel& lengths, std::size_t width)
      : sources_(source.size()), targets_(target.size()), band_(source, target, width) {
    scores_.assign(band_.size() * kBeads.size(), kNever);
    each([&](const Bead& bead, std::size_t kind, std::size_t place) {
      double score = std::log(kBeads[kind].prior);
      if (bead.sources > 0 && bead.targets > 0) {
        const auto sum = [](std::span<const double> side, std::uint32_t first, std::uint32_t count) {
          return count == 2 ? side[first] + side[first + 1] : side[first];
        };
        score +=
            lengths.gain(sum(source, bead.source, bead.sources), sum(target, bead.target, bead.targets), bead.targets);
      }
      scores_[place] = score;
    });
    set_posteriors();
  }

  void add_gains(const BeadGain& gain) {
    const std::vector<bool> kept = path_places();
    each([&](const Bead& bead, std::size_t, std::size_t place) {
      if (bead.sources == 0 || bead.targets == 0) return;
      if (posteriors_[place] < kHopeless && !kept[place]) {
        scores_[place] = kNever;
      } else {
        scores_[place] += gain(bead);
      }
    });
    set_posteriors();
  }

  std::vector<Bead> path() const {
    std::vector<Bead> out;
    for (std::size_t i = sources_, j = targets_; i > 0 || j > 0;) {
      const std::size_t kind = best_[band_.at(i, j)];
      i -= kBeads[kind].sources;
      j -= kBeads[kind].targets;
      out.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j), kBeads[kind].sources,
                     kBeads[kind].targets,
                     posteriors_[band_.at(i + kBeads[kind].sources, j + kBeads[kind].targets) * kBeads.size() + kind]});
    }
    std::ranges::reverse(out);
    return out;
  }

  bool near_edge() const {
    return std::ranges::any_of(path(),
                               [&](const Bead& bead) { return band_.near_edge(bead.source, bead.target, targets_); });
  }

 private:
  // call(bead, kind, place) of every bead, in the order of their ends.
  template <class Call>
  void each(Call&& call) const {
    for (std::size_t i = 0; i <= sources_; ++i)
      for (std::size_t j = band_.low(i); j <= band_.high(i); ++j)
        for (std::size_t kind = 0; kind < kBeads.size(); ++kind) {
          const auto [sources, targets, prior] = kBeads[kind];
          if (i < sources || j < targets || !band_.has(i - sources, j - targets)) continue;
          const Bead bead{static_cast<std::uint32_t>(i - sources), static_cast<std::uint32_t>(j - targets), sources,
                          targets, 0};
          call(bead, kind, band_.at(i, j) * kBeads.size() + kind);
        }
  }

  std::vector<bool> path_places() const {
    std::vector<bool> out(scores_.size());
    for (const Bead& bead : path()) {
      const std::size_t cell = band_.at(bead.source + bead.sources, bead.target + bead.targets);
      out[cell * kBeads.size() + best_[cell]] = true;
    }
    return out;
  }

  void set_posteriors() {
    std::vector<double> inside(band_.size(), kNever), outside(inside), best(inside);
    best_.assign(band_.size(), 0);
    inside[band_.at(0, 0)] = best[band_.at(0, 0)] = 0;
    each([&](const Bead& bead, std::size_t kind, std::size_t place) {
      const std::size_t from = band_.at(bead.source, bead.target), to = place / kBeads.size();
      if (scores_[place] <= kNever || best[from] <= kNever) return;
      inside[to] = log_add(inside[to], inside[from] + scores_[place]);
      if (best[from] + scores_[place] <= best[to]) return;
      best[to] = best[from] + scores_[place];
      best_[to] = static_cast<std::uint8_t>(kind);
    });
    const std::size_t end = band_.at(sources_, targets_);
    outside[end] = 0;
    for (std::size_t i = sources_ + 1; i-- > 0;)
      for (std::size_t j = band_.high(i) + 1; j-- > band_.low(i);)
        for (std::size_t kind = 0; kind < kBeads.size(); ++kind) {
          const auto [sources, targets, prior] = kBeads[kind];
          const std::size_t to = band_.at(i, j), place = to * kBeads.size() + kind;
          if (scores_[place] <= kNever || outside[to] <= kNever) continue;
          double& from = outside[band_.at(i - sources, j - targets)];
          from = log_add(from, outside[to] + scores_[place]);
        }
    posteriors_.assign(scores_.size(), 0);
    each([&](const Bead& bead, std::size_t, std::size_t place) {
      const double before = inside[band_.at(bead.source, bead.target)], after = outside[place / kBeads.size()];
      if (before <= kNever || after <= kNever || scores_[place] <= kNever) return;
      posteriors_[place] = std::exp(before + scores_[place] + after - inside[end]);
    });
  }

  std::size_t sources_, targets_;
  Band band_;
  std::vector<double> scores_, posteriors_;  // by the cell where a bead ends, then by kind
  std::vector<std::uint8_t> best_;           // the kind of the last bead on the best path to a cell
};

}  // namespace

double LengthModel::gain(double source, double target, std::uint32_t sentences) const {
  const double spread = variance * (ratio * source + target) / 2, off = target - ratio * source;
  const double fit = -off * off / (2 * spread) - 0.5 * std::log(2 * std::numbers::pi * spread);
  // The sum of lengths with an exponential distribution has an Erlang distribution.
  const double alone =
      -target / target_mean - sentences * std::log(target_mean) + (sentences > 1 ? std::log(target) : 0.0);
  return fit - alone;
}

void LengthModel::count(std::span<const double> source, std::span<const double> target, std::span<const Bead> beads) {
  for (const Bead& bead : beads) {
    if (bead.sources != 1 || bead.targets != 1) continue;
    const double s = source[bead.source], t = target[bead.target], off = t - ratio * s;
    source_sum_ += bead.posterior * s;
    target_sum_ += bead.posterior * t;
    squares_ += bead.posterior * off * off / ((ratio * s + t) / 2);
    weights_ += bead.posterior;
  }
}

void LengthModel::estimate() {
  // A little is taken to be as Gale and Church found it, so that few pairs cannot give a variance near 0.
  constexpr double kKnown = 5, kVariance = 6.8;
  if (weights_ > 0) ratio = target_sum_ / source_sum_;
  variance = (squares_ + kKnown * kVariance) / (weights_ + kKnown);
  source_sum_ = target_sum_ = squares_ = weights_ = 0;
}

LengthModel fit_lengths(std::span<const ParagraphLengths> paragraphs) {
  double sources = 0, targets = 0, sentences = 0;
  for (const ParagraphLengths& paragraph : paragraphs) {
    sources += std::reduce(paragraph.source.begin(), paragraph.source.end());
    targets += std::reduce(paragraph.target.begin(), paragraph.target.end());
    sentences += static_cast<double>(paragraph.target.size());
  }
  LengthModel out;
  if (sources == 0 || targets == 0) return out;
  out.ratio = targets / sources;
  out.target_mean = targets / sentences;
  constexpr int kRounds = 3;
  for (int round = 0; round < kRounds; ++round) {
    for (const auto& [source, target] : paragraphs) out.count(source, target, align_sentences(source, target, out, {}));
    out.estimate();
  }
  return out;
}

std::vector<Bead> align_sentences(std::span<const double> source, std::span<const double> target,
                                  const LengthModel& lengths, const BeadGain& gain) {
  for (std::size_t width = kNarrow;; width *= 2) {
    Lattice lattice(source, target, lengths, width);
    if (gain) lattice.add_gains(gain);
    if (width >= target.size() || !lattice.near_edge()) return lattice.path();
  }
}

}  // namespace treeglot
