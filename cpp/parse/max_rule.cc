#include "parse/max_rule.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>

namespace treeglot {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();
constexpr std::uint32_t kNone = ChartEdge::kNone;
// Sums of the same scores in another order differ by rounding; the best tree must not fall out by that.
constexpr double kRounding = 1e-9;

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
    : grammar_(grammar), parts_(parts), nodes_(chart.nodes()) {
  const std::size_t nodes = nodes_.size();
  first_edge_.assign(nodes + 1, 0);
  for (const ChartEdge& edge : chart.edges()) ++first_edge_[edge.head + 1];
  for (std::size_t node = 0; node < nodes; ++node) first_edge_[node + 1] += first_edge_[node];
  edges_.resize(chart.edges().size());
  std::vector<std::uint32_t> next(first_edge_.begin(), first_edge_.end() - 1);
  for (const ChartEdge& edge : chart.edges())
    edges_[next[edge.head]++] = {edge.left, edge.right, std::log(std::min(1.0, edge.posterior))};
  best_.assign(nodes, kNever);
  best_edge_.assign(nodes, kNone);
  std::uint32_t begin = 0;
  while (begin < nodes) {  // nodes of a span are side by side, spans come by length
    std::uint32_t end = begin + 1;
    while (end < nodes && nodes_[end].begin == nodes_[begin].begin && nodes_[end].end == nodes_[begin].end) ++end;
    order_cell(begin, end, ranks);
    begin = end;
  }
  const std::uint32_t last = nodes_.empty() ? 0 : nodes_.back().end;
  top_ = kNone;
  for (std::uint32_t node = 0; node < nodes; ++node) {
    if (nodes_[node].label == grammar.root && nodes_[node].begin == 0 && nodes_[node].end == last) top_ = node;
  }
}

double MaxRule::edge_best(const Edge& edge) const {
  double sum = edge.score;
  if (edge.left != kNone) sum += best_[edge.left];
  if (edge.right != kNone) sum += best_[edge.right];
  return sum;
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
  const bool has_one_child = first.left != kNone && first.right == kNone && !parts_[nodes_[first.left].label];
  std::vector<Step> stack = {{top_, false}};
  while (!stack.empty()) {
    const Step step = stack.back();
    stack.pop_back();
    if (step.close) {
      builder.close();
      continue;
    }
    const ChartNode& node = nodes_[step.node];
    const Edge& edge = edges_[best_edge_[step.node]];
    if (!parts_[node.label] && !(drop_root && step.node == top_ && has_one_child)) {
      builder.open(grammar_.shown(node.label));
      stack.push_back({step.node, true});
    }
    if (edge.left == kNone) builder.word(words[node.begin]);
    if (edge.right != kNone) stack.push_back({edge.right, false});
    if (edge.left != kNone) stack.push_back({edge.left, false});
  }
  return builder.finish();
}

std::vector<double> MaxRule::outside() const {
  std::vector<double> out(nodes_.size(), kNever);
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
  const auto grow = [&](const Partial& from, std::uint32_t node, std::size_t position) {
    for (std::uint32_t e = first_edge_[node]; e < first_edge_[node + 1]; ++e) {
      const Edge& edge = edges_[e];
      const double bound = from.bound + edge_best(edge) - best_[node];
      if (edge.score == kNever || !(bound >= least)) continue;
      Partial grown = from;
      grown.bound = bound;
      grown.number = made++;
      grown.flat.score += edge.score;
      grown.flat.conditional += edge.score - totals[node];
      auto& tails = grown.flat.tails;
      const auto place = tails.begin() + static_cast<std::ptrdiff_t>(position);
      if (node != head) {
        *place = edge.left;
        if (edge.right != kNone) tails.insert(place + 1, edge.right);
      } else {
        if (edge.left != kNone) tails.push_back(edge.left);
        if (edge.right != kNone) tails.push_back(edge.right);
      }
      open.push_back(std::move(grown));
      std::push_heap(open.begin(), open.end(), worse);
    }
  };
  grow({{}, 0, outside + best_[head], 0}, head, 0);
  while (!open.empty()) {
    if (out.size() == most) return true;
    std::pop_heap(open.begin(), open.end(), worse);
    Partial top = std::move(open.back());
    open.pop_back();
    const auto& tails = top.flat.tails;
    while (top.next < tails.size() && !parts_[nodes_[tails[top.next]].label]) ++top.next;
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
  std::vector<double> totals(nodes_.size(), 0.0);  // log of the sum of a node's posteriors
  for (const std::uint32_t node : order_) {
    double sum = 0.0;
    for (std::uint32_t e = first_edge_[node]; e < first_edge_[node + 1]; ++e) sum += std::exp(edges_[e].score);
    totals[node] = std::log(sum);
  }
  // From the top down, so that whatever is kept is in a tree.
  std::vector<std::vector<Flat>> kept(nodes_.size());
  std::vector<std::uint8_t> reached(nodes_.size(), 0);
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
  std::vector<NodeId> number(nodes_.size(), kNoNode);
  std::vector<NodeId> tails;
  for (const std::uint32_t node : order_) {
    if (!reached[node] || kept[node].empty()) continue;
    number[node] = builder.add_node();
    labels.append(grammar_.shown(nodes_[node].label));
    spans.push_back({nodes_[node].begin, nodes_[node].end});
    double sum = 0.0;
    for (const Flat& edge : kept[node]) sum += std::exp(edge.conditional);
    for (const Flat& edge : kept[node]) {
      tails.clear();
      for (const std::uint32_t tail : edge.tails) tails.push_back(number[tail]);
      if (tails.empty()) tails.push_back(nodes_[node].begin);
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
