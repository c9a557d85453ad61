#include "rules/frontier.h"

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

}  // namespace treeglot
