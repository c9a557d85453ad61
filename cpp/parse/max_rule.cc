#include "parse/max_rule.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace treeglot {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();
constexpr std::uint32_t kNone = ChartEdge::kNone;

bool is_unary(const MaxRule::Edge& edge) { return edge.left != kNone && edge.right == kNone; }

// The nodes with unary edges.
std::vector<std::uint8_t> find_doubles(const FineChart& chart) {
  std::vector<std::uint8_t> out(chart.nodes().size(), 0);
  for (const ChartEdge& edge : chart.edges())
    if (edge.is_unary()) out[edge.head] = 1;
  return out;
}

std::vector<double> find_stays(const FineChart& chart) {
  std::vector<double> out(chart.nodes().size(), kNever);
  for (const ChartEdge& edge : chart.edges())
    if (edge.is_stay()) out[edge.head] = std::log(std::min(1.0, edge.posterior));
  return out;
}

// An edge of the chart; if it is no stay and not unary, above these nodes.
MaxRule::Edge taken_edge(const ChartEdge& edge, std::uint32_t left, std::uint32_t right) {
  if (edge.is_stay()) return {edge.head, kNone, 0.0};  // it is no rule, so it costs nothing
  const double score = std::log(std::min(1.0, edge.posterior));
  return edge.is_unary() ? MaxRule::Edge{edge.left, kNone, score} : MaxRule::Edge{left, right, score};
}

bool is_root(const ChartNode& node, Symbol root, std::uint32_t end) {
  return node.label == root && node.begin == 0 && node.end == end;
}

}  // namespace

MaxRule::MaxRule(const SplitGrammar& grammar, const FineChart& chart)
    : nodes_(chart.nodes()), chart_nodes_(static_cast<std::uint32_t>(chart.nodes().size())) {
  // With one layer all edges join nodes of the chart. With two, unary edges and stays lead from the upper one to the
  // lower. Others lead from the lower to the upper. A node without unary edges is in both.
  const bool layers = chart.closed();
  const std::vector<std::uint8_t> is_double = layers ? find_doubles(chart) : std::vector<std::uint8_t>(chart_nodes_, 0);
  if (layers) stays_ = find_stays(chart);
  const auto upper = [&](std::uint32_t node) { return node != kNone && is_double[node] ? node + chart_nodes_ : node; };
  const std::size_t nodes = layers ? 2 * nodes_.size() : nodes_.size();
  const auto is_taken = [&](const ChartEdge& edge) { return !edge.is_stay() || is_double[edge.head]; };
  const auto head_of = [&](const ChartEdge& edge) {
    return layers && (edge.is_unary() || edge.is_stay()) ? upper(edge.head) : edge.head;
  };
  first_edge_.assign(nodes + 1, 0);
  for (const ChartEdge& edge : chart.edges()) {
    if (is_taken(edge)) ++first_edge_[head_of(edge) + 1];
  }
  for (std::size_t node = 0; node < nodes; ++node) first_edge_[node + 1] += first_edge_[node];
  edges_.resize(first_edge_[nodes]);
  std::vector<std::uint32_t> next(first_edge_.begin(), first_edge_.end() - 1);
  for (const ChartEdge& edge : chart.edges()) {
    if (!is_taken(edge)) continue;
    edges_[next[head_of(edge)]++] = taken_edge(edge, upper(edge.left), upper(edge.right));
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

// First what words and binary rules make, then what at most one unary rule makes of that: no cycles.
void MaxRule::settle_layers(std::uint32_t begin, std::uint32_t end) {
  for (const std::uint32_t layer : {0u, chart_nodes_}) {
    for (std::uint32_t node = layer + begin; node < layer + end; ++node) {
      for (std::uint32_t e = first_edge_[node]; e < first_edge_[node + 1]; ++e)
        best_[node] = std::max(best_[node], best(edges_[e]));
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
        steps.push_back({edges_[e].left, node, edges_[e].score});
      } else {
        best_[node] = std::max(best_[node], best(edges_[e]));
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

std::vector<double> MaxRule::outside(double least) const {
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
        if (edge.left == kNone || !(above + best(edge) >= least)) continue;
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
