#include "parse/max_rule.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace treeglot {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();
constexpr std::uint32_t kNone = ChartEdge::kNone;

bool is_unary(const MaxRule::Edge& edge) { return edge.left != kNone && edge.right == kNone; }

constexpr double kExact = -1.0;

double exact_log(double posterior) { return std::log(std::min(1.0, posterior)); }

// No smaller than the logarithm of a normal number up to 1, by 0.06 at most: between powers of 2 it is linear.
double log_bound(double posterior) {
  constexpr double kAbove = 0.0861;  // log2(1 + x) - x is no greater
  constexpr double kUnit = 0x1p-52, kBias = 1023.0;
  const auto bits = static_cast<double>(std::bit_cast<std::int64_t>(posterior));
  return std::numbers::ln2 * (bits * kUnit - kBias + kAbove);
}

bool is_root(const ChartNode& node, Symbol root, std::uint32_t end) {
  return node.label == root && node.begin == 0 && node.end == end;
}

}  // namespace

// Sets stays_ and first_edge_. Which nodes are in both layers.
std::vector<std::uint8_t> MaxRule::count_edges(const FineChart& chart, std::uint32_t above) {
  std::vector<std::uint8_t> is_double(chart_nodes_, 0);
  if (above > 0) stays_.assign(chart_nodes_, kNever);
  first_edge_.assign(chart_nodes_ + above + 1, 0);
  for (const ChartEdge& edge : chart.edges()) {
    if (edge.is_stay()) {
      if (above > 0) stays_[edge.head] = exact_log(edge.posterior);  // else no edge is one
    } else if (edge.is_unary()) {
      is_double[edge.head] = above > 0;
      ++first_edge_[edge.head + above + 1];
    } else {
      ++first_edge_[edge.head + 1];
    }
  }
  if (above > 0) {
    for (std::uint32_t node = 0; node < chart_nodes_; ++node)
      first_edge_[node + above + 1] += is_double[node] && stays_[node] > kNever;
  }
  const std::size_t nodes = chart_nodes_ + above;
  for (std::size_t node = 0; node < nodes; ++node) first_edge_[node + 1] += first_edge_[node];
  return is_double;
}

MaxRule::MaxRule(const SplitGrammar& grammar, const FineChart& chart)
    : nodes_(chart.nodes()), chart_nodes_(static_cast<std::uint32_t>(chart.nodes().size())) {
  // With one layer all edges join nodes of the chart. With two, unary edges and stays lead from the upper one to the
  // lower. Others lead from the lower to the upper. A node without unary edges is in both.
  const bool layers = chart.closed();
  const std::uint32_t above = layers ? chart_nodes_ : 0;
  const std::size_t nodes = chart_nodes_ + above;
  const std::vector<std::uint8_t> is_double = count_edges(chart, above);
  const auto upper = [&](std::uint32_t node) { return node != kNone && is_double[node] ? node + chart_nodes_ : node; };
  edges_.resize(first_edge_[nodes]);
  posteriors_.resize(edges_.size());
  std::vector<std::uint32_t> next(first_edge_.begin(), first_edge_.end() - 1);
  const auto add = [&](std::uint32_t head, const Edge& edge, double posterior) {
    const std::uint32_t at = next[head]++;
    edges_[at] = edge;
    posteriors_[at] = posterior;
  };
  for (const ChartEdge& edge : chart.edges()) {
    if (edge.is_stay()) {
      if (is_double[edge.head])
        add(edge.head + above, {edge.head, kNone, 0.0}, kExact);  // no rule, so it costs nothing
    } else if (edge.is_unary()) {
      add(edge.head + above, {edge.left, kNone, log_bound(edge.posterior)}, edge.posterior);
    } else {
      add(edge.head, {upper(edge.left), upper(edge.right), log_bound(edge.posterior)}, edge.posterior);
    }
  }
  best_.assign(nodes, kNever);
  settle_spans(layers);
  const std::uint32_t last = nodes_.empty() ? 0 : nodes_.back().end;
  for (std::uint32_t node = 0; node < chart_nodes_; ++node)
    if (is_root(nodes_[node], grammar.root, last)) top_ = upper(node);
}

// Span by span: nodes of a span are side by side, spans come by length.
void MaxRule::settle_spans(bool layers) {
  for (std::uint32_t begin = 0; begin < chart_nodes_;) {
    std::uint32_t end = begin + 1;
    while (end < chart_nodes_ && nodes_[end].begin == nodes_[begin].begin && nodes_[end].end == nodes_[begin].end)
      ++end;
    cells_.push_back(begin);
    if (layers) {
      settle_layers(begin, end);
    } else {
      settle_steps(begin, end);
    }
    begin = end;
  }
  cells_.push_back(chart_nodes_);
}

double MaxRule::best(const Edge& edge) const {
  double sum = edge.score;
  if (edge.left != kNone) sum += best_[edge.left];
  if (edge.right != kNone) sum += best_[edge.right];
  return sum;
}

double MaxRule::score(const Edge& edge) const {
  const double posterior = posteriors_[static_cast<std::size_t>(&edge - edges_.data())];
  return posterior == kExact ? edge.score : exact_log(posterior);
}

// The same, for the exact score.
double MaxRule::exact_best(std::uint32_t edge) {
  edges_[edge].score = score(edges_[edge]);
  posteriors_[edge] = kExact;
  return best(edges_[edge]);
}

// Most edges have bounds below the best.
void MaxRule::raise_by(std::uint32_t node, std::uint32_t edge) {
  if (best(edges_[edge]) > best_[node]) best_[node] = std::max(best_[node], exact_best(edge));
}

// First what words and binary rules make, then what at most one unary rule makes of that: no cycles.
void MaxRule::settle_layers(std::uint32_t begin, std::uint32_t end) {
  for (const std::uint32_t layer : {0u, chart_nodes_}) {
    for (std::uint32_t node = layer + begin; node < layer + end; ++node) {
      for (std::uint32_t e = first_edge_[node]; e < first_edge_[node + 1]; ++e) raise_by(node, e);
    }
  }
}

namespace {

using Open = std::vector<std::pair<double, std::uint32_t>>;  // scores and nodes

// Visits the open nodes, the best first; `visit(score, node, raise)` raises the scores of others.
template <class Visit>
void settle(Open& open, std::vector<double>& best, Visit visit) {
  const auto raise = [&](std::uint32_t node, double score) {
    if (!(score > best[node])) return;
    best[node] = score;
    open.push_back({score, node});
    std::push_heap(open.begin(), open.end());
  };
  std::make_heap(open.begin(), open.end());
  while (!open.empty()) {
    std::pop_heap(open.begin(), open.end());
    const auto [score, node] = open.back();
    open.pop_back();
    if (!(score < best[node])) visit(score, node, raise);
  }
}

}  // namespace

// Knuth's algorithm: of the nodes over one span that with the best tree is final, as unary steps only lower scores.
void MaxRule::settle_steps(std::uint32_t begin, std::uint32_t end) {
  struct Step {
    std::uint32_t child, head;
    double score;
  };
  std::vector<Step> steps;
  for (std::uint32_t node = begin; node < end; ++node) {
    for (std::uint32_t e = first_edge_[node]; e < first_edge_[node + 1]; ++e) {
      if (is_unary(edges_[e])) {
        steps.push_back({edges_[e].left, node, score(edges_[e])});
      } else {
        raise_by(node, e);
      }
    }
  }
  if (steps.empty()) return;
  std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.child < b.child; });
  Open open;
  for (std::uint32_t node = begin; node < end; ++node) {
    if (best_[node] > kNever) open.push_back({best_[node], node});
  }
  settle(open, best_, [&](double score, std::uint32_t child, const auto& raise) {
    for (auto step = std::partition_point(steps.begin(), steps.end(), [&](const Step& s) { return s.child < child; });
         step != steps.end() && step->child == child; ++step)
      raise(step->head, score + step->score);
  });
}

std::vector<double> MaxRule::outside(double least) {
  std::vector<double> out(best_.size(), kNever);
  out[top_] = 0.0;
  const auto at_least = [&](std::uint32_t node, double score) { out[node] = std::max(out[node], score); };
  Open open;
  for (std::size_t cell = cells_.size() - 1; cell-- > 0;) {
    open.clear();
    for (std::uint32_t layer = 0; layer < best_.size(); layer += chart_nodes_) {
      for (std::uint32_t node = layer + cells_[cell]; node < layer + cells_[cell + 1]; ++node) {
        if (out[node] + best_[node] >= least) open.push_back({out[node], node});
      }
    }
    settle(open, out, [&](double above, std::uint32_t node, const auto& raise) {  // as settle_steps, from above
      for (std::uint32_t e = first_edge_[node]; e < first_edge_[node + 1]; ++e) {
        const Edge& edge = edges_[e];
        if (!(above + best(edge) >= least) || !(above + exact_best(e) >= least) || edge.left == kNone) continue;
        if (edge.right != kNone) {
          at_least(edge.left, above + edge.score + best_[edge.right]);
          at_least(edge.right, above + edge.score + best_[edge.left]);
        } else {
          raise(edge.left, above + edge.score);
        }
      }
    });
  }
  return out;
}

double MaxRule::total(std::uint32_t node) const {
  double sum = 0.0;
  for (const Edge& edge : edges(node)) sum += std::exp(posterior(node, edge));
  return std::log(sum);
}

std::vector<std::vector<std::uint32_t>> MaxRule::cells(std::span<const double> outside, double least) const {
  std::vector<std::vector<std::uint32_t>> out;
  for (std::size_t cell = 0; cell + 1 < cells_.size(); ++cell) {
    out.emplace_back();
    for (std::uint32_t layer = 0; layer < best_.size(); layer += chart_nodes_) {
      for (std::uint32_t node = layer + cells_[cell]; node < layer + cells_[cell + 1]; ++node) {
        if (outside[node] + best_[node] >= least) out.back().push_back(node);
      }
    }
    if (out.back().empty()) out.pop_back();
  }
  return out;
}

}  // namespace treeglot
