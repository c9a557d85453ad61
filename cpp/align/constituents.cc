#include "align/constituents.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include "graph/inside_outside.h"
#include "syntax/forest_stages.h"

namespace treeglot {
namespace {

constexpr std::uint32_t kNone = 0xffffffffu;

// The lowest and the highest words of the other side that a constituent is linked to. The second of each are what
// remains without the link to the first; it is the same word if several links lead there.
struct Ends {
  std::array<std::uint32_t, 2> low = {kNone, kNone}, high = {};
  std::array<std::size_t, 2> at = {};  // the links to low[0] and high[0]
  std::size_t links = 0;

  void add(std::uint32_t word, std::size_t link) {
    ++links;
    if (word < low[0]) at[0] = link;
    low[1] = std::min(low[1], std::max(low[0], word));
    low[0] = std::min(low[0], word);
    if (links == 1 || word > high[0]) at[1] = link;
    high[1] = links == 1 ? 0 : std::max(high[1], std::min(high[0], word));
    high[0] = std::max(high[0], word);
  }
};

// A link as a constituent of one side sees it: the word of its own side, and the other one.
struct Seen {
  std::uint32_t inner, outer;
};

// Links from outside a constituent that break it.
struct Breaks {
  std::size_t all = 0, last = 0;                  // their number, and one of them
  std::size_t without_low = 0, without_high = 0;  // their number without the lowest or the highest link
};

Breaks breaks(std::span<const Seen> links, Span span, const Ends& ends) {
  Breaks out;
  for (std::size_t k = 0; k < links.size(); ++k) {
    const auto [inner, outer] = links[k];
    const bool inside = inner >= span.begin && inner < span.end;
    if (inside || outer < ends.low[0] || outer > ends.high[0]) continue;
    ++out.all;
    out.without_low += outer >= ends.low[1] ? 1 : 0;
    out.without_high += outer <= ends.high[1] ? 1 : 0;
    out.last = k;
  }
  return out;
}

// Adds to `gains`, by link, the probabilities of the constituents of one side that are repaired without the link.
void add_mended(std::span<const Link> links, std::span<const Constituent> constituents, bool target_side,
                std::vector<double>& gains) {
  std::vector<Seen> seen;
  for (const Link link : links)
    seen.push_back(target_side ? Seen{link.target, link.source} : Seen{link.source, link.target});
  for (const auto& [span, probability] : constituents) {
    Ends ends;
    for (std::size_t k = 0; k < seen.size(); ++k)
      if (seen[k].inner >= span.begin && seen[k].inner < span.end) ends.add(seen[k].outer, k);
    if (ends.links == 0) continue;
    const Breaks found = breaks(seen, span, ends);
    if (found.all == 0) continue;
    if (found.all == 1) gains[found.last] += probability;
    if (ends.links == 1 || found.without_low == 0) gains[ends.at[0]] += probability;
    if (ends.links > 1 && found.without_high == 0) gains[ends.at[1]] += probability;
  }
}

bool counts(Span span, std::size_t words) { return span.size() > 1 && span.size() < words; }

}  // namespace

std::vector<Constituent> constituents(const Tree& tree) {
  std::vector<Constituent> out;
  for (std::uint32_t node = 0; node < tree.size(); ++node)
    if (counts(tree.span(node), tree.words())) out.push_back({tree.span(node)});
  // In preorder, nodes of one span follow each other.
  const auto same = [](const Constituent& a, const Constituent& b) {
    return a.span.begin == b.span.begin && a.span.end == b.span.end;
  };
  out.erase(std::ranges::unique(out, same).begin(), out.end());
  return out;
}

std::vector<Constituent> constituents(const ParseForest& forest) {
  constexpr double kLeast = 0.01;  // a less probable constituent changes no choice of links
  if (!forest.parsed()) return {};
  const Hypergraph& graph = forest.graph();
  const std::vector<double> posterior = posteriors(graph, conditional_scores(forest));
  // A derivation has one edge that splits each of its spans; unary edges above it have the same span.
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> found;
  for (auto node = static_cast<NodeId>(forest.words()); node < graph.nodes(); ++node) {
    if (!counts(forest.span(node), forest.words())) continue;
    for (EdgeId edge = graph.edges_begin(node); edge < graph.edges_end(node); ++edge)
      if (graph.tails(edge).size() > 1)
        found[{forest.span(node).begin, forest.span(node).end}] += std::exp(posterior[edge]);
  }
  std::vector<Constituent> out;
  for (const auto& [span, probability] : found)
    if (probability >= kLeast) out.push_back({{span.first, span.second}, std::min(probability, 1.0)});
  return out;
}

Alignment mend(const Alignment& links, std::span<const Constituent> source, std::span<const Constituent> target,
               double cost, const std::function<double(Link)>& probability) {
  constexpr double kSurest = 0.999999;  // so that no link is worth more than all constituents
  std::vector<Link> kept(links.links().begin(), links.links().end());
  std::vector<double> worth, gains;
  for (const Link link : kept) worth.push_back(-std::log(1 - std::min(probability(link), kSurest)));
  while (!kept.empty()) {
    gains.assign(kept.size(), 0);
    add_mended(kept, source, false, gains);
    add_mended(kept, target, true, gains);
    for (std::size_t k = 0; k < kept.size(); ++k) gains[k] = cost * gains[k] - worth[k];
    const auto best = std::ranges::max_element(gains);
    if (*best <= 0) break;
    const auto at = best - gains.begin();
    kept.erase(kept.begin() + at);
    worth.erase(worth.begin() + at);
  }
  return Alignment(std::move(kept));
}

}  // namespace treeglot
