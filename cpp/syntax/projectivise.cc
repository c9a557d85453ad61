#include "syntax/projectivise.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace treeglot {

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
