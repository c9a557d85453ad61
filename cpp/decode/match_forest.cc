#include "decode/match_forest.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "decode/given_forest.h"
#include "graph/derivation.h"
#include "graph/rewrite.h"

namespace treeglot {
namespace {

constexpr std::uint32_t kNone = 0xffffffffu;
constexpr const char* kNoParse = "no parse, translated by phrases and glue";
constexpr const char* kStepLimit = "the step limit of matching was hit";

// What a node of the forest is in the table.
struct NodeSymbols {
  Symbol opening;   // of " L("
  Symbol variable;  // of [L]; of a word the word itself
};

struct Match {
  std::span<const Alternative> alternatives;
  std::uint32_t first_tail, arity;
  std::uint32_t first_edge, edges;  // of the parse
  float value;
};

// Where a walk is: before child `next` of a hyperedge, and what follows once that is closed.
struct Place {
  EdgeId edge;
  std::uint32_t next;
  std::uint32_t above;  // a place, or kNone
};

// Lists that grow at their ends and share their beginnings.
struct Link {
  std::uint32_t value;
  std::uint32_t before;  // a link, or kNone
};

struct Walk {
  RuleTable::Node node;
  std::uint32_t place;
  std::uint32_t tails, edges;  // links
};

class Matching {
 public:
  // `given`, if any, is the input's forest with the spans whose translations are given.
  Matching(const RuleTable& table, const HeadTable* heads, const ForestOptions& options, FeatureId pseudo,
           const Input& input, const GivenForest* given, RuleCache& cache, Glue& glue, TranslationForestBuilder& out)
      : table_(table),
        heads_(heads),
        step_limit_(options.step_limit == 0 ? std::numeric_limits<std::size_t>::max() : options.step_limit),
        pseudo_nodes_(options.pseudo_nodes),
        pseudo_(pseudo),
        input_(input),
        given_(given),
        forest_(given == nullptr ? *input.forest : given->forest),
        cache_(cache),
        glue_(glue),
        pruned_(prune(forest_.graph(), forest_.scores(), options.margin)),
        graph_(pruned_.graph),
        out_(out) {
    closing_ = table.source_words().find(" )");
    x_ = table.labels().find("X");
    for (const std::string_view word : input.words) words_.push_back(table.source_words().find(word));
    phrases_.resize(words_.size());
    if (given != nullptr) {
      constraints_.resize(forest_.graph().nodes());
      for (const auto& [node, constraint] : given->given) constraints_[node] = constraint;
    }
    look_up_labels();
    score_edges();
  }

  // Adds the nodes and edges of all matches; gives the node of the forest's goal.
  NodeId add() {
    // Top-down, so that nodes inside fragments alone are left out; each node has a derivation whatever lies below it.
    std::vector<std::uint8_t> needed(graph_.nodes(), 0);
    std::vector<std::pair<std::size_t, std::size_t>> of_node(graph_.nodes());  // ranges of matches_
    needed[graph_.goal()] = 1;
    for (NodeId node = graph_.goal() + 1; node-- > 0;) {
      if (!needed[node]) continue;
      const std::size_t begin = matches_.size();
      match(node);
      of_node[node] = {begin, matches_.size()};
      for (std::size_t m = begin; m < matches_.size(); ++m)
        for (const NodeId tail : tails(matches_[m])) needed[tail] = 1;
    }
    std::vector<NodeId> made(graph_.nodes(), kNoNode), moved;
    for (NodeId node = 0; node <= graph_.goal(); ++node) {
      if (!needed[node]) continue;
      const NodeId old = pruned_.node_map[node];
      const Symbol label = is_word(node) ? Symbols::kNone : label_of(symbols_[node].variable);
      made[node] = out_.add_node(forest_.span(old), label, is_word(node) ? "X" : name(old));
      for (std::size_t m = of_node[node].first; m < of_node[node].second; ++m) {
        const Match& match = matches_[m];
        moved.clear();
        for (const NodeId tail : tails(match)) moved.push_back(made[tail]);
        out_.add_edge(made[node], moved, match.alternatives, kInside, match.value,
                      std::span(match_edges_).subspan(match.first_edge, match.edges));
      }
    }
    return made[graph_.goal()];
  }
  bool limit_hit() const { return limit_hit_; }

 private:
  bool is_word(NodeId node) const { return forest_.is_word(pruned_.node_map[node]); }
  Span span(NodeId node) const { return forest_.span(pruned_.node_map[node]); }
  const Constraint* constraint(NodeId node) const {
    return constraints_.empty() ? nullptr : constraints_[pruned_.node_map[node]];
  }
  // Of the input's own forest, which outlives the translation forest.
  std::string_view name(NodeId old) const {
    if (given_ == nullptr) return forest_.label(old);
    return given_->node_map[old] == kNoNode ? "X" : input_.forest->label(given_->node_map[old]);
  }
  EdgeId parse_edge(EdgeId edge) const {
    const EdgeId old = pruned_.edge_map[edge];
    return given_ == nullptr ? old : given_->edge_map[old];
  }
  std::span<const NodeId> tails(const Match& match) const {
    return std::span(match_tails_).subspan(match.first_tail, match.arity);
  }

  void look_up_labels() {
    std::string opening;
    for (const NodeId old : pruned_.node_map) {
      const std::string_view label = forest_.label(old);
      if (forest_.is_word(old)) {
        symbols_.push_back({Symbols::kNone, words_[old]});
        continue;
      }
      if (!constraints_.empty() && constraints_[old] != nullptr) {
        symbols_.push_back({Symbols::kNone, Symbols::kNone});
        continue;
      }
      opening.assign(" ").append(label).append("(");
      symbols_.push_back({table_.source_words().find(opening), nonterminal(table_.labels().find(label))});
    }
  }

  // Probabilities of the hyperedges (the c2d page, "Model"; the common page on the kinds of scores), and those of the
  // best tree below each node, which is the best by the scores as given.
  void score_edges() {
    std::vector<double> given;
    for (const EdgeId old : pruned_.edge_map) given.push_back(forest_.score(old));
    const BestDerivations best = best_derivations(graph_, given);
    const std::vector<double> conditional = conditional_scores(*input_.forest);
    for (EdgeId edge = 0; edge < pruned_.edge_map.size(); ++edge)
      value_.push_back(parse_edge(edge) == kNoEdge ? 0 : conditional[parse_edge(edge)]);
    best_value_.resize(graph_.nodes());
    for (NodeId node = 0; node < graph_.nodes(); ++node) {
      best_value_[node] = value_[best.edge[node]];
      for (const NodeId tail : graph_.tails(best.edge[node])) best_value_[node] += best_value_[tail];
    }
  }

  void match(NodeId node) {
    if (constraint(node) != nullptr) return add_given(*constraint(node), kNoEdge);
    begun_.assign(graph_.edges_end(node) - graph_.edges_begin(node), 0);
    if (!is_word(node)) match_fragments(node);
    const bool phrases = match_phrases(node);
    if (is_word(node)) {
      if (!phrases || input_.lenient) add_unknown(node, kNoEdge);
      return;
    }
    const bool begins = std::ranges::find(begun_, 1) != begun_.end();
    for (EdgeId edge = graph_.edges_begin(node); edge < graph_.edges_end(node); ++edge) {
      const auto children = graph_.tails(edge);
      if (children.size() == 1 && constraint(children[0]) != nullptr) {
        add_given(*constraint(children[0]), edge);
        continue;
      }
      if (!input_.lenient && (begun_[edge - graph_.edges_begin(node)] || (pseudo_nodes_ && begins))) continue;
      if (children.size() > 1 || !is_word(children[0])) {
        add_pseudo(node, edge);
      } else if (!phrases || input_.lenient) {
        add_unknown(children[0], edge);
      }
    }
  }

  void add_given(const Constraint& given, EdgeId edge) {
    const Match match = begin_match();
    if (edge != kNoEdge) match_edges_.push_back(parse_edge(edge));
    end_match(match, glue_.given(given.translations, given.bonus), edge == kNoEdge ? 0 : value_[edge]);
  }

  // Breadth first, so that a limit leaves out the largest fragments.
  void match_fragments(NodeId node) {
    const RuleTable::Node opened = table_.child(table_.root(), symbols_[node].opening);
    if (opened == RuleTable::kNoNode) return;
    places_.clear();
    links_.clear();
    walks_.clear();
    const auto open = [&](RuleTable::Node at, NodeId constituent, std::uint32_t above, const Walk& from) {
      for (EdgeId edge = graph_.edges_begin(constituent); edge < graph_.edges_end(constituent); ++edge)
        walks_.push_back({at, place({edge, 0, above}), from.tails, link(edge, from.edges)});
    };
    open(opened, node, kNone, {opened, kNone, kNone, kNone});
    for (std::size_t next = 0; next < walks_.size(); ++next) {
      if (next >= step_limit_) {
        limit_hit_ = true;
        return;
      }
      const Walk walk = walks_[next];
      const Place at = places_[walk.place];
      const auto children = graph_.tails(at.edge);
      if (at.next == children.size()) {
        const RuleTable::Node closed = table_.child(walk.node, closing_);
        if (closed == RuleTable::kNoNode) continue;
        if (at.above != kNone) {
          walks_.push_back({closed, at.above, walk.tails, walk.edges});
        } else if (!table_.rules_of(closed).empty()) {
          add_fragment(node, closed, walk);
        }
        continue;
      }
      const NodeId child = children[at.next];
      const RuleTable::Node taken = table_.child(walk.node, symbols_[child].variable);
      const RuleTable::Node inside =
          is_word(child) ? RuleTable::kNoNode : table_.child(walk.node, symbols_[child].opening);
      if (taken == RuleTable::kNoNode && inside == RuleTable::kNoNode) continue;
      const std::uint32_t after = place({at.edge, at.next + 1, at.above});
      if (taken != RuleTable::kNoNode)
        walks_.push_back({taken, after, is_word(child) ? walk.tails : link(child, walk.tails), walk.edges});
      if (inside != RuleTable::kNoNode) open(inside, child, after, walk);
    }
  }

  std::uint32_t place(const Place& made) {
    places_.push_back(made);
    return static_cast<std::uint32_t>(places_.size() - 1);
  }
  std::uint32_t link(std::uint32_t value, std::uint32_t before) {
    links_.push_back({value, before});
    return static_cast<std::uint32_t>(links_.size() - 1);
  }

  void add_fragment(NodeId node, RuleTable::Node rules, const Walk& walk) {
    Match match = begin_match();
    for (std::uint32_t at = walk.tails; at != kNone; at = links_[at].before) match_tails_.push_back(links_[at].value);
    double value = 0;
    EdgeId first = 0;
    for (std::uint32_t at = walk.edges; at != kNone; at = links_[at].before) {
      first = links_[at].value;
      value += value_[first];
      match_edges_.push_back(parse_edge(first));
    }
    begun_[first - graph_.edges_begin(node)] = 1;
    std::reverse(match_tails_.begin() + match.first_tail, match_tails_.end());
    std::reverse(match_edges_.begin() + match.first_edge, match_edges_.end());
    for (const RuleCache::Group& group : cache_.at(rules)) end_match(match, group.alternatives, value);
  }

  bool match_phrases(NodeId node) {
    const Span covered = span(node);
    if (given_ != nullptr && std::ranges::any_of(given_->given, [&](const auto& given) {
          return given.second->span.begin < covered.end && covered.begin < given.second->span.end;
        }))
      return false;
    auto& ends = phrases_[covered.begin];  // the trie's nodes for the words from here on
    if (ends.empty()) {
      RuleTable::Node at = table_.root();
      for (std::size_t i = covered.begin; i < words_.size() && at != RuleTable::kNoNode; ++i)
        ends.push_back(at = table_.child(at, words_[i]));
    }
    if (covered.size() > ends.size() || ends[covered.size() - 1] == RuleTable::kNoNode) return false;
    for (const RuleCache::Group& group : cache_.at(ends[covered.size() - 1])) {
      if (group.lhs != x_) continue;
      end_match(begin_match(), group.alternatives, best_value_[node]);
      return true;
    }
    return false;
  }

  void add_unknown(NodeId word, EdgeId edge) {
    const Match match = begin_match();
    if (edge != kNoEdge) match_edges_.push_back(parse_edge(edge));
    end_match(match, glue_.unknown(forest_.label(pruned_.node_map[word])), edge == kNoEdge ? 0 : value_[edge]);
  }

  void add_pseudo(NodeId node, EdgeId edge) {
    const auto children = graph_.tails(edge);
    std::vector<std::int32_t> target, structure;
    for (std::size_t i = 0; i < children.size(); ++i) target.push_back(-1 - static_cast<std::int32_t>(i));
    if (heads_ != nullptr) {
      std::vector<HeadTable::Label> labels;
      for (const NodeId child : children)
        labels.push_back(is_word(child) ? heads_->unknown() : heads_->find(forest_.label(pruned_.node_map[child])));
      const std::size_t head = heads_->head_child(heads_->find(forest_.label(pruned_.node_map[node])), labels);
      structure.assign(children.size(), static_cast<std::int32_t>(head) + 1);
      structure[head] = 0;
    }
    const Match match = begin_match();
    match_tails_.insert(match_tails_.end(), children.begin(), children.end());
    match_edges_.push_back(parse_edge(edge));
    end_match(match, glue_.add(LocalKind::pseudo, std::move(target), {{pseudo_, 1.0f}}, std::move(structure)),
              value_[edge]);
  }

  Match begin_match() const {
    return {{}, static_cast<std::uint32_t>(match_tails_.size()), 0, static_cast<std::uint32_t>(match_edges_.size()), 0,
            0};
  }
  void end_match(Match match, std::span<const Alternative> alternatives, double value) {
    match.alternatives = alternatives;
    match.arity = static_cast<std::uint32_t>(match_tails_.size()) - match.first_tail;
    match.edges = static_cast<std::uint32_t>(match_edges_.size()) - match.first_edge;
    match.value = static_cast<float>(value);
    matches_.push_back(match);
  }

  const RuleTable& table_;
  const HeadTable* heads_;
  std::size_t step_limit_;
  bool pseudo_nodes_;
  FeatureId pseudo_;
  const Input& input_;
  const GivenForest* given_;
  const ParseForest& forest_;
  RuleCache& cache_;
  Glue& glue_;
  Mapped pruned_;
  const Hypergraph& graph_;  // the pruned forest's

  Symbol closing_ = Symbols::kNone, x_ = Symbols::kNone;
  std::vector<Symbol> words_;
  std::vector<const Constraint*> constraints_;         // by node of the forest: what is given for it
  std::vector<NodeSymbols> symbols_;                   // by node
  std::vector<std::vector<RuleTable::Node>> phrases_;  // by first word
  std::vector<double> value_;                          // by edge
  std::vector<double> best_value_;                     // by node

  std::vector<Match> matches_;
  std::vector<NodeId> match_tails_;
  std::vector<EdgeId> match_edges_;  // of the input's forest
  std::vector<std::uint8_t> begun_;  // by hyperedge of the node at hand: a fragment begins with it
  std::vector<Place> places_;        // of the walks at hand
  std::vector<Link> links_;
  std::vector<Walk> walks_;
  bool limit_hit_ = false;

  TranslationForestBuilder& out_;
};

}  // namespace

ForestMatcher::ForestMatcher(FeatureSet& features, std::shared_ptr<const HeadTable> heads, const ForestOptions& options,
                             const ChartOptions& fallback)
    : table_(features.shared_table()),
      heads_(std::move(heads)),
      options_(options),
      fallback_(table_, fallback),
      parse_(features.space().add("parse")),
      pseudo_(features.space().add("pseudo")) {
  if (!(options.margin >= 0)) throw std::invalid_argument("the margin of a forest is below 0; expected 0 or more");
}

TranslationForest ForestMatcher::match(const Input& input, RuleCache& cache, Glue& glue) const {
  if (input.forest != nullptr && input.forest->parsed()) {
    TranslationForestBuilder out;
    std::vector<NodeId> goals;
    bool limit_hit = false;
    const auto add = [&](const std::vector<const Constraint*>& constraints) {
      std::optional<GivenForest> given;
      if (!constraints.empty()) given = with_constituents(*input.forest, constraints);
      const GivenForest* const cut = given ? &*given : nullptr;
      Matching matching(*table_, heads_.get(), options_, pseudo_, input, cut, cache, glue, out);
      goals.push_back(matching.add());
      limit_hit |= matching.limit_hit();
    };
    // A sentence has the derivations without preferred translations, and those with all of them.
    std::vector<const Constraint*> required, all;
    for (const Constraint& constraint : input.constraints) {
      all.push_back(&constraint);
      if (constraint.required) required.push_back(&constraint);
    }
    add(required);
    if (required.size() < all.size()) add(all);
    const auto length = static_cast<std::uint32_t>(input.words.size());
    const NodeId goal = out.add_node({0, length}, Symbols::kNone, "S");
    for (const NodeId& each : goals) out.add_edge(goal, std::span(&each, 1), glue.end(), kBegins | kEnds);
    if (limit_hit) out.note(kStepLimit);
    return out.freeze(goal, parse_);
  }
  TranslationForest forest = fallback_.match(input, cache, glue);
  forest.notes.push_back(kNoParse);
  return forest;
}

}  // namespace treeglot
