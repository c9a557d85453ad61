#include "syntax/affiliation.h"

#include <algorithm>
#include <cstddef>

namespace treeglot {

std::vector<std::uint32_t> affiliations(std::span<const Link> links, std::size_t target_words, std::uint32_t none) {
  std::vector<std::vector<std::uint32_t>> linked(target_words);
  for (const Link link : links) linked[link.target].push_back(link.source);
  std::vector<std::uint32_t> out(target_words, none);
  std::vector<std::size_t> places;  // of linked words
  for (std::size_t i = 0; i < target_words; ++i) {
    if (linked[i].empty()) continue;
    std::ranges::sort(linked[i]);
    out[i] = linked[i][(linked[i].size() - 1) / 2];
    places.push_back(i);
  }
  if (places.empty()) return out;
  for (std::size_t i = 0; i < target_words; ++i) {
    if (!linked[i].empty()) continue;
    const auto right = std::ranges::lower_bound(places, i);
    const bool take_right = right != places.end() && (right == places.begin() || *right - i <= i - right[-1]);
    out[i] = out[take_right ? *right : right[-1]];
  }
  return out;
}

}  // namespace treeglot
