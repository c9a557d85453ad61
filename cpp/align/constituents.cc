#include "align/constituents.h"

#include <algorithm>
#include <cmath>

namespace treeglot {

std::vector<Span> constituents(const Tree& tree) {
  std::vector<Span> out;
  for (std::uint32_t node = 0; node < tree.size(); ++node) {
    const Span span = tree.span(node);
    if (span.end - span.begin > 1 && span.end - span.begin < tree.words()) out.push_back(span);
  }
  // In preorder, nodes of one span follow each other.
  out.erase(std::ranges::unique(out, [](Span a, Span b) { return a.begin == b.begin && a.end == b.end; }).begin(),
            out.end());
  return out;
}

std::size_t count_broken(std::span<const Link> links, std::span<const Span> spans, bool target_side,
                         std::size_t without) {
  const auto inner = [&](Link link) { return target_side ? link.target : link.source; };
  const auto outer = [&](Link link) { return target_side ? link.source : link.target; };
  std::size_t broken = 0;
  for (const Span span : spans) {
    const auto inside = [&](Link link) { return inner(link) >= span.begin && inner(link) < span.end; };
    std::uint32_t low = 0xffffffffu, high = 0;
    for (std::size_t k = 0; k < links.size(); ++k) {
      if (k == without || !inside(links[k])) continue;
      low = std::min(low, outer(links[k]));
      high = std::max(high, outer(links[k]));
    }
    for (std::size_t k = 0; k < links.size(); ++k) {
      if (k == without || inside(links[k]) || outer(links[k]) < low || outer(links[k]) > high) continue;
      ++broken;
      break;
    }
  }
  return broken;
}

Alignment mend(const Alignment& links, std::span<const Span> source, std::span<const Span> target, double cost,
               const std::function<double(Link)>& probability) {
  constexpr double kSurest = 0.999999;  // so that no link is worth more than all constituents
  std::vector<Link> kept(links.links().begin(), links.links().end());
  std::vector<double> worth;
  for (const Link link : kept) worth.push_back(-std::log(1 - std::min(probability(link), kSurest)));
  const auto broken = [&](std::size_t without) {
    return count_broken(kept, source, false, without) + count_broken(kept, target, true, without);
  };
  while (!kept.empty()) {
    const std::size_t now = broken(kept.size());
    std::size_t best = kept.size();
    double most = 0;
    for (std::size_t k = 0; now > 0 && k < kept.size(); ++k) {
      if (cost * static_cast<double>(now) - worth[k] <= most) continue;  // even if it mended all of them
      const double gain = cost * (static_cast<double>(now) - static_cast<double>(broken(k))) - worth[k];
      if (gain <= most) continue;
      most = gain;
      best = k;
    }
    if (best == kept.size()) break;
    kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(best));
    worth.erase(worth.begin() + static_cast<std::ptrdiff_t>(best));
  }
  return Alignment(std::move(kept));
}

}  // namespace treeglot
