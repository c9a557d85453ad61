#include "syntax/dependency_checks.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "syntax/dependency.h"

namespace treeglot {

std::vector<std::uint32_t> roots(Heads heads) {
  std::vector<std::uint32_t> roots;
  for (std::uint32_t word = 0; word < heads.size(); ++word) {
    if (heads[word] == Dependency::kRoot) roots.push_back(word);
  }
  return roots;
}

std::vector<std::vector<std::uint32_t>> cycles(Heads heads) {
  std::vector<std::vector<std::uint32_t>> cycles;
  std::vector<std::uint32_t> walk_of(heads.size(), 0);  // the walk that first came by, from 1
  for (std::uint32_t start = 0; start < heads.size(); ++start) {
    std::int32_t word = static_cast<std::int32_t>(start);
    while (word >= 0 && walk_of[static_cast<std::size_t>(word)] == 0) {
      walk_of[static_cast<std::size_t>(word)] = start + 1;
      word = heads[static_cast<std::size_t>(word)];
    }
    if (word < 0 || walk_of[static_cast<std::size_t>(word)] != start + 1) continue;
    std::vector<std::uint32_t> cycle;
    for (auto member = static_cast<std::uint32_t>(word); cycle.empty() || member != cycle.front();) {
      cycle.push_back(member);
      member = static_cast<std::uint32_t>(heads[member]);
    }
    std::rotate(cycle.begin(), std::ranges::min_element(cycle), cycle.end());
    cycles.push_back(std::move(cycle));
  }
  std::ranges::sort(cycles);
  return cycles;
}

bool is_tree(Heads heads) {
  return std::ranges::count(heads, Dependency::kRoot) == 1 && std::ranges::count(heads, Dependency::kNoHead) == 0 &&
         cycles(heads).empty();
}

std::vector<std::uint32_t> nonprojective_arcs(Heads heads) {
  const auto size = static_cast<std::int64_t>(heads.size());
  const DependencyOrder order(heads);
  const auto descends = [&](std::int64_t word, std::int64_t ancestor) {
    return order.descends(static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(ancestor));
  };
  // left[h], right[h]: the nearest words on both sides of h that do not descend from it. The search starts at h's
  // neighbour and jumps over known runs. A run that was passed once is inside h's, so a word takes constant time on
  // average.
  std::vector<std::int64_t> left(heads.size()), right(heads.size());
  for (std::int64_t word = 0; word < size; ++word) {
    std::int64_t other = word - 1;
    while (other >= 0 && descends(other, word)) other = left[static_cast<std::size_t>(other)];
    left[static_cast<std::size_t>(word)] = other;
  }
  for (std::int64_t word = size; word-- > 0;) {
    std::int64_t other = word + 1;
    while (other < size && descends(other, word)) other = right[static_cast<std::size_t>(other)];
    right[static_cast<std::size_t>(word)] = other;
  }
  std::vector<std::uint32_t> arcs;
  for (std::int64_t word = 0; word < size; ++word) {
    const std::int64_t head = heads[static_cast<std::size_t>(word)];
    if (head < 0) continue;
    const auto at = static_cast<std::size_t>(head);
    if (word < head ? left[at] > word : right[at] < word) arcs.push_back(static_cast<std::uint32_t>(word));
  }
  return arcs;
}

DependencyOrder::DependencyOrder(Heads heads) : number_(heads.size()), begin_(heads.size()), end_(heads.size()) {
  const auto size = static_cast<std::uint32_t>(heads.size());
  const std::vector<std::vector<std::uint32_t>> all_cycles = cycles(heads);
  std::vector<std::uint8_t> is_top(size);
  for (std::uint32_t word = 0; word < size; ++word) is_top[word] = heads[word] < 0;
  for (const auto& cycle : all_cycles) is_top[cycle.front()] = 1;

  // Dependents of a word: dependents[first[word]] to dependents[first[word + 1]].
  std::vector<std::uint32_t> first(size + 2, 0), dependents(size), stack;
  for (std::uint32_t word = 0; word < size; ++word) {
    if (!is_top[word]) ++first[static_cast<std::size_t>(heads[word]) + 2];
  }
  for (std::uint32_t word = 0; word < size; ++word) first[word + 2] += first[word + 1];
  for (std::uint32_t word = 0; word < size; ++word) {
    if (!is_top[word]) dependents[first[static_cast<std::size_t>(heads[word]) + 1]++] = word;
  }

  words_.reserve(size);
  for (std::uint32_t word = size; word-- > 0;) {
    if (is_top[word]) stack.push_back(word);
  }
  while (!stack.empty()) {
    const std::uint32_t word = stack.back();
    stack.pop_back();
    number_[word] = begin_[word] = static_cast<std::uint32_t>(words_.size());
    end_[word] = begin_[word] + 1;
    words_.push_back(word);
    for (std::uint32_t i = first[word + 1]; i-- > first[word];) stack.push_back(dependents[i]);
  }
  for (std::uint32_t i = size; i-- > 0;) {
    const std::uint32_t word = words_[i];
    if (!is_top[word]) {
      const auto head = static_cast<std::size_t>(heads[word]);
      end_[head] = std::max(end_[head], end_[word]);
    }
  }
  for (const auto& cycle : all_cycles) {
    for (const std::uint32_t word : cycle) {
      begin_[word] = begin_[cycle.front()];
      end_[word] = end_[cycle.front()];
    }
  }
}

Projectivised projectivise(Heads heads) {
  if (const auto found = cycles(heads); !found.empty()) {
    std::string words;
    for (const std::uint32_t word : found.front()) words += std::to_string(word) + " → ";
    throw std::invalid_argument("the heads form a cycle: " + words + std::to_string(found.front().front()));
  }
  Projectivised out{{heads.begin(), heads.end()}, 0};
  while (true) {
    const std::vector<std::uint32_t> arcs = nonprojective_arcs(out.heads);
    if (arcs.empty()) return out;
    const std::uint32_t word = *std::ranges::min_element(
        arcs, {}, [&](std::uint32_t w) { return std::abs(static_cast<std::int64_t>(w) - out.heads[w]); });
    out.heads[word] = out.heads[static_cast<std::size_t>(out.heads[word])];
    ++out.lifts;
  }
}

}  // namespace treeglot
