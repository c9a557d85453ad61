// The forest of max_rule.h.
#include <algorithm>
#include <cmath>
#include <limits>

#include "parse/max_rule.h"

namespace treeglot {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();
constexpr std::uint32_t kNone = ChartEdge::kNone;
// Sums of the same scores in another order differ by rounding; the best tree must not fall out by that.
constexpr double kRounding = 1e-9;

}  // namespace

std::vector<double> MaxRule::outside() const {
  std::vector<double> out(best_.size(), kNever);
  out[top_] = 0.0;
  for (std::size_t at = order_.size(); at-- > 0;) {
    const std::uint32_t node = order_[at];
    if (out[node] == kNever) continue;
    for (std::uint32_t e = first_edge_[node]; e < first_edge_[node + 1]; ++e) {
      const Edge& edge = edges_[e];
      if (edge.left == kNone || edge.score == kNever) continue;
      const double above = out[node] + edge.score;
      if (edge.right == kNone) {
        out[edge.left] = std::max(out[edge.left], above);
      } else {
        out[edge.left] = std::max(out[edge.left], above + best_[edge.right]);
        out[edge.right] = std::max(out[edge.right], above + best_[edge.left]);
      }
    }
  }
  return out;
}

// The ways to build `head` from nodes that are no parts, as good as `least` with the best trees below them, from the best
// on; whether there were more than `most`. Rules of many children have very many ways where much is ambiguous.
bool MaxRule::flatten(std::uint32_t head, double outside, double least, std::size_t most, std::span<const double> totals,
                      std::vector<Flat>& out) const {
  struct Partial {
    Flat flat;
    std::size_t next = 0;    // tails before it are no parts
    double bound = 0.0;      // with the best trees below: what the best of its completions has
    std::size_t number = 0;  // of equal ones the earlier comes first
  };
  std::vector<Partial> open;
  std::size_t made = 0;
  const auto worse = [](const Partial& a, const Partial& b) {
    return a.bound != b.bound ? a.bound < b.bound : a.number > b.number;
  };
  const auto add = [&](const Partial& from, const Edge& edge, double bound, double conditional, std::size_t position) {
    Partial grown = from;
    grown.bound = bound;
    grown.number = made++;
    grown.flat.score += edge.score;
    grown.flat.conditional += conditional;
    auto& tails = grown.flat.tails;
    if (!tails.empty()) tails.erase(tails.begin() + static_cast<std::ptrdiff_t>(position));  // the part
    const auto place = tails.begin() + static_cast<std::ptrdiff_t>(position);
    const std::uint32_t below[] = {edge.left, edge.right};
    tails.insert(place, below, below + (edge.left != kNone) + (edge.right != kNone));
    open.push_back(std::move(grown));
    std::push_heap(open.begin(), open.end(), worse);
  };
  const auto grow = [&](const Partial& from, std::uint32_t node, std::size_t position) {
    for (std::uint32_t e = first_edge_[node]; e < first_edge_[node + 1]; ++e) {
      const Edge& edge = edges_[e];
      const double bound = from.bound + edge_best(edge) - best_[node];
      if (edge.score == kNever || !(bound >= least)) continue;
      if (!is_stay(node, edge)) {
        add(from, edge, bound, edge.score - totals[node], position);
        continue;
      }
      // The edges of the lower layer are the upper one's too.
      for (std::uint32_t l = first_edge_[edge.left]; l < first_edge_[edge.left + 1]; ++l) {
        const Edge& lower = edges_[l];
        const double lower_bound = bound + edge_best(lower) - best_[edge.left];
        if (!(lower_bound >= least)) continue;
        add(from, lower, lower_bound, stays_[edge.left] - totals[node] + lower.score - totals[edge.left], position);
      }
    }
  };
  grow({{}, 0, outside + best_[head], 0}, head, 0);
  while (!open.empty()) {
    if (out.size() == most) return true;
    std::pop_heap(open.begin(), open.end(), worse);
    Partial top = std::move(open.back());
    open.pop_back();
    const auto& tails = top.flat.tails;
    while (top.next < tails.size() && !parts_[at(tails[top.next]).label]) ++top.next;
    if (top.next == tails.size()) {
      out.push_back(std::move(top.flat));
    } else {
      grow(top, tails[top.next], top.next);
    }
  }
  return false;
}

ParseForest MaxRule::forest(std::span<const std::string_view> words, double margin, std::size_t most,
                            bool probabilities, std::size_t& cut) const {
  cut = 0;
  const std::vector<double> above = outside();
  const double least = best_[top_] - margin - kRounding;
  std::vector<double> totals(best_.size(), 0.0);  // log of the sum of a node's posteriors
  for (const std::uint32_t node : order_) {
    double sum = 0.0;
    for (std::uint32_t e = first_edge_[node]; e < first_edge_[node + 1]; ++e)
      sum += std::exp(is_stay(node, edges_[e]) ? stays_[edges_[e].left] : edges_[e].score);
    totals[node] = std::log(sum);
  }
  // From the top down, so that whatever is kept is in a tree.
  std::vector<std::vector<Flat>> kept(best_.size());
  std::vector<std::uint8_t> reached(best_.size(), 0);
  reached[top_] = 1;
  for (std::size_t at = order_.size(); at-- > 0;) {
    const std::uint32_t node = order_[at];
    if (!reached[node]) continue;
    std::vector<Flat>& edges = kept[node];
    cut += flatten(node, above[node], least, most, totals, edges);
    // Two ways to bind a rule's parts together are one edge.
    std::stable_sort(edges.begin(), edges.end(), [](const Flat& a, const Flat& b) {
      return a.tails != b.tails ? a.tails < b.tails : a.score > b.score;
    });
    edges.erase(std::unique(edges.begin(), edges.end(), [](const Flat& a, const Flat& b) { return a.tails == b.tails; }),
                edges.end());
    for (const Flat& edge : edges) {
      for (const std::uint32_t tail : edge.tails) reached[tail] = 1;
    }
  }
  Builder builder;
  Strings labels;
  std::vector<Span> spans;
  std::vector<double> scores;
  builder.add_nodes(words.size());
  for (std::uint32_t i = 0; i < words.size(); ++i) {
    builder.add_edge(i, {});
    scores.push_back(0.0);
    labels.append(words[i]);
    spans.push_back({i, i + 1});
  }
  std::vector<NodeId> number(best_.size(), kNoNode);
  std::vector<NodeId> tails;
  for (const std::uint32_t node : order_) {
    if (!reached[node] || kept[node].empty()) continue;
    number[node] = builder.add_node();
    labels.append(grammar_.shown(at(node).label));
    spans.push_back({at(node).begin, at(node).end});
    double sum = 0.0;
    for (const Flat& edge : kept[node]) sum += std::exp(edge.conditional);
    for (const Flat& edge : kept[node]) {
      tails.clear();
      for (const std::uint32_t tail : edge.tails) tails.push_back(number[tail]);
      if (tails.empty()) tails.push_back(at(node).begin);
      builder.add_edge(number[node], tails);
      scores.push_back(probabilities ? edge.conditional - std::log(sum) : edge.score);
    }
  }
  Mapped frozen = builder.freeze(number[top_]);
  std::vector<double> sorted(scores.size());
  for (std::size_t e = 0; e < sorted.size(); ++e) sorted[e] = scores[frozen.edge_map[e]];
  return ParseForest(std::move(frozen.graph), std::move(labels), std::move(spans), std::move(sorted),
                     probabilities ? ScoreKind::conditional : ScoreKind::posterior);
}

}  // namespace treeglot
