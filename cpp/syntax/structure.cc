#include "syntax/structure.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

namespace treeglot {

// What decides a span's kind. Words and heads are kept as exclusive or: with one in it, that is the one.
struct Structures::Tally {
  std::uint32_t outward = 0;  // words whose head lies outside
  std::uint32_t outward_word = 0;
  std::uint32_t heads = 0;      // different heads of these
  std::uint32_t head_slot = 0;  // slot(head)
  std::uint32_t leaking = 0;    // words with a dependent outside
  std::uint32_t leaking_word = 0;
};

namespace {

// Roots share slot 0, so that they count as having one head; a word without a head has no slot.
std::uint32_t slot(std::int32_t head) { return static_cast<std::uint32_t>(head + 1); }

bool lies_in(std::int32_t head, std::uint32_t begin, std::uint32_t end) {
  return head >= 0 && static_cast<std::uint32_t>(head) >= begin && static_cast<std::uint32_t>(head) < end;
}

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

Structure Structures::decide(const Tally& tally, Span span) const {
  if (cycle_end_[span.begin] <= span.end) return {};
  if (tally.outward == 1) {
    const bool closed = tally.leaking == 0 || (tally.leaking == 1 && tally.leaking_word == tally.outward_word);
    if (strict_ && !closed) return {};
    return {Structure::Kind::fixed, static_cast<std::int32_t>(tally.outward_word)};
  }
  if (tally.outward >= 2 && tally.heads == 1) {
    if (strict_ && tally.leaking != 0) return {};
    return {Structure::Kind::floating, static_cast<std::int32_t>(tally.head_slot) - 1};
  }
  return {};
}

Structure Structures::of(Span span) const {
  if (span.begin >= span.end || span.end > heads_.size()) {
    throw std::invalid_argument("no span [" + std::to_string(span.begin) + ", " + std::to_string(span.end) +
                                ") in a sentence of " + std::to_string(heads_.size()) + " words");
  }
  Tally tally;
  for (std::uint32_t word = span.begin; word < span.end; ++word) {
    if (!lies_in(heads_[word], span.begin, span.end)) {
      // Two heads decide as well as many: only "the same as the first" is needed.
      const bool same =
          tally.outward > 0 && heads_[word] != Dependency::kNoHead && slot(heads_[word]) == tally.head_slot;
      if (!same) ++tally.heads;
      if (tally.outward == 0) tally.head_slot = slot(heads_[word]);
      ++tally.outward;
      tally.outward_word ^= word;
    }
    if (first_[word] < span.begin || last_[word] >= span.end) {
      ++tally.leaking;
      tally.leaking_word ^= word;
    }
  }
  return decide(tally, span);
}

StructureTable Structures::all(std::size_t max_length) const {
  const auto size = static_cast<std::uint32_t>(heads_.size());
  max_length = std::min<std::size_t>(max_length, size);
  StructureTable table(size, max_length);
  // By head's slot: the words of the span that have this head, outside the span so far.
  std::vector<std::uint32_t> waiting(size + 1, 0), waiting_words(size + 1, 0);
  for (std::uint32_t begin = 0; begin < size; ++begin) {
    const auto longest = static_cast<std::uint32_t>(std::min<std::size_t>(size, begin + max_length));
    Tally tally;
    for (std::uint32_t word = begin; word < longest; ++word) {
      const std::uint32_t own = slot(static_cast<std::int32_t>(word));
      if (waiting[own] > 0) {
        tally.outward -= waiting[own];
        tally.outward_word ^= waiting_words[own];
        --tally.heads;
        tally.head_slot ^= own;
        waiting[own] = waiting_words[own] = 0;
      }
      const std::int32_t head = heads_[word];
      if (lies_in(head, begin, word)) {
        const auto at = static_cast<std::uint32_t>(head);
        if (last_[at] == word && first_[at] >= begin) {
          --tally.leaking;
          tally.leaking_word ^= at;
        }
      } else {
        ++tally.outward;
        tally.outward_word ^= word;
        if (head == Dependency::kNoHead) {
          ++tally.heads;
        } else {
          if (waiting[slot(head)]++ == 0) {
            ++tally.heads;
            tally.head_slot ^= slot(head);
          }
          waiting_words[slot(head)] ^= word;
        }
      }
      if (first_[word] < begin || last_[word] > word) {
        ++tally.leaking;
        tally.leaking_word ^= word;
      }
      const Span span{begin, word + 1};
      table[span] = decide(tally, span);
    }
    for (std::uint32_t word = begin; word < longest; ++word) {
      if (heads_[word] != Dependency::kNoHead) waiting[slot(heads_[word])] = waiting_words[slot(heads_[word])] = 0;
    }
  }
  return table;
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
  const StructureTable table = all(max_length);
  std::vector<Rooted> out;
  for (std::uint32_t begin = 0; begin < heads_.size(); ++begin) {
    for (Span span{begin, begin + 1}; span.end <= heads_.size() && span.size() <= table.max_length(); ++span.end) {
      if (table[span].kind != Structure::Kind::ill_formed) out.push_back({span, roots(span, table[span])});
    }
  }
  return out;
}

}  // namespace treeglot
