#include "decode/given_forest.h"

#include <algorithm>
#include <map>
#include <utility>

#include "graph/rewrite.h"

namespace treeglot {
namespace {

class Cutting {
 public:
  Cutting(const ParseForest& forest, std::span<const Constraint* const> constraints)
      : forest_(forest), graph_(forest.graph()), at_(forest.words(), nullptr), made_(graph_.nodes(), kNoNode) {
    for (const Constraint* const constraint : constraints)
      for (std::uint32_t i = constraint->span.begin; i < constraint->span.end; ++i) at_[i] = constraint;
  }

  GivenForest run(std::span<const Constraint* const> constraints) {
    for (NodeId word = 0; word < forest_.words(); ++word) {
      made_[word] = add_node(forest_.label(word), forest_.span(word), word);
      add_edge(word, {}, graph_.edges_begin(word), 0.0);
    }
    for (const Constraint* const constraint : constraints) {
      const NodeId node = add_node("X", constraint->span, kNoNode);
      tails_.clear();
      for (NodeId word = constraint->span.begin; word < constraint->span.end; ++word) tails_.push_back(word);
      add_edge(node, tails_, kNoEdge, 0.0);
      given_.emplace_back(node, constraint);
    }
    for (auto node = static_cast<NodeId>(forest_.words()); node < graph_.nodes(); ++node)
      if (!gone(node)) add_cut(node);
    Mapped graph = assemble({spans_.size(), heads_, first_tail_, all_tails_}, made_[graph_.goal()]);
    GivenForest out{
        remapped({graph.graph, graph.edge_map, graph.node_map}, labels_, spans_, scores_, forest_.kind()), {}, {}, {}};
    std::vector<NodeId> moved(graph.node_map.size());
    for (NodeId node = 0; node < graph.node_map.size(); ++node) {
      moved[graph.node_map[node]] = node;
      out.node_map.push_back(from_node_[graph.node_map[node]]);
    }
    for (const EdgeId edge : graph.edge_map) out.edge_map.push_back(from_edge_[edge]);
    for (const auto& [node, constraint] : given_) out.given.emplace_back(moved[node], constraint);
    return out;
  }

 private:
  // Whether nothing is left of a node. Either a constraint has all its words, and more unless the node is a word, or
  // two constraints that reach beyond it share them.
  bool gone(NodeId node) const {
    const Span span = forest_.span(node);
    const Constraint *const left = at_[span.begin], *const right = at_[span.end - 1];
    if (left == nullptr || right == nullptr) return false;
    if (left == right) return left->span.contains(span) && (forest_.is_word(node) || left->span != span);
    return left->span.begin < span.begin && right->span.end > span.end && left->span.end == right->span.begin;
  }

  // What is left of a constituent.
  void add_cut(NodeId node) {
    const Span whole = forest_.span(node);
    const Constraint *left = at_[whole.begin], *right = at_[whole.end - 1];
    Span span = whole;
    if (left != nullptr && left->span.begin < whole.begin) span.begin = left->span.end;
    if (right != nullptr && right->span.end > whole.end) span.end = right->span.begin;
    const NodeId head = made_[node] = add_node(forest_.label(node), span, node);
    std::map<std::vector<NodeId>, std::size_t>
        known;  // changed edges by their tails: what differs inside a span is one
    for (EdgeId edge = graph_.edges_begin(node); edge < graph_.edges_end(node); ++edge) {
      collect_tails(whole, edge);
      const bool changed =
          !std::ranges::equal(tails_, graph_.tails(edge), {}, [&](NodeId tail) { return from_node_[tail]; });
      const auto [at, is_new] = changed ? known.try_emplace(tails_, scores_.size()) : std::pair(known.end(), true);
      if (is_new) {
        add_edge(head, tails_, edge, forest_.score(edge));
      } else if (scores_[at->second] < forest_.score(edge)) {
        scores_[at->second] = forest_.score(edge);
        from_edge_[at->second] = edge;
      }
    }
  }

  // Fills tails_: what is left of an edge's tails, and the nodes of the constraints that lie in `whole` between them.
  void collect_tails(Span whole, EdgeId edge) {
    const Constraint* last = nullptr;
    const auto add_given = [&](const Constraint* given) {
      if (given == nullptr || given == last || !whole.contains(given->span)) return;
      last = given;
      tails_.push_back(std::ranges::find(given_, given, [](const auto& one) { return one.second; })->first);
    };
    tails_.clear();
    for (const NodeId tail : graph_.tails(edge)) {
      const Span span = forest_.span(tail);
      const Constraint *left = at_[span.begin], *right = at_[span.end - 1];
      if (gone(tail)) {
        add_given(left);
        add_given(right);
        continue;
      }
      if (left != nullptr && left->span.begin < span.begin) add_given(left);
      tails_.push_back(made_[tail]);
      if (right != nullptr && right->span.end > span.end) add_given(right);
    }
  }

  NodeId add_node(std::string_view label, Span span, NodeId from) {
    labels_.append(label);
    spans_.push_back(span);
    from_node_.push_back(from);
    return static_cast<NodeId>(spans_.size() - 1);
  }
  void add_edge(NodeId head, std::span<const NodeId> tails, EdgeId from, double score) {
    heads_.push_back(head);
    all_tails_.insert(all_tails_.end(), tails.begin(), tails.end());
    first_tail_.push_back(static_cast<std::uint32_t>(all_tails_.size()));
    scores_.push_back(score);
    from_edge_.push_back(from);
  }

  const ParseForest& forest_;
  const Hypergraph& graph_;
  std::vector<const Constraint*> at_;  // by word
  std::vector<NodeId> made_;           // by node: what is left of it
  std::vector<std::pair<NodeId, const Constraint*>> given_;
  std::vector<NodeId> tails_;
  // The new forest.
  Strings labels_;
  std::vector<Span> spans_;
  std::vector<NodeId> from_node_, heads_, all_tails_;
  std::vector<std::uint32_t> first_tail_ = {0};
  std::vector<double> scores_;
  std::vector<EdgeId> from_edge_;
};

}  // namespace

GivenForest with_constituents(const ParseForest& forest, std::span<const Constraint* const> constraints) {
  return Cutting(forest, constraints).run(constraints);
}

}  // namespace treeglot
