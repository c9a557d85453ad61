#include "rules/phrase.h"

#include <algorithm>

namespace treeglot {

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
      const std::uint32_t left = std::min(frontier.target_loose_before(closure.begin), limits.loose_target);
      const std::uint32_t right = std::min(frontier.target_loose_after(closure.end), limits.loose_target);
      for (std::uint32_t l = left + 1; l-- > 0;) {
        for (std::uint32_t r = 0; r <= std::min(right, limits.loose_target - l); ++r) {
          if (closure.size() + l + r > limits.target_length) break;
          out.push_back({{begin, end}, {closure.begin - l, closure.end + r}});
        }
      }
    }
  }
}

}  // namespace treeglot
