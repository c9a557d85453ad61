#include "evaluate/ngrams.h"

#include <algorithm>
#include <stdexcept>

namespace treeglot {
namespace {

// take(node, how often it is there), for every node of a list. Sorts the list.
template <class Take>
void for_each_run(std::vector<Ngrams::Node>& nodes, Take&& take) {
  std::sort(nodes.begin(), nodes.end());
  for (std::size_t begin = 0; begin < nodes.size();) {
    std::size_t end = begin + 1;
    while (end < nodes.size() && nodes[end] == nodes[begin]) ++end;
    take(nodes[begin], static_cast<std::uint32_t>(end - begin));
    begin = end;
  }
}

}  // namespace

Ngrams::Node Ngrams::add_root() {
  if (count_.size() >= kNone) throw std::length_error("references hold fewer than 2^32 n-grams");
  count_.push_back(0);
  return static_cast<Node>(count_.size() - 1);
}

void Ngrams::add(Node root, std::span<const std::uint32_t> symbols, std::size_t order) {
  std::vector<Node> at(symbols.size(), root);  // the n-gram that begins here
  std::vector<Node> nodes;
  for (std::size_t n = 1; n <= order && n <= symbols.size(); ++n) {
    nodes.clear();
    for (std::size_t begin = 0; begin + n <= symbols.size(); ++begin) {
      at[begin] = intern(at[begin], symbols[begin + n - 1]);
      nodes.push_back(at[begin]);
    }
    for_each_run(nodes, [&](Node node, std::uint32_t times) { count_[node] = std::max(count_[node], times); });
  }
}

void Ngrams::match(Node root, std::span<const std::uint32_t> symbols, std::span<double> matches) const {
  std::vector<Node> at(symbols.size(), root);
  std::vector<Node> nodes;
  for (std::size_t n = 1; n <= matches.size(); ++n) {
    nodes.clear();
    for (std::size_t begin = 0; begin + n <= symbols.size(); ++begin) {
      if (at[begin] == kNone) continue;
      at[begin] = child(at[begin], symbols[begin + n - 1]);
      if (at[begin] != kNone) nodes.push_back(at[begin]);
    }
    std::uint64_t found = 0;
    for_each_run(nodes, [&](Node node, std::uint32_t times) { found += std::min(count_[node], times); });
    matches[n - 1] = static_cast<double>(found);
  }
}

// The slot of an edge, or the empty one where it would be.
std::size_t Ngrams::slot(Node parent, std::uint32_t symbol) const {
  std::uint64_t hash = (std::uint64_t{parent} << 32 | symbol) * 0x9e3779b97f4a7c15u;
  hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93u;
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = static_cast<std::size_t>(hash >> 32) & mask;
  while (slots_[at].node != kNone && (slots_[at].parent != parent || slots_[at].symbol != symbol)) at = (at + 1) & mask;
  return at;
}

Ngrams::Node Ngrams::child(Node parent, std::uint32_t symbol) const {
  return slots_.empty() ? kNone : slots_[slot(parent, symbol)].node;
}

Ngrams::Node Ngrams::intern(Node parent, std::uint32_t symbol) {
  if ((edges_ + 1) * 2 > slots_.size()) grow();
  Slot& found = slots_[slot(parent, symbol)];
  if (found.node == kNone) {
    found = {parent, symbol, add_root()};
    ++edges_;
  }
  return found.node;
}

void Ngrams::grow() {
  std::vector<Slot> old(slots_.empty() ? 64 : slots_.size() * 2);
  old.swap(slots_);
  for (const Slot& edge : old) {
    if (edge.node != kNone) slots_[slot(edge.parent, edge.symbol)] = edge;
  }
}

}  // namespace treeglot
