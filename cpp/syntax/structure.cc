#include "syntax/structure.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

namespace treeglot {

namespace {

bool lies_in(std::int32_t head, Span span) { return head >= 0 && span.contains(static_cast<std::uint32_t>(head)); }

}  // namespace

Structures::Structures(Heads heads, bool strict)
    : heads_(heads.begin(), heads.end()),
      strict_(strict),
      first_(heads.size()),
      last_(heads.size()),
      cycle_end_(heads.size() + 1, std::numeric_limits<std::uint32_t>::max()) {
  const auto size = static_cast<std::uint32_t>(heads.size());
  for (std::uint32_t word = 0; word < size; ++word) first_[word] = last_[word] = word;
  for (std::uint32_t word = 0; word < size; ++word) {
    if (heads_[word] < 0) continue;
    const auto head = static_cast<std::size_t>(heads_[word]);
    first_[head] = std::min(first_[head], word);
    last_[head] = std::max(last_[head], word);
  }
  for (const std::vector<std::uint32_t>& cycle : cycles(heads_)) {
    cycle_end_[cycle.front()] = *std::ranges::max_element(cycle) + 1;
  }
  for (std::uint32_t begin = size; begin-- > 0;) cycle_end_[begin] = std::min(cycle_end_[begin], cycle_end_[begin + 1]);
}

Structure Structures::of(Span span) const {
  if (span.begin >= span.end || span.end > heads_.size()) {
    throw std::invalid_argument("no span [" + std::to_string(span.begin) + ", " + std::to_string(span.end) +
                                ") in a sentence of " + std::to_string(heads_.size()) + " words");
  }
  if (holds_cycle(span)) return {};
  std::uint32_t outward = 0, outward_word = 0;  // words whose head lies outside, and the first of them
  std::uint32_t leaking = 0, leaking_word = 0;  // words with a dependent outside, likewise
  bool one_head = true;
  for (std::uint32_t word = span.begin; word < span.end; ++word) {
    if (!lies_in(heads_[word], span)) {
      if (outward++ == 0) outward_word = word;
      one_head = one_head && heads_[word] == heads_[outward_word];
    }
    if ((first_[word] < span.begin || last_[word] >= span.end) && leaking++ == 0) leaking_word = word;
  }
  if (outward == 1) {
    const bool closed = leaking == 0 || (leaking == 1 && leaking_word == outward_word);
    return strict_ && !closed ? Structure()
                              : Structure{Structure::Kind::fixed, static_cast<std::int32_t>(outward_word)};
  }
  if (!one_head || heads_[outward_word] == Dependency::kNoHead || (strict_ && leaking != 0)) return {};
  return {Structure::Kind::floating, heads_[outward_word]};
}

std::vector<std::uint32_t> Structures::roots(Span span, Structure structure) const {
  std::vector<std::uint32_t> roots;
  if (structure.kind == Structure::Kind::fixed) {
    roots.push_back(static_cast<std::uint32_t>(structure.head));
  } else if (structure.kind == Structure::Kind::floating) {
    for (std::uint32_t word = span.begin; word < span.end; ++word) {
      if (heads_[word] == structure.head) roots.push_back(word);
    }
  }
  return roots;
}

std::vector<Structures::Rooted> Structures::well_formed(std::size_t max_length) const {
  std::vector<Rooted> out;
  const auto size = static_cast<std::uint32_t>(heads_.size());
  for (std::uint32_t begin = 0; begin < size; ++begin) {
    for (Span span{begin, begin + 1}; span.end <= size && span.size() <= max_length; ++span.end) {
      const Structure found = of(span);
      if (found.kind != Structure::Kind::ill_formed) out.push_back({span, roots(span, found)});
    }
  }
  return out;
}

}  // namespace treeglot
