#include "decode/given_forest.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "graph/rewrite.h"

namespace treeglot {
namespace {

class Cutting {
 public:
  Cutting(const ParseForest& forest, const Mapped& pruned, std::span<const Constraint> constraints)
      : forest_(forest), pruned_(pruned), graph_(pruned.graph), at_(forest.words(), nullptr), made_(graph_.nodes()) {
    for (const Constraint& constraint : constraints)
      for (std::uint32_t i = constraint.span.begin; i < constraint.span.end; ++i) at_[i] = &constraint;
  }

  GivenForest run(std::span<const Constraint> constraints) {
    for (NodeId word = 0; word < forest_.words(); ++word) {
      made_[word].fill(add_node(forest_.label(word), forest_.span(word), word));
      add_edge(word, {}, graph_.edges_begin(word), 0.0);
    }
    for (const Constraint& constraint : constraints) {
      const NodeId node = add_node("X", constraint.span, kNoNode);
      tails_.clear();
      for (NodeId word = constraint.span.begin; word < constraint.span.end; ++word) tails_.push_back(word);
      add_edge(node, tails_, kNoEdge, 0.0);
      given_.emplace_back(node, &constraint);
    }
    for (auto node = static_cast<NodeId>(forest_.words()); node < graph_.nodes(); ++node)
      for (const bool left : {false, true})
        for (const bool right : {false, true}) add_cut(node, left, right);
    Mapped graph = assemble({spans_.size(), heads_, first_tail_, all_tails_}, made_[graph_.goal()][0]);
    GivenForest out{remapped({graph.graph, graph.edge_map, graph.node_map}, labels_, spans_, scores_, forest_.kind()),
                    {},
                    {},
                    {},
                    {},
                    {}};
    std::vector<NodeId> moved(graph.node_map.size());
    for (NodeId node = 0; node < graph.node_map.size(); ++node) {
      moved[graph.node_map[node]] = node;
      const NodeId from = from_node_[graph.node_map[node]];
      out.node_map.push_back(from == kNoNode ? kNoNode : pruned_.node_map[from]);
    }
    for (const EdgeId edge : graph.edge_map) {
      out.edge_map.push_back(from_edge_[edge] == kNoEdge ? kNoEdge : pruned_.edge_map[from_edge_[edge]]);
      out.optional.push_back(optional_[edge]);
      out.replaced.push_back(replaced_[edge]);
    }
    for (const auto& [node, constraint] : given_) out.given.emplace_back(moved[node], constraint);
    return out;
  }

 private:
  Span span(NodeId node) const { return forest_.span(pruned_.node_map[node]); }

  // What constraints do at a node's ends.
  struct Ends {
    const Constraint* around;        // has all its words, and more unless the node is a word
    const Constraint *left, *right;  // reach beyond it at this end, and leave some of its words
  };
  Ends ends(NodeId node) const {
    const Span covered = span(node);
    const Constraint *const left = at_[covered.begin], *const right = at_[covered.end - 1];
    if (left != nullptr && left->span.contains(covered)) {
      const bool around = node < forest_.words() || left->span != covered;
      return {around ? left : nullptr, nullptr, nullptr};
    }
    return {nullptr, left != nullptr && left->span.begin < covered.begin ? left : nullptr,
            right != nullptr && right->span.end > covered.end ? right : nullptr};
  }

  // What is left of a constituent if the constraints that reach beyond its ends are used, or not.
  void add_cut(NodeId node, bool left, bool right) {
    NodeId& head = made_[node][left * 2u + right] = kNoNode;
    const Ends at = ends(node);
    if (!possible(at, left, right)) return;
    const Span whole = span(node);
    const Span rest = {left ? at.left->span.end : whole.begin, right ? at.right->span.begin : whole.end};
    if (rest.begin == rest.end) return;
    head = add_node(forest_.label(pruned_.node_map[node]), rest, node);
    std::map<std::vector<NodeId>, std::size_t>
        known;  // changed edges by their tails: what differs inside a span is one
    for (EdgeId edge = graph_.edges_begin(node); edge < graph_.edges_end(node); ++edge) {
      const bool choice = has_preferred(whole, edge);
      for (const bool preferred : {false, true}) {
        if (preferred && !choice) continue;
        collect_tails(whole, edge, [&](const Constraint* one) { return uses(*one, at, left, right, preferred); });
        if (add_changed(head, edge, known) && choice) (preferred ? optional_ : replaced_).back() = 1;
      }
    }
  }

  static bool possible(const Constraint* constraint, bool used) {
    return constraint == nullptr ? !used : used || !constraint->required;
  }
  static bool possible(const Ends& at, bool left, bool right) {
    if (at.around != nullptr) return !at.around->required && !left && !right;
    return possible(at.left, left) && possible(at.right, right);
  }
  // Whether an edge of a constituent that is cut in this way uses a constraint.
  static bool uses(const Constraint& constraint, const Ends& at, bool left, bool right, bool preferred) {
    if (constraint.required) return true;
    if (&constraint == at.left) return left;
    if (&constraint == at.right) return right;
    return &constraint != at.around && preferred;
  }

  // False if another edge has the same tails.
  bool add_changed(NodeId head, EdgeId edge, std::map<std::vector<NodeId>, std::size_t>& known) {
    const bool changed =
        !std::ranges::equal(tails_, graph_.tails(edge), {}, [&](NodeId tail) { return from_node_[tail]; });
    const double score = forest_.score(pruned_.edge_map[edge]);
    const auto [at, is_new] = changed ? known.try_emplace(tails_, scores_.size()) : std::pair(known.end(), true);
    if (is_new) {
      add_edge(head, tails_, edge, score);
    } else if (scores_[at->second] < score) {
      scores_[at->second] = score;
      from_edge_[at->second] = edge;
    }
    return is_new;
  }

  // Whether a preferred constraint in `whole` stands between an edge's tails, or shares words with several.
  bool has_preferred(Span whole, EdgeId edge) const {
    return std::ranges::any_of(graph_.tails(edge), [&](NodeId tail) {
      const Ends at = ends(tail);
      const auto preferred = [&](const Constraint* one) {
        return one != nullptr && !one->required && whole.contains(one->span);
      };
      return preferred(at.around) || preferred(at.left) || preferred(at.right);
    });
  }

  // Fills tails_: what is left of an edge's tails, and the nodes of the constraints that lie in `whole` between them.
  template <class Used>
  void collect_tails(Span whole, EdgeId edge, const Used& used) {
    const Constraint* last = nullptr;
    const auto add_given = [&](const Constraint* given) {
      if (given == last || !whole.contains(given->span)) return;
      last = given;
      tails_.push_back(std::ranges::find(given_, given, [](const auto& one) { return one.second; })->first);
    };
    tails_.clear();
    for (const NodeId tail : graph_.tails(edge)) {
      const Ends at = ends(tail);
      if (at.around != nullptr && used(at.around)) {
        add_given(at.around);
        continue;
      }
      const bool left = at.left != nullptr && used(at.left), right = at.right != nullptr && used(at.right);
      const NodeId rest = made_[tail][left * 2u + right];
      if (left) add_given(at.left);
      if (rest != kNoNode) tails_.push_back(rest);
      if (right) add_given(at.right);
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
    optional_.push_back(0);
    replaced_.push_back(0);
  }

  const ParseForest& forest_;
  const Mapped& pruned_;
  const Hypergraph& graph_;                  // the pruned one
  std::vector<const Constraint*> at_;        // by word
  std::vector<std::array<NodeId, 4>> made_;  // by node: what is left of it, cut at its left (2) and its right (1)
  std::vector<std::pair<NodeId, const Constraint*>> given_;
  std::vector<NodeId> tails_;
  // The new forest.
  Strings labels_;
  std::vector<Span> spans_;
  std::vector<NodeId> from_node_, heads_, all_tails_;
  std::vector<std::uint32_t> first_tail_ = {0};
  std::vector<double> scores_;
  std::vector<EdgeId> from_edge_;
  std::vector<std::uint8_t> optional_, replaced_;
};

}  // namespace

GivenForest with_constituents(const ParseForest& forest, const Mapped& pruned,
                              std::span<const Constraint> constraints) {
  return Cutting(forest, pruned, constraints).run(constraints);
}

}  // namespace treeglot
