#include "parse/parse_packing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

namespace treeglot {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();
// Sums of the same scores in another order differ by rounding; the best tree must not fall out by that.
constexpr double kRounding = 1e-9;
// Nodes of one place, and chains of unary rules over one span: real grammars have a few. Beyond the most, so many
// chains of each further length.
constexpr std::size_t kMostNodes = 64;
constexpr std::size_t kMostChains = 1000;
constexpr std::size_t kLeastChains = 20;

}  // namespace

ParsePacking::ParsePacking(const SplitGrammar& grammar, std::span<const std::uint8_t> parts, const FineChart& chart,
                           double margin, std::size_t most, bool probabilities, const Limits& limits)
    : grammar_(grammar),
      parts_(parts),
      chart_(chart),
      graph_(grammar, chart),
      most_(most),
      probabilities_(probabilities),
      limits_(limits) {
  if (!graph_.has_tree()) return;
  // The graph's best tree may be no parse: then the best parse is sought, and the margin counted from it.
  constexpr double kWidest = 1000.0;
  const double bound = graph_.best(graph_.top());
  double width = margin, wanted = margin;
  do {
    build(bound - width - kRounding);
    if (is_late_) return;
    if (top_ != kNone) {
      wanted = bound - nodes_[top_].best + margin;
    } else if (width <= kWidest) {
      wanted = std::max(1.0, 2.0 * width);
    } else {
      wanted = std::numeric_limits<double>::infinity();
    }
  } while (wanted > std::exchange(width, wanted) + kRounding);
  if (!has_tree()) return;
  unite_below_root();
  merge_alike();
  prune(margin);
}

void ParsePacking::build(double least) {
  least_ = least;
  outside_ = graph_.outside(least);
  joined_.assign(graph_.size(), {});
  found_.assign(graph_.size(), {});
  nodes_.clear();
  supports_.assign(1, {});
  numbers_.clear();
  for (const std::vector<std::uint32_t>& places : graph_.cells(outside_, least)) build_cell(places);
  const auto top = found(graph_.top());
  top_ = top.empty() || is_late_ ? kNone : top.front();  // the root has one state, so one node
}

// Whether one reaches another through `below`; all reach themselves.
static std::vector<std::vector<std::uint8_t>> find_reached(const std::vector<std::vector<std::size_t>>& below) {
  const std::size_t size = below.size();
  std::vector<std::vector<std::uint8_t>> reaches(size, std::vector<std::uint8_t>(size, 0));
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < size; ++i) {
    open.assign(1, i);
    reaches[i][i] = 1;
    while (!open.empty()) {
      const std::size_t top = open.back();
      open.pop_back();
      for (const std::size_t next : below[top]) {
        if (!std::exchange(reaches[i][next], 1)) open.push_back(next);
      }
    }
  }
  return reaches;
}

// The places over one span, from below: those that reach each other by unary rules together.
void ParsePacking::build_cell(std::span<const std::uint32_t> places) {
  const std::size_t size = places.size();
  std::vector<std::vector<std::size_t>> below(size);
  bool has_unary = false;
  for (std::size_t i = 0; i < size; ++i) {
    for (const MaxRule::Edge& edge : graph_.edges(places[i])) {
      if (edge.left == kNone || edge.right != kNone) continue;
      const auto child = std::find(places.begin(), places.end(), edge.left);
      if (child == places.end() || !(outside_[places[i]] + graph_.best(edge) >= least_)) continue;
      below[i].push_back(static_cast<std::size_t>(child - places.begin()));
      has_unary = true;
    }
  }
  if (!has_unary) {
    for (const std::uint32_t place : places) joined_[place] = join(place, {});
    return;
  }
  const std::vector<std::vector<std::uint8_t>> reaches = find_reached(below);
  // Who reaches more comes later; who reach each other reach the same.
  std::vector<std::tuple<std::ptrdiff_t, std::size_t, std::size_t>> order;  // how many, first of the group, place
  for (std::size_t i = 0; i < size; ++i) {
    std::size_t first = 0;
    while (!reaches[i][first] || !reaches[first][i]) ++first;
    order.emplace_back(std::count(reaches[i].begin(), reaches[i].end(), 1), first, i);
  }
  std::sort(order.begin(), order.end());
  std::vector<std::uint32_t> group;
  for (std::size_t begin = 0, end = 0; begin < size; begin = end) {
    group.clear();
    for (; end < size && std::get<1>(order[end]) == std::get<1>(order[begin]); ++end)
      group.push_back(places[std::get<2>(order[end])]);
    if (group.size() == 1) {
      joined_[group[0]] = join(group[0], {});
    } else {
      build_chains(group);
    }
  }
}

// What the place's rules make of the nodes found below it, except unary rules above places of `chain`.
std::vector<ParsePacking::Node> ParsePacking::join(std::uint32_t place, std::span<const std::uint32_t> chain) {
  std::vector<Node> out;
  const double total = probabilities_ ? graph_.total(place) : 0.0;
  for (const MaxRule::Edge& edge : graph_.edges(place)) {
    if (time_is_up()) break;
    if (!(outside_[place] + graph_.best(edge) >= least_)) continue;
    const double conditional = graph_.posterior(place, edge) - total;
    if (edge.left == kNone) {
      if (const Support made = support(place, edge, 0, 0); made != 0)
        add_edge(out, place, made, {{}, edge.score, conditional});
      continue;
    }
    if (graph_.is_stay(place, edge)) {
      for (const Node& lower : joined_[edge.left]) {
        for (const Edge& same : lower.edges)
          add_edge(out, place, lower.support, {same.tails, same.score, same.conditional + conditional});
      }
      continue;
    }
    if (edge.right == kNone && std::find(chain.begin(), chain.end(), edge.left) != chain.end()) continue;
    join_parts(out, place, edge, conditional);
  }
  limit(out);
  return out;
}

// What a rule with one part or two makes of the nodes found for them.
void ParsePacking::join_parts(std::vector<Node>& out, std::uint32_t place, const MaxRule::Edge& edge,
                              double conditional) {
  for (const std::uint32_t left : found(edge.left)) {
    if (edge.right == kNone) {
      if (const Support made = support(place, edge, nodes_[left].support, 0); made != 0)
        add_edge(out, place, made, {{left}, edge.score, conditional});
      continue;
    }
    for (const std::uint32_t right : found(edge.right)) {
      if (!(outside_[place] + edge.score + nodes_[left].best + nodes_[right].best >= least_)) continue;
      if (const Support made = support(place, edge, nodes_[left].support, nodes_[right].support); made != 0)
        add_edge(out, place, made, {{left, right}, edge.score, conditional});
    }
  }
}

// To the node of that support among `nodes`, all of them of one place.
void ParsePacking::add_edge(std::vector<Node>& nodes, std::uint32_t place, Support support, Edge edge) const {
  const double best = edge_best(edge);
  if (!(outside_[place] + best >= least_)) return;
  auto node = std::find_if(nodes.begin(), nodes.end(), [&](const Node& n) { return n.support == support; });
  if (node == nodes.end()) node = nodes.insert(node, {place, support, kNever, {}, false});
  node->best = std::max(node->best, best);
  node->edges.push_back(std::move(edge));
}

double ParsePacking::edge_best(const Edge& edge) const {
  return std::accumulate(edge.tails.begin(), edge.tails.end(), edge.score,
                         [&](double sum, std::uint32_t tail) { return sum + nodes_[tail].best; });
}

// Where a place has too many nodes, the worse ones become one with all their states: no parse is lost by that.
void ParsePacking::limit(std::vector<Node>& nodes) {
  if (nodes.size() < 2) return;
  std::stable_sort(nodes.begin(), nodes.end(), [](const Node& a, const Node& b) { return a.best > b.best; });
  if (nodes.size() <= kMostNodes) return;
  Node& last = nodes[kMostNodes - 1];
  last.is_cut = true;
  for (std::size_t n = kMostNodes; n < nodes.size(); ++n) {
    last.support = united(last.support, nodes[n].support);
    std::move(nodes[n].edges.begin(), nodes[n].edges.end(), std::back_inserter(last.edges));
  }
  nodes.resize(kMostNodes);
}

// The numbers of the nodes, in which only parts of rules keep parts below them.
std::vector<std::uint32_t> ParsePacking::finish(std::vector<Node> nodes) {
  if (!nodes.empty() && !is_part(nodes.front().place)) {
    for (Node& node : nodes) flatten(node);
    unite_bindings(nodes);
  }
  std::vector<std::uint32_t> out;
  for (Node& node : nodes) {
    out.push_back(static_cast<std::uint32_t>(nodes_.size()));
    nodes_.push_back(std::move(node));
  }
  return out;
}

// On the first question, so that what no unary rule asks for below the others' nodes is not made.
std::span<const std::uint32_t> ParsePacking::found(std::uint32_t place) {
  if (found_[place].empty()) found_[place] = finish(joined_[place]);
  return found_[place];
}

// The node's rules as the treebank had them, the best ones first: rules of many children have very many ways where much
// is ambiguous.
void ParsePacking::flatten(Node& node) {
  struct Partial {
    Edge edge;
    std::size_t next;    // tails before it are no parts
    double best;         // of its completions
    std::size_t number;  // of equal ones the later comes first: or else all would grow before one is complete
  };
  const auto worse = [](const Partial& a, const Partial& b) {
    return a.best != b.best ? a.best < b.best : a.number < b.number;
  };
  std::vector<Partial> open;
  std::size_t made = 0;
  const auto add = [&](Edge edge, std::size_t next, double best) {
    if (!(outside_[node.place] + best >= least_)) return;
    while (next < edge.tails.size() && !is_part(nodes_[edge.tails[next]].place)) ++next;
    open.push_back({std::move(edge), next, best, made++});
    std::push_heap(open.begin(), open.end(), worse);
  };
  for (Edge& edge : std::exchange(node.edges, {})) {
    const double best = edge_best(edge);
    add(std::move(edge), 0, best);
  }
  while (!open.empty() && !time_is_up()) {
    if (node.edges.size() == most_) {
      node.is_cut = true;
      return;
    }
    std::pop_heap(open.begin(), open.end(), worse);
    Partial top = std::move(open.back());
    open.pop_back();
    if (top.next == top.edge.tails.size()) {
      node.edges.push_back(std::move(top.edge));
      continue;
    }
    const Node& part = nodes_[top.edge.tails[top.next]];
    for (const Edge& below : part.edges) {
      Edge grown{{}, top.edge.score + below.score, top.edge.conditional + below.conditional};
      const auto place = top.edge.tails.begin() + static_cast<std::ptrdiff_t>(top.next);
      grown.tails.assign(top.edge.tails.begin(), place);
      grown.tails.insert(grown.tails.end(), below.tails.begin(), below.tails.end());
      grown.tails.insert(grown.tails.end(), place + 1, top.edge.tails.end());
      // The difference first: it is 0 for the best, which so stays as good as what it came from, without rounding.
      add(std::move(grown), top.next, top.best + (edge_best(below) - part.best));
    }
  }
}

// Two ways to bind a rule's parts together are one edge, the better; they may make different states of the same tails.
void ParsePacking::unite_bindings(std::vector<Node>& nodes) {
  struct Way {
    std::size_t node;
    Edge* edge;
  };
  std::vector<Way> ways;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    for (Edge& edge : nodes[n].edges) ways.push_back({n, &edge});
  }
  if (ways.size() < 2) return;
  std::stable_sort(ways.begin(), ways.end(), [](const Way& a, const Way& b) {
    return a.edge->tails != b.edge->tails ? a.edge->tails < b.edge->tails : a.edge->score > b.edge->score;
  });
  const auto is_same = [](const Way& a, const Way& b) { return a.edge->tails == b.edge->tails; };
  if (std::adjacent_find(ways.begin(), ways.end(), is_same) == ways.end()) return;
  std::vector<Node> out;
  const bool is_cut = std::any_of(nodes.begin(), nodes.end(), [](const Node& node) { return node.is_cut; });
  for (std::size_t begin = 0, end = 0; begin < ways.size(); begin = end) {
    Support made = nodes[ways[begin].node].support;
    Edge edge = *ways[begin].edge;
    double times = 0.0;  // as probable as the first of them
    for (; end < ways.size() && is_same(ways[begin], ways[end]); ++end) {
      made = united(made, nodes[ways[end].node].support);
      times += std::exp(ways[end].edge->conditional - ways[begin].edge->conditional);
    }
    edge.conditional += std::log(times);
    add_edge(out, nodes.front().place, made, std::move(edge));
  }
  limit(out);
  for (Node& node : out) node.is_cut |= is_cut;
  nodes = std::move(out);
}

// Places that reach each other by unary rules: chains grow rule by rule, and know which places they have passed.
class ParsePacking::Chains {
 public:
  Chains(ParsePacking& packing, std::span<const std::uint32_t> places) : packing_(packing) {
    for (const std::uint32_t place : places) {
      const double total = packing.probabilities_ ? packing.graph_.total(place) : 0.0;
      for (const MaxRule::Edge& edge : packing.graph_.edges(place)) {
        if (edge.left != kNone && edge.right == kNone &&
            std::find(places.begin(), places.end(), edge.left) != places.end())
          steps_.push_back({place, &edge, packing.graph_.score(edge), packing.graph_.score(edge) - total});
      }
    }
    for (const std::uint32_t place : places) keep({place}, packing.join(place, places));
  }

  // False when time is up.
  bool grow() {
    while (!last_.empty()) {
      std::map<Chain, std::vector<Node>> longer;
      for (const auto& [chain, nodes] : std::exchange(last_, {})) {
        if (packing_.time_is_up()) return false;
        add_longer(chain, nodes, longer);
      }
      cut(longer);
      for (auto& [chain, nodes] : longer) keep(chain.first, std::move(nodes));
    }
    return !packing_.is_late_;
  }

  // For all other rules it is the same by which chain a label and its states came about.
  void finish() {
    for (const auto& [key, nodes] : all_) {
      std::vector<Node> together;
      bool has_cut = is_cut_;
      for (const std::uint32_t node : nodes) {
        has_cut |= packing_.nodes_[node].is_cut;
        if (nodes.size() == 1) break;
        for (const Edge& edge : packing_.nodes_[node].edges) packing_.add_edge(together, key.first, key.second, edge);
      }
      const auto kept = together.empty() ? nodes : packing_.finish(std::move(together));
      packing_.nodes_[kept.front()].is_cut |= has_cut;
      auto& found = packing_.found_[key.first];
      found.insert(found.end(), kept.begin(), kept.end());
    }
  }

 private:
  using Passed = std::vector<std::uint32_t>;
  using Chain = std::pair<Passed, std::uint32_t>;  // places passed, the last
  struct Step {
    std::uint32_t place;
    const MaxRule::Edge* edge;
    double score, conditional;
  };

  void keep(const Passed& passed, std::vector<Node> nodes) {
    if (nodes.empty()) return;
    const std::uint32_t place = nodes.front().place;
    std::vector<std::uint32_t>& kept = last_[{passed, place}];
    kept = packing_.finish(std::move(nodes));
    for (const std::uint32_t node : kept) all_[{place, packing_.nodes_[node].support}].push_back(node);
    ++number_;
  }

  void add_longer(const Chain& chain, std::span<const std::uint32_t> nodes,
                  std::map<Chain, std::vector<Node>>& longer) {
    const auto& [passed, child] = chain;
    for (const Step& step : steps_) {
      if (step.edge->left != child || std::binary_search(passed.begin(), passed.end(), step.place)) continue;
      Passed more = passed;
      more.insert(std::lower_bound(more.begin(), more.end(), step.place), step.place);
      std::vector<Node>& made_nodes = longer[{std::move(more), step.place}];
      for (const std::uint32_t node : nodes) {
        const Support made = packing_.support(step.place, *step.edge, packing_.nodes_[node].support, 0);
        if (made != 0) packing_.add_edge(made_nodes, step.place, made, {{node}, step.score, step.conditional});
      }
    }
  }

  // The best go on: what is below a good tree is itself part of a tree as good.
  void cut(std::map<Chain, std::vector<Node>>& longer) {
    std::vector<std::pair<double, std::map<Chain, std::vector<Node>>::iterator>> ranked;
    for (auto at = longer.begin(); at != longer.end(); ++at) {
      double best = kNever;
      for (const Node& node : at->second) best = std::max(best, packing_.outside_[node.place] + node.best);
      ranked.emplace_back(best, at);
    }
    std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    const std::size_t room = std::max(kLeastChains, kMostChains - std::min(kMostChains, number_));
    for (std::size_t rank = room; rank < ranked.size(); ++rank) {
      is_cut_ |= !ranked[rank].second->second.empty();
      longer.erase(ranked[rank].second);
    }
  }

  ParsePacking& packing_;
  std::vector<Step> steps_;
  std::map<Chain, std::vector<std::uint32_t>> last_;                             // the longest → nodes
  std::map<std::pair<std::uint32_t, Support>, std::vector<std::uint32_t>> all_;  // place and support → nodes
  std::size_t number_ = 0;
  bool is_cut_ = false;
};

void ParsePacking::build_chains(std::span<const std::uint32_t> places) {
  Chains chains(*this, places);
  if (chains.grow()) chains.finish();
}

static std::size_t count_open(const FineChart& chart, const ChartNode& node, std::size_t states) {
  std::size_t out = 0;
  for (std::size_t state = 0; state < states; ++state) out += chart.is_open(node, state);
  return out;
}

// The states that the rule makes of those of its tails.
ParsePacking::Support ParsePacking::support(std::uint32_t place, const MaxRule::Edge& edge, Support left,
                                            Support right) {
  const ChartNode& head = graph_.at(place);
  const FineGrammar& grammar = chart_.grammar();
  const std::size_t heads = grammar.level().states[head.label];
  States states(heads, 0);
  std::size_t missing = count_open(chart_, head, heads);
  const auto take = [&](std::size_t h) {
    if (states[h] || !chart_.is_open(head, h)) return;
    states[h] = 1;
    --missing;
  };
  if (edge.left == kNone) {
    for (std::size_t h = 0; h < heads; ++h) states[h] = chart_.is_built(head, h) && chart_.is_open(head, h);
    return intern(states);
  }
  const bool is_unary = edge.right == kNone;
  const Symbol left_label = graph_.at(edge.left).label;
  const States none(1, 1);
  const States& lefts = supports_[left];
  const States& rights = is_unary ? none : supports_[right];
  const double* row = is_unary ? grammar.step(head.label, left_label)
                               : grammar.rule(head.label, left_label, graph_.at(edge.right).label);
  for (std::size_t l = 0; l < lefts.size() && missing > 0; ++l) {
    for (std::size_t r = 0; r < rights.size() && missing > 0; ++r, row += heads) {
      if (!lefts[l] || !rights[r]) continue;
      for (std::size_t h = 0; h < heads; ++h) {
        if (row[h] > 0.0) take(h);
      }
    }
  }
  return intern(states);
}

ParsePacking::Support ParsePacking::united(Support a, Support b) {
  if (a == b) return a;
  States states = supports_[a];
  for (std::size_t s = 0; s < states.size(); ++s) states[s] = states[s] || supports_[b][s];
  return intern(states);
}

ParsePacking::Support ParsePacking::intern(const States& states) {
  if (states.find(1) == States::npos) return 0;
  const auto [at, is_new] = numbers_.try_emplace(states, static_cast<Support>(supports_.size()));
  if (is_new) supports_.push_back(states);
  return at->second;
}

// Keeps the edges that are in a tree within the margin of the best.
void ParsePacking::prune(double margin) {
  const double least = nodes_[top_].best - margin - kRounding;
  std::vector<double> outside(nodes_.size(), kNever);
  outside[top_] = 0.0;
  for (std::size_t n = nodes_.size(); n-- > 0;) {
    Node& node = nodes_[n];
    // No kept edge leads to this node, so it is in no tree. With an infinite margin the test below would not drop
    // its edges.
    if (outside[n] == kNever) node.edges.clear();
    std::erase_if(node.edges, [&](const Edge& edge) { return !(outside[n] + edge_best(edge) >= least); });
    for (const Edge& edge : node.edges) {
      const double best = outside[n] + edge_best(edge);
      for (const std::uint32_t tail : edge.tails) outside[tail] = std::max(outside[tail], best - nodes_[tail].best);
    }
  }
}

}  // namespace treeglot
