#include "rules/frontier.h"

#include <algorithm>

namespace treeglot {

namespace {

// Runs of unaligned words on either side of each boundary, from the prefix sums of links.
void count_loose(const std::vector<std::uint32_t>& ends, std::vector<std::uint32_t>& before,
                 std::vector<std::uint32_t>& after) {
  const std::size_t length = ends.size() - 1;
  before.assign(length + 1, 0);
  after.assign(length + 1, 0);
  for (std::size_t i = 1; i <= length; ++i) before[i] = ends[i] == ends[i - 1] ? before[i - 1] + 1 : 0;
  for (std::size_t i = length; i-- > 0;) after[i] = ends[i] == ends[i + 1] ? after[i + 1] + 1 : 0;
}

}  // namespace

void Frontier::assign(std::span<const Link> links, std::size_t source_length, std::size_t target_length) {
  source_.assign(source_length, {});
  source_ends_.assign(source_length + 1, 0);
  target_ends_.assign(target_length + 1, 0);
  for (const Link link : links) {
    source_[link.source] = hull(source_[link.source], {link.target, link.target + 1});
    ++source_ends_[link.source + 1];
    ++target_ends_[link.target + 1];
  }
  for (std::size_t i = 0; i < source_length; ++i) source_ends_[i + 1] += source_ends_[i];
  for (std::size_t i = 0; i < target_length; ++i) target_ends_[i + 1] += target_ends_[i];
  count_loose(source_ends_, source_before_, source_after_);
  count_loose(target_ends_, target_before_, target_after_);
}

Span Frontier::closure_of_source(Span span) const {
  Span out;
  for (std::uint32_t word = span.begin; word < span.end; ++word) out = hull(out, source_[word]);
  return out;
}

// A phrase pair with up to so many words without links at the ends of its target side.
static inline void append_with_loose(Span source, Span closure, const Frontier& frontier, const PhraseLimits& limits,
                                     std::vector<PhrasePair>& out) {
  const std::uint32_t left = std::min(frontier.target_loose_before(closure.begin), limits.loose_target);
  const std::uint32_t right = std::min(frontier.target_loose_after(closure.end), limits.loose_target);
  for (std::uint32_t l = left + 1; l-- > 0;) {
    for (std::uint32_t r = 0; r <= std::min(right, limits.loose_target - l); ++r) {
      if (closure.size() + l + r > limits.target_length) break;
      out.push_back({source, {closure.begin - l, closure.end + r}});
    }
  }
}

void append_phrase_pairs(const Frontier& frontier, const PhraseLimits& limits, std::vector<PhrasePair>& out) {
  const auto words = static_cast<std::uint32_t>(frontier.source_length());
  for (std::uint32_t begin = 0; begin < words; ++begin) {
    const std::uint32_t loose_begin = frontier.source_loose_after(begin);
    if (loose_begin > limits.loose_source) continue;
    const std::uint32_t longest = std::min(limits.source_length, words - begin);
    Span closure;
    for (std::uint32_t end = begin + 1; end <= begin + longest; ++end) {
      closure = hull(closure, frontier.closure_of_source(end - 1));
      if (closure.empty()) continue;
      if (closure.size() > limits.target_length) break;  // it only grows
      if (loose_begin + frontier.source_loose_before(end) > limits.loose_source) continue;
      if (frontier.source_links({begin, end}) != frontier.target_links(closure)) continue;
      append_with_loose({begin, end}, closure, frontier, limits, out);
    }
  }
}

}  // namespace treeglot
