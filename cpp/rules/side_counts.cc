#include "rules/side_counts.h"

#include <algorithm>
#include <string_view>

#include "base/symbols.h"

namespace treeglot {

void SideCounts::clear() {
  targets_.clear();
  symbols_.clear();
  alignments_.clear();
  links_.clear();
  index_.clear();
}

void SideCounts::add(const FoundAt& at, std::span<const std::int32_t> target, std::span<const RuleLink> links,
                     std::uint32_t units) {
  const std::string_view bytes(reinterpret_cast<const char*>(target.data()), target.size_bytes());
  const auto next = static_cast<std::uint32_t>(targets_.size());
  const std::uint32_t number = index_.intern(hash_bytes(bytes), next, [&](std::uint32_t known) {
    return std::ranges::equal(symbols(targets_[known]), target);
  });
  if (number == next) {
    targets_.push_back({static_cast<std::uint32_t>(symbols_.size()), static_cast<std::uint32_t>(target.size())});
    targets_.back().first = at;
    symbols_.insert(symbols_.end(), target.begin(), target.end());
  }
  Target& found = targets_[number];
  found.units += units;
  ++found.occurrences;
  found.first = std::min(found.first, at);
  for (std::uint32_t a = found.alignment; a != kNone; a = alignments_[a].next) {
    Alignment& known = alignments_[a];
    if (!std::ranges::equal(std::span(links_).subspan(known.first_link, known.links), links)) continue;
    ++known.occurrences;
    known.first = std::min(known.first, at);
    return;
  }
  alignments_.push_back(
      {static_cast<std::uint32_t>(links_.size()), static_cast<std::uint32_t>(links.size()), 1, at, found.alignment});
  found.alignment = static_cast<std::uint32_t>(alignments_.size() - 1);
  links_.insert(links_.end(), links.begin(), links.end());
}

std::span<const RuleLink> SideCounts::alignment(const Target& target) const {
  std::uint32_t best = target.alignment;
  for (std::uint32_t a = alignments_[best].next; a != kNone; a = alignments_[a].next) {
    const Alignment &one = alignments_[a], &other = alignments_[best];
    if (one.occurrences != other.occurrences ? one.occurrences > other.occurrences : one.first < other.first) best = a;
  }
  return std::span(links_).subspan(alignments_[best].first_link, alignments_[best].links);
}

}  // namespace treeglot
