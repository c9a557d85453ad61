#include "syntax/lattice.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

#include "base/error.h"

namespace treeglot {
namespace {

std::string shown(const LatticeArc& arc) {
  return "an arc from node " + std::to_string(arc.from) + " to node " + std::to_string(arc.to);
}

void check(const LatticeArc& arc, std::string_view word, std::size_t arcs) {
  if (arc.to <= arc.from) throw std::invalid_argument(shown(arc) + "; expected a later node");
  // Every node but the first needs an arc that leads to it.
  if (arc.to > arcs)
    throw std::invalid_argument(shown(arc) + ", among " + std::to_string(arcs) +
                                " arcs; expected an arc to every node");
  if (!std::isfinite(arc.score)) throw std::invalid_argument(shown(arc) + " without a finite score");
  const auto is_blank = [](char c) { return (c >= 0 && c <= ' ') || c == '\x7f'; };
  if (std::ranges::any_of(word, is_blank))
    throw std::invalid_argument(quoted(word) + " is not a token; expected text without blanks");
}

}  // namespace

Lattice::Lattice(std::vector<LatticeArc> arcs, const Strings& words) {
  if (arcs.size() != words.size())
    throw std::invalid_argument(std::to_string(words.size()) + " words for " + std::to_string(arcs.size()) +
                                " arcs; expected one for each");
  std::uint32_t last = 0;
  for (std::size_t i = 0; i < arcs.size(); ++i) {
    check(arcs[i], words[i], arcs.size());
    last = std::max(last, arcs[i].to);
  }
  std::vector<std::uint32_t> order(arcs.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t arc) { return arcs[arc].from; });
  std::vector<bool> entered(last + std::size_t{1}, false);
  for (const std::uint32_t arc : order) {
    while (first_arc_.size() <= arcs[arc].from) first_arc_.push_back(static_cast<std::uint32_t>(arcs_.size()));
    entered[arcs[arc].to] = true;
    arcs_.push_back(arcs[arc]);
    words_.append(words[arc]);
  }
  for (std::uint32_t node = 0; node < last; ++node) {
    const std::string name = "node " + std::to_string(node);
    if (node > 0 && !entered[node]) throw std::invalid_argument("no arc leads to " + name + "; expected one");
    const std::size_t next = node + std::size_t{1} < first_arc_.size() ? first_arc_[node + 1] : arcs_.size();
    if (node >= first_arc_.size() || first_arc_[node] == next)
      throw std::invalid_argument("no arc leaves " + name + ", which is not the last; expected one");
  }
  if (!arcs_.empty() && words_.bytes().empty())
    throw std::invalid_argument("a lattice without words; expected at least one");
  first_arc_.push_back(static_cast<std::uint32_t>(arcs_.size()));  // of the last node, which none leaves
}

}  // namespace treeglot
