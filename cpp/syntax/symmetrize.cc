#include "syntax/symmetrize.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <vector>

namespace treeglot {
namespace {

std::vector<Link> united(const Alignment& a, const Alignment& b) {
  std::vector<Link> out;
  std::ranges::set_union(a.links(), b.links(), std::back_inserter(out));
  return out;
}

std::vector<Link> intersected(const Alignment& a, const Alignment& b) {
  std::vector<Link> out;
  std::ranges::set_intersection(a.links(), b.links(), std::back_inserter(out));
  return out;
}

class Growth {
 public:
  Growth(const Alignment& forward, const Alignment& backward)
      : possible_(united(forward, backward)), taken_(possible_.size(), false) {
    for (const Link link : possible_) {
      source_.resize(std::max<std::size_t>(source_.size(), link.source + std::size_t{1}), false);
      target_.resize(std::max<std::size_t>(target_.size(), link.target + std::size_t{1}), false);
    }
    for (const Link link : intersected(forward, backward)) take(index(link));
  }

  void grow(bool both) {
    // The neighbours in Koehn's order: beside each other first, then diagonally.
    constexpr std::array<std::pair<int, int>, 8> kNeighbours = {
        {{-1, 0}, {0, -1}, {1, 0}, {0, 1}, {-1, -1}, {-1, 1}, {1, -1}, {1, 1}}};
    for (bool added = true; std::exchange(added, false);) {
      for (std::size_t i = 0; i < possible_.size(); ++i) {
        if (!taken_[i]) continue;
        for (const auto& [source, target] : kNeighbours) {
          // Below 0 this wraps round to a position that no link has.
          const Link near = {possible_[i].source + static_cast<std::uint32_t>(source),
                             possible_[i].target + static_cast<std::uint32_t>(target)};
          const std::size_t at = index(near);
          if (at == possible_.size() || taken_[at] || !free(near, both)) continue;
          take(at);
          added = true;
        }
      }
    }
  }

  void finish(const Alignment& direction, bool both) {
    for (const Link link : direction.links())
      if (free(link, both)) take(index(link));
  }

  Alignment result() const {
    std::vector<Link> out;
    for (std::size_t i = 0; i < possible_.size(); ++i)
      if (taken_[i]) out.push_back(possible_[i]);
    return Alignment(std::move(out));
  }

 private:
  std::size_t index(Link link) const {
    const auto at = std::ranges::lower_bound(possible_, link);
    return at != possible_.end() && *at == link ? static_cast<std::size_t>(at - possible_.begin()) : possible_.size();
  }
  void take(std::size_t i) {
    taken_[i] = true;
    source_[possible_[i].source] = true;
    target_[possible_[i].target] = true;
  }
  bool free(Link link, bool both) const {
    const bool source = !source_[link.source], target = !target_[link.target];
    return both ? source && target : source || target;
  }

  std::vector<Link> possible_;  // sorted
  std::vector<bool> taken_;
  std::vector<bool> source_, target_;  // words that have a link
};

}  // namespace

Alignment symmetrize(const Alignment& forward, const Alignment& backward, Symmetrization method) {
  if (method == Symmetrization::intersection) return Alignment(intersected(forward, backward));
  if (method == Symmetrization::union_) return Alignment(united(forward, backward));
  Growth growth(forward, backward);
  growth.grow(method == Symmetrization::grow_diag_and);
  if (method == Symmetrization::grow_diag_final || method == Symmetrization::grow_diag_final_and) {
    const bool both = method == Symmetrization::grow_diag_final_and;
    growth.finish(forward, both);
    growth.finish(backward, both);
  }
  return growth.result();
}

}  // namespace treeglot
