#include "decode/match_forest.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "decode/forest_phrases.h"
#include "decode/given_forest.h"
#include "decode/preferred_forest.h"
#include "graph/derivation.h"
#include "graph/rewrite.h"

namespace treeglot {
namespace {

constexpr std::uint32_t kNone = 0xffffffffu;
constexpr NodeId kSequence = 0x80000000u;  // set in the place of a sequence of children, where it is a tail
constexpr std::array kVersions = {kNode, kTwin};
constexpr const char* kNoParse = "no parse, translated by phrases and glue";
constexpr const char* kNoVariants = "no parse, so variants of words were not used";
constexpr const char* kLeftOut =
    "variants that insert words, leave words out or begin before an empty arc were not used";
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
  std::uint8_t uses;
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
  // `parsed` is the input's forest, pruned. `given`, if any, is that with the spans whose translations are given, and
  // `pruned` has all of it; otherwise `pruned` is `parsed`.
  Matching(const RuleTable& table, const HeadTable* heads, const ForestOptions& options, FeatureId pseudo,
           std::uint32_t span_limit, const Input& input, const Mapped& parsed, const Mapped& pruned,
           const GivenForest* given, RuleCache& cache, Glue& glue, TranslationForestBuilder& out)
      : table_(table),
        heads_(heads),
        step_limit_(options.step_limit == 0 ? std::numeric_limits<std::size_t>::max() : options.step_limit),
        sequences_(options.sequences && !options.pseudo_nodes),
        pseudo_nodes_(options.pseudo_nodes),
        pseudo_(pseudo),
        input_(input),
        given_(given),
        forest_(given == nullptr ? *input.forest : given->forest),
        cache_(cache),
        glue_(glue),
        parsed_(parsed),
        pruned_(pruned),
        graph_(pruned.graph),
        spans_(parsed.graph, spans(*input.forest, parsed), graph_, spans(forest_, pruned), sorts(),
               static_cast<NodeId>(input.words.size()), span_limit, options.crossing),
        out_(out) {
    closing_ = table.source_words().find(" )");
    x_ = table.labels().find("X");
    for (const std::string_view word : input.words) words_.push_back(table.source_words().find(word));
    phrases_.resize(words_.size());
    if (given != nullptr) {
      constraints_.resize(forest_.graph().nodes());
      for (const auto& [node, constraint] : given->given) constraints_[node] = constraint;
    }
    if (input.variants != nullptr)
      spans_.add_variants(*input.variants, static_cast<EdgeId>(input.forest->graph().edges()));
    look_up_labels();
    score_edges();
    find_twins();
  }

  // Adds the nodes and edges of all matches; gives the node of the forest's goal.
  NodeId add() {
    find_phrases();
    const std::vector<std::uint8_t> needed = find_all_matches();
    for (auto& made : made_) made.assign(graph_.nodes(), kNoNode);
    for (ForestPhrases::Covered& at : spans_.by_size()) {
      if (at.gap_wanted || std::ranges::any_of(at.nodes, [&](NodeId node) { return needed[node] != 0; }))
        spans_.add_readings(at, glue_, out_);
      for (const auto* nodes : {&at.given, &at.nodes, &at.rests})
        for (const NodeId node : *nodes) add_versions(node, needed[node], at);
      if (at.gap_wanted) spans_.add_gap(at, made(kNode), glue_, out_);
    }
    return made(kNode)[graph_.goal()];
  }
  bool limit_hit() const { return limit_hit_; }

 private:
  // Top-down, so that nodes inside fragments alone are left out; each node has a derivation whatever lies below it.
  // Gives the versions of each node that are needed: kNode, kTwin.
  std::vector<std::uint8_t> find_all_matches() {
    std::vector<std::uint8_t> needed(graph_.nodes(), 0);
    of_node_.resize(graph_.nodes());
    needed[graph_.goal()] = kNode;
    const auto covered = spans_.by_size();
    for (auto place = static_cast<ForestPhrases::Place>(covered.size()); place-- > 0;) {
      const ForestPhrases::Covered& at = covered[place];
      if (at.gap_wanted)
        for (const NodeId node : at.fillers()) needed[node] |= kNode;
      for (const auto* nodes : {&at.rests, &at.nodes, &at.given})
        for (const NodeId node : std::views::reverse(*nodes)) {
          if (needed[node]) find_matches(node, needed);
          if ((needed[node] & kNode) && has_phrases(node)) spans_.want_phrases(place);
        }
      if (at.is_sequence && !at.is_crossing && at.gap_wanted) spans_.want_phrases(place);
    }
    return needed;
  }
  void add_versions(NodeId node, std::uint8_t needed, ForestPhrases::Covered& at) {
    for (const Uses which : kVersions)
      if (needed & which) add_node(node, which, at);
  }

  bool is_word(NodeId node) const { return forest_.is_word(pruned_.node_map[node]); }
  Span span(NodeId node) const { return forest_.span(pruned_.node_map[node]); }
  static std::vector<Span> spans(const ParseForest& forest, const Mapped& pruned) {
    std::vector<Span> out;
    for (const NodeId old : pruned.node_map) out.push_back(forest.span(old));
    return out;
  }
  // Of the nodes. A given span is of no node of the input's forest; what is left of a node is smaller than that.
  std::vector<ForestPhrases::Sort> sorts() const {
    std::vector<ForestPhrases::Sort> out(graph_.nodes(), ForestPhrases::Sort::parsed);
    for (NodeId node = 0; given_ != nullptr && node < graph_.nodes(); ++node) {
      const NodeId from = given_->node_map[node];
      if (from == kNoNode) {
        out[node] = ForestPhrases::Sort::given;
      } else if (input_.forest->span(from) != span(node)) {
        out[node] = ForestPhrases::Sort::rest;
      }
    }
    return out;
  }
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
  bool is_optional(EdgeId edge) const { return given_ != nullptr && given_->optional[pruned_.edge_map[edge]]; }
  bool is_replaced(EdgeId edge) const { return given_ != nullptr && given_->replaced[pruned_.edge_map[edge]]; }
  std::span<const NodeId> tails(const Match& match) const {
    return std::span(match_tails_).subspan(match.first_tail, match.arity);
  }

  // The matches of a version of a node, with the version of tails that have preferred spans.
  template <class Take>
  void for_matches(NodeId node, Uses which, const Take& take) const {
    for (std::size_t m = of_node_[node].first; m < of_node_[node].second; ++m)
      if (matches_[m].uses & which) take(matches_[m], (matches_[m].uses & kTwinTails) ? kTwin : which);
  }
  Uses version(NodeId node, Uses wanted) const { return has_twin_[node] ? wanted : kNode; }
  std::vector<NodeId>& made(Uses which) { return made_[which == kNode ? 0 : 1]; }

  // Hierarchical phrases translate constituents alone, and not what is given.
  bool has_phrases(NodeId node) const { return !is_word(node) && constraint(node) == nullptr; }

  void find_phrases() {
    std::vector<Symbol> words = words_;
    std::vector<Span> given;
    for (const Constraint& constraint : input_.constraints) {
      if (!constraint.required) continue;
      given.push_back(constraint.span);
      std::fill(words.begin() + constraint.span.begin, words.begin() + constraint.span.end, Symbols::kNone);
    }
    if (x_ != Symbols::kNone) spans_.find(cache_, x_, words, given, best_value_);
  }

  void find_matches(NodeId node, std::vector<std::uint8_t>& needed) {
    const std::size_t begin = matches_.size();
    match(node);
    of_node_[node] = {begin, matches_.size()};
    for (const Uses which : kVersions)
      if (needed[node] & which) ask_for_tails(node, which, needed);
  }

  void ask_for_tails(NodeId node, Uses which, std::vector<std::uint8_t>& needed) {
    for_matches(node, which, [&](const Match& match, Uses below) {
      for (const NodeId tail : tails(match)) {
        if (tail & kSequence) {
          spans_.by_size()[tail & ~kSequence].gap_wanted = true;
        } else {
          needed[tail] |= version(tail, below);
        }
      }
    });
  }

  NodeId made(NodeId tail, Uses which) {
    if (tail & kSequence) return spans_.by_size()[tail & ~kSequence].gap;
    return made(version(tail, which))[tail];
  }

  void add_node(NodeId node, Uses which, const ForestPhrases::Covered& at) {
    const NodeId old = pruned_.node_map[node];
    const Symbol label = is_word(node) ? Symbols::kNone : label_of(symbols_[node].variable);
    const NodeId head = out_.add_node(forest_.span(old), label, is_word(node) ? "X" : name(old));
    made(which)[node] = head;
    std::vector<NodeId> moved;
    for_matches(node, which, [&](const Match& match, Uses below) {
      moved.clear();
      for (const NodeId tail : tails(match)) moved.push_back(made(tail, below));
      out_.add_edge(head, moved, match.alternatives, kInside, match.value,
                    std::span(match_edges_).subspan(match.first_edge, match.edges));
    });
    if (which == kNode && has_phrases(node)) spans_.add_phrases(at, head, best_value_[node], glue_, out_);
    if (which == kNode && is_word(node)) spans_.use_readings(at, head, best_value_[node], true, out_);
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

  // Probabilities of the hyperedges (the c2d page, "Model"; the common page on the kinds of scores). Then those of the
  // best tree below each node, by the scores as given. What is left of a node has the probability of the node.
  void score_edges() {
    std::vector<double> given;
    for (const EdgeId old : parsed_.edge_map) given.push_back(input_.forest->score(old));
    const BestDerivations best = best_derivations(parsed_.graph, given);
    const std::vector<double> conditional = conditional_scores(*input_.forest);
    std::vector<double> of_node(input_.forest->graph().nodes());  // of the input's forest
    for (NodeId node = 0; node < parsed_.graph.nodes(); ++node) {
      double& value = of_node[parsed_.node_map[node]];
      value = conditional[parsed_.edge_map[best.edge[node]]];
      for (const NodeId tail : parsed_.graph.tails(best.edge[node])) value += of_node[parsed_.node_map[tail]];
    }
    for (EdgeId edge = 0; edge < pruned_.edge_map.size(); ++edge)
      value_.push_back(parse_edge(edge) == kNoEdge ? 0 : conditional[parse_edge(edge)]);
    for (const NodeId old : pruned_.node_map) {
      const NodeId from = given_ == nullptr ? old : given_->node_map[old];
      best_value_.push_back(from == kNoNode ? 0 : of_node[from]);
    }
  }

  // Nodes that have all words of preferred spans.
  void find_twins() {
    has_twin_.assign(graph_.nodes(), 0);
    for (const Constraint& constraint : input_.constraints)
      for (NodeId node = 0; !constraint.required && node < graph_.nodes(); ++node)
        has_twin_[node] |= span(node).contains(constraint.span);
  }

  void match(NodeId node) {
    uses_ = kNode | kTwin;
    if (constraint(node) != nullptr) return add_given(*constraint(node), kNoEdge);
    begun_.assign(graph_.edges_end(node) - graph_.edges_begin(node), 0);
    if (!is_word(node)) match_fragments(node);
    uses_ = kNode;
    const bool phrases = match_phrases(node);
    if (is_word(node)) {
      if (!phrases || input_.lenient) add_unknown(node, kNoEdge);
      return;
    }
    std::uint8_t any = 0;
    for (const std::uint8_t uses : begun_) any |= uses;
    for (EdgeId edge = graph_.edges_begin(node); edge < graph_.edges_end(node); ++edge)
      match_edge(node, edge, pseudo_nodes_ ? any : begun_[edge - graph_.edges_begin(node)], phrases);
  }

  // `begun`: fragments that a derivation could use, so that it needs no other rule for this hyperedge.
  void match_edge(NodeId node, EdgeId edge, std::uint8_t begun, bool phrases) {
    const auto children = graph_.tails(edge);
    uses_ = is_replaced(edge) ? kNode : kNode | kTwin;
    if (children.size() == 1 && constraint(children[0]) != nullptr) return add_given(*constraint(children[0]), edge);
    if (!input_.lenient && is_optional(edge)) {
      if (begun & kTwin) return;
    } else if (!input_.lenient && begun) {
      if ((begun & kTwin) || !has_twin_[node] || is_replaced(edge)) return;
      uses_ |= kTwinTails;
    }
    if (children.size() > 1 || !is_word(children[0])) {
      add_pseudo(node, edge);
    } else if (!phrases || input_.lenient) {
      add_unknown(children[0], edge);
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
        close(node, walk, at.above);
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

  // All children of a constituent have been walked.
  void close(NodeId node, const Walk& walk, std::uint32_t above) {
    const RuleTable::Node closed = table_.child(walk.node, closing_);
    if (closed == RuleTable::kNoNode) return;
    if (above != kNone) {
      walks_.push_back({closed, above, walk.tails, walk.edges});
    } else if (!table_.rules_of(closed).empty()) {
      add_fragment(node, closed, walk);
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
    uses_ = kNode | kTwin;
    for (std::uint32_t at = walk.edges; at != kNone; at = links_[at].before) {
      first = links_[at].value;
      value += value_[first];
      if (is_replaced(first)) uses_ = kNode;
      match_edges_.push_back(parse_edge(first));
    }
    begun_[first - graph_.edges_begin(node)] |= uses_;
    std::reverse(match_tails_.begin() + match.first_tail, match_tails_.end());
    std::reverse(match_edges_.begin() + match.first_edge, match_edges_.end());
    for (const RuleCache::Group& group : cache_.at(rules)) end_match(match, group.alternatives, value);
  }

  bool match_phrases(NodeId node) {
    const Span covered = span(node);
    if (given_ != nullptr && std::ranges::any_of(given_->given, [&](const auto& given) {
          return given.second->required && given.second->span.begin < covered.end &&
                 covered.begin < given.second->span.end;
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

  // In source order, and the same with each sequence of children that has phrases as one.
  void add_pseudo(NodeId node, EdgeId edge) {
    const auto children = graph_.tails(edge);
    std::size_t head = children.size();
    if (heads_ != nullptr) {
      std::vector<HeadTable::Label> labels;
      for (const NodeId child : children)
        labels.push_back(is_word(child) ? heads_->unknown() : heads_->find(forest_.label(pruned_.node_map[child])));
      head = heads_->head_child(heads_->find(forest_.label(pruned_.node_map[node])), labels);
    }
    add_pseudo(edge, head, children.size(), children.size(), kNoNode);
    if (sequences_) add_sequences(edge, head);
  }

  // A sequence with a given translation inside would be that of the edge without it once more. Twins have
  // no sequences: a phrase on one need not use a preferred span inside. All children are a node's, which has phrases
  // itself.
  void add_sequences(EdgeId edge, std::size_t head) {
    const auto children = graph_.tails(edge);
    const std::uint8_t uses = uses_;
    const auto is_given = [&](std::size_t i) { return constraint(children[i]) != nullptr; };
    for (std::size_t first = 0; first + 1 < children.size(); ++first) {
      bool preferred = has_twin_[children[first]] != 0;
      for (std::size_t last = first + 1; last < children.size() && !is_given(first) && !is_given(last); ++last) {
        preferred = preferred || has_twin_[children[last]] != 0;
        const auto place = spans_.find_sequence({span(children[first]).begin, span(children[last]).end});
        uses_ = !preferred ? uses : (uses & kTwinTails) ? 0 : uses & kNode;
        if (first == 0 && last + 1 == children.size()) continue;
        if (place != ForestPhrases::kNowhere && uses_ != 0) add_pseudo(edge, head, first, last, place | kSequence);
      }
    }
    uses_ = uses;
  }

  // With the children from `first` to `last` as one variable, if there are such.
  void add_pseudo(EdgeId edge, std::size_t head, std::size_t first, std::size_t last, NodeId sequence) {
    const auto children = graph_.tails(edge);
    const Match match = begin_match();
    std::vector<std::int32_t> target, structure;
    std::size_t head_place = 0;
    double value = value_[edge];
    for (std::size_t i = 0; i < children.size(); ++i) {
      if (i == head) head_place = target.size();
      const bool inside = first <= i && i <= last;
      if (inside) value += best_value_[children[i]];
      if (inside && i < last) continue;
      target.push_back(-1 - static_cast<std::int32_t>(target.size()));
      match_tails_.push_back(inside ? sequence : children[i]);
    }
    if (head < children.size()) {
      structure.assign(target.size(), static_cast<std::int32_t>(head_place) + 1);
      structure[head_place] = 0;
    }
    match_edges_.push_back(parse_edge(edge));
    end_match(match, glue_.add(LocalKind::pseudo, std::move(target), {{pseudo_, 1.0f}}, std::move(structure)), value);
  }

  Match begin_match() const {
    return {
        {}, static_cast<std::uint32_t>(match_tails_.size()), 0, static_cast<std::uint32_t>(match_edges_.size()), 0, 0,
        0};
  }
  void end_match(Match match, std::span<const Alternative> alternatives, double value) {
    match.alternatives = alternatives;
    match.arity = static_cast<std::uint32_t>(match_tails_.size()) - match.first_tail;
    match.edges = static_cast<std::uint32_t>(match_edges_.size()) - match.first_edge;
    match.value = static_cast<float>(value);
    match.uses = uses_;
    matches_.push_back(match);
  }

  const RuleTable& table_;
  const HeadTable* heads_;
  std::size_t step_limit_;
  bool sequences_;
  bool pseudo_nodes_;
  FeatureId pseudo_;
  const Input& input_;
  const GivenForest* given_;
  const ParseForest& forest_;
  RuleCache& cache_;
  Glue& glue_;
  const Mapped &parsed_, &pruned_;
  const Hypergraph& graph_;  // the pruned forest's
  ForestPhrases spans_;

  Symbol closing_ = Symbols::kNone, x_ = Symbols::kNone;
  std::vector<Symbol> words_;
  std::vector<const Constraint*> constraints_;         // by node of the forest: what is given for it
  std::vector<NodeSymbols> symbols_;                   // by node
  std::vector<std::vector<RuleTable::Node>> phrases_;  // by first word
  std::vector<double> value_;                          // by edge
  std::vector<double> best_value_;                     // by node, without given spans
  std::vector<std::uint8_t> has_twin_;                 // by node

  std::vector<Match> matches_;
  std::vector<std::pair<std::size_t, std::size_t>> of_node_;  // ranges of matches_
  std::array<std::vector<NodeId>, 2> made_;                   // by version and node: that of the translation forest
  std::vector<NodeId> match_tails_;
  std::vector<EdgeId> match_edges_;  // of the input's forest
  std::vector<std::uint8_t> begun_;  // by hyperedge of the node at hand: the uses of fragments that begin with it
  std::uint8_t uses_ = 0;            // of the match at hand
  std::vector<Place> places_;        // of the walks at hand
  std::vector<Link> links_;
  std::vector<Walk> walks_;
  bool limit_hit_ = false;

  TranslationForestBuilder& out_;
};

Mapped whole(const Hypergraph& graph) {
  Mapped out{graph, std::vector<EdgeId>(graph.edges()), std::vector<NodeId>(graph.nodes())};
  std::iota(out.edge_map.begin(), out.edge_map.end(), EdgeId{0});
  std::iota(out.node_map.begin(), out.node_map.end(), NodeId{0});
  return out;
}

}  // namespace

ForestMatcher::ForestMatcher(FeatureSet& features, std::shared_ptr<const HeadTable> heads, const ForestOptions& options,
                             const ChartOptions& fallback)
    : table_(features.shared_table()),
      heads_(std::move(heads)),
      options_(options),
      span_limit_(fallback.span_limit),
      fallback_(table_, fallback),
      parse_(features.space().add("parse")),
      pseudo_(features.space().add("pseudo")) {
  if (!(options.margin >= 0)) throw std::invalid_argument("the margin of a forest is below 0; expected 0 or more");
}

TranslationForest ForestMatcher::match(const Input& input, RuleCache& cache, Glue& glue) const {
  if (input.forest != nullptr && input.forest->parsed()) {
    TranslationForestBuilder out;
    const Mapped parsed = prune(input.forest->graph(), input.forest->scores(), options_.margin);
    std::optional<GivenForest> given;
    std::optional<Mapped> all;
    if (!input.constraints.empty()) {
      given = with_constituents(*input.forest, parsed, input.constraints);
      all = whole(given->forest.graph());
    }
    Matching matching(*table_, heads_.get(), options_, pseudo_, span_limit_, input, parsed, all ? *all : parsed,
                      given ? &*given : nullptr, cache, glue, out);
    const NodeId top = matching.add();
    const auto length = static_cast<std::uint32_t>(input.words.size());
    const NodeId goal = out.add_node({0, length}, Symbols::kNone, "S");
    out.add_edge(goal, std::span(&top, 1), glue.end(), kBegins | kEnds);
    if (matching.limit_hit()) out.note(kStepLimit);
    if (input.variants != nullptr && input.variants->left_out() > 0) out.note(kLeftOut);
    return out.freeze(goal, parse_);
  }
  TranslationForest forest = fallback_.match(input, cache, glue);
  forest.notes.push_back(kNoParse);
  if (input.variants != nullptr && !input.variants->variants().empty()) forest.notes.push_back(kNoVariants);
  return forest;
}

}  // namespace treeglot
