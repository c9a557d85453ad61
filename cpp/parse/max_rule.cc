#include "parse/max_rule.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace treeglot {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();
constexpr std::uint32_t kNone = ChartEdge::kNone;

}  // namespace

// Tarjan's strongly connected components, without recursion: a component is complete after those it reaches.
std::vector<std::uint32_t> unary_ranks(const SplitGrammar& grammar) {
  const std::size_t labels = grammar.labels.size();
  std::vector<std::vector<Symbol>> children(labels);
  for (const Level& level : grammar.levels) {
    for (const UnaryRule& rule : level.unary) children[rule.head].push_back(rule.child);
  }
  std::vector<std::uint32_t> rank(labels, kNone), found(labels, kNone), low(labels, 0);
  std::vector<Symbol> open;
  std::vector<std::pair<Symbol, std::size_t>> stack;
  std::uint32_t time = 0, ranks = 0;
  for (Symbol start = 0; start < labels; ++start) {
    if (found[start] != kNone) continue;
    stack.push_back({start, 0});
    while (!stack.empty()) {
      const auto [label, next] = stack.back();
      if (next == 0) {
        found[label] = low[label] = time++;
        open.push_back(label);
      }
      if (next < children[label].size()) {
        ++stack.back().second;
        const Symbol child = children[label][next];
        if (found[child] == kNone) {
          stack.push_back({child, 0});
        } else if (rank[child] == kNone) {
          low[label] = std::min(low[label], found[child]);
        }
        continue;
      }
      stack.pop_back();
      if (!stack.empty()) low[stack.back().first] = std::min(low[stack.back().first], low[label]);
      if (low[label] != found[label]) continue;
      Symbol member;
      do {
        member = open.back();
        open.pop_back();
        rank[member] = ranks;
      } while (member != label);
      ++ranks;
    }
  }
  return rank;
}

MaxRule::MaxRule(const SplitGrammar& grammar, std::span<const std::uint32_t> ranks,
                 std::span<const std::uint8_t> parts, const FineChart& chart)
    : grammar_(grammar),
      parts_(parts),
      nodes_(chart.nodes()),
      chart_nodes_(static_cast<std::uint32_t>(chart.nodes().size())) {
  // With one layer all edges join nodes of the chart. With two, unary edges and stays lead from the upper one to the lower,
  // others from the lower to the upper; a node without unary edges is in both.
  const bool layers = chart.closed();
  std::vector<std::uint8_t> is_double(chart_nodes_, 0);
  if (layers) {
    stays_.assign(chart_nodes_, kNever);
    for (const ChartEdge& edge : chart.edges()) {
      if (edge.is_unary()) is_double[edge.head] = 1;
      if (edge.is_stay()) stays_[edge.head] = std::log(std::min(1.0, edge.posterior));
    }
  }
  const auto upper = [&](std::uint32_t node) {
    return node != kNone && is_double[node] ? node + chart_nodes_ : node;
  };
  const std::size_t nodes = layers ? 2 * nodes_.size() : nodes_.size();
  const auto is_taken = [&](const ChartEdge& edge) { return !edge.is_stay() || is_double[edge.head]; };
  const auto head_of = [&](const ChartEdge& edge) {
    return edge.is_unary() || edge.is_stay() ? upper(edge.head) : edge.head;
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
    Edge& taken = edges_[next[head_of(edge)]++];
    if (edge.is_stay()) {
      taken = {edge.head, kNone, 0.0};  // it is no rule, so it costs nothing
    } else {
      const double score = std::log(std::min(1.0, edge.posterior));
      taken = edge.is_unary() ? Edge{edge.left, kNone, score} : Edge{upper(edge.left), upper(edge.right), score};
    }
  }
  best_.assign(nodes, kNever);
  best_edge_.assign(nodes, kNone);
  std::uint32_t begin = 0;
  while (begin < chart_nodes_) {  // nodes of a span are side by side, spans come by length
    std::uint32_t end = begin + 1;
    while (end < chart_nodes_ && nodes_[end].begin == nodes_[begin].begin && nodes_[end].end == nodes_[begin].end) ++end;
    if (layers) {
      settle_layers(begin, end);
    } else {
      order_cell(begin, end, ranks);
    }
    begin = end;
  }
  const std::uint32_t last = nodes_.empty() ? 0 : nodes_.back().end;
  top_ = kNone;
  for (std::uint32_t node = 0; node < chart_nodes_; ++node) {
    if (nodes_[node].label == grammar.root && nodes_[node].begin == 0 && nodes_[node].end == last) top_ = upper(node);
  }
}

double MaxRule::edge_best(const Edge& edge) const {
  double sum = edge.score;
  if (edge.left != kNone) sum += best_[edge.left];
  if (edge.right != kNone) sum += best_[edge.right];
  return sum;
}

// First what words and binary rules make, then what at most one unary rule makes of that: no cycles.
void MaxRule::settle_layers(std::uint32_t begin, std::uint32_t end) {
  for (const std::uint32_t layer : {0u, chart_nodes_}) {
    for (std::uint32_t node = layer + begin; node < layer + end; ++node) {
      for (std::uint32_t e = first_edge_[node]; e < first_edge_[node + 1]; ++e) {
        const double sum = edge_best(edges_[e]);
        if (sum > best_[node]) {
          best_[node] = sum;
          best_edge_[node] = e;
        }
      }
      if (best_edge_[node] != kNone) order_.push_back(node);
    }
  }
}

void MaxRule::order_cell(std::uint32_t begin, std::uint32_t end, std::span<const std::uint32_t> ranks) {
  const auto is_unary = [](const Edge& edge) { return edge.left != kNone && edge.right == kNone; };
  for (std::uint32_t node = begin; node < end; ++node) {
    for (std::uint32_t e = first_edge_[node]; e < first_edge_[node + 1]; ++e) {
      if (is_unary(edges_[e])) continue;
      const double sum = edge_best(edges_[e]);
      if (sum > best_[node]) {
        best_[node] = sum;
        best_edge_[node] = e;
      }
    }
  }
  std::vector<std::uint32_t> unary;
  for (std::uint32_t e = first_edge_[begin]; e < first_edge_[end]; ++e) {
    if (is_unary(edges_[e])) unary.push_back(e);
  }
  if (!unary.empty()) settle_best(begin, end, ranks);
  // Each node's best edge, then the others from the likeliest on, unless one would close a cycle.
  const std::size_t nodes = end - begin, blocks = (nodes + 63) / 64;
  std::vector<std::uint64_t> below(nodes * blocks, 0);  // bit sets: what a node reaches by edges that stay, itself too
  const auto reaches = [&](std::size_t from, std::size_t to) {
    return (below[from * blocks + to / 64] >> (to % 64) & 1) != 0;
  };
  for (std::size_t n = 0; n < nodes; ++n) below[n * blocks + n / 64] |= std::uint64_t{1} << (n % 64);
  std::vector<std::uint32_t> head_of(unary.empty() ? 0 : first_edge_[end] - first_edge_[begin]);
  for (std::uint32_t node = begin; node < end && !unary.empty(); ++node) {
    for (std::uint32_t e = first_edge_[node]; e < first_edge_[node + 1]; ++e) head_of[e - first_edge_[begin]] = node;
  }
  const auto head = [&](std::uint32_t e) { return head_of[e - first_edge_[begin]]; };
  const auto is_best = [&](std::uint32_t e) { return best_edge_[head(e)] == e; };
  std::sort(unary.begin(), unary.end(), [&](std::uint32_t x, std::uint32_t y) {
    if (is_best(x) != is_best(y)) return is_best(x);
    return edges_[x].score != edges_[y].score ? edges_[x].score > edges_[y].score : x < y;
  });
  for (const std::uint32_t e : unary) {
    const std::size_t top = head(e) - begin, child = edges_[e].left - begin;
    if (reaches(child, top)) {
      edges_[e].score = kNever;
      ++left_out_;
      continue;
    }
    for (std::size_t n = 0; n < nodes; ++n) {
      if (!reaches(n, top)) continue;
      for (std::size_t block = 0; block < blocks; ++block) below[n * blocks + block] |= below[child * blocks + block];
    }
  }
  // Who reaches more comes later.
  std::vector<std::pair<int, std::uint32_t>> sorted;
  for (std::uint32_t n = 0; n < nodes; ++n) {
    if (best_[begin + n] == kNever) continue;
    int size = 0;
    for (std::size_t block = 0; block < blocks; ++block) size += std::popcount(below[n * blocks + block]);
    sorted.push_back({size, begin + n});
  }
  std::sort(sorted.begin(), sorted.end());
  for (const auto& [size, node] : sorted) order_.push_back(node);
}

// The best trees of nodes over one span, by Knuth's algorithm: ranks from below, and within a rank the node with the best
// tree is final, as further unary steps only lower scores.
void MaxRule::settle_best(std::uint32_t begin, std::uint32_t end, std::span<const std::uint32_t> ranks) {
  std::vector<std::uint32_t> waiting(end - begin);
  for (std::uint32_t node = begin; node < end; ++node) waiting[node - begin] = node;
  std::sort(waiting.begin(), waiting.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(ranks[nodes_[a].label], a) < std::pair(ranks[nodes_[b].label], b);
  });
  std::vector<std::uint8_t> placed(end - begin, 0);
  for (std::size_t first = 0; first < waiting.size(); ++first) {
    const std::uint32_t rank = ranks[nodes_[waiting[first]].label];
    std::size_t chosen = first;
    for (std::size_t w = first; w < waiting.size() && ranks[nodes_[waiting[w]].label] == rank; ++w) {
      const std::uint32_t node = waiting[w];
      for (std::uint32_t e = first_edge_[node]; e < first_edge_[node + 1]; ++e) {
        const Edge& edge = edges_[e];
        if (edge.left == kNone || edge.right != kNone || !placed[edge.left - begin]) continue;
        if (const double sum = edge_best(edge); sum > best_[node]) {
          best_[node] = sum;
          best_edge_[node] = e;
        }
      }
      if (best_[node] > best_[waiting[chosen]]) chosen = w;
    }
    std::swap(waiting[first], waiting[chosen]);
    placed[waiting[first] - begin] = 1;
  }
}

Tree MaxRule::tree(std::span<const std::string_view> words, bool drop_root) const {
  TreeBuilder builder;
  struct Step {
    std::uint32_t node;
    bool close;
  };
  // A treebank may have ROOT over a phrase and a full stop, or over a word.
  const Edge& first = edges_[best_edge_[top_]];
  const bool has_one_child =
      first.left != kNone && first.right == kNone && !is_stay(top_, first) && !parts_[at(first.left).label];
  std::vector<Step> stack = {{top_, false}};
  while (!stack.empty()) {
    const Step step = stack.back();
    stack.pop_back();
    if (step.close) {
      builder.close();
      continue;
    }
    const ChartNode& node = at(step.node);
    const Edge* edge = &edges_[best_edge_[step.node]];
    if (is_stay(step.node, *edge)) edge = &edges_[best_edge_[edge->left]];
    if (!parts_[node.label] && !(drop_root && step.node == top_ && has_one_child)) {
      builder.open(grammar_.shown(node.label));
      stack.push_back({step.node, true});
    }
    if (edge->left == kNone) builder.word(words[node.begin]);
    if (edge->right != kNone) stack.push_back({edge->right, false});
    if (edge->left != kNone) stack.push_back({edge->left, false});
  }
  return builder.finish();
}

}  // namespace treeglot
