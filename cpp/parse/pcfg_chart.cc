// The chart of a sentence under a PCFG: labels and trie states over spans, bottom-up; then the forest, top-down.
#include <string>
#include <vector>

#include "parse/pcfg.h"

namespace treeglot {

class Chart {
 public:
  Chart(const Pcfg& grammar, std::span<const std::string_view> words)
      : grammar_(grammar),
        words_(words),
        n_(static_cast<std::uint32_t>(words.size())),
        labels_(grammar.labels_.size()),
        has_label_(cells() * labels_, 0),
        has_state_(cells() * grammar.states_.size(), 0),
        label_lists_(cells()),
        state_lists_(cells()) {}

  ParseForest parse() {
    for (std::uint32_t size = 1; size <= n_; ++size) {
      for (std::uint32_t begin = 0; begin + size <= n_; ++begin) fill(begin, begin + size);
    }
    return forest();
  }

 private:
  std::size_t cells() const { return static_cast<std::size_t>(n_) * (n_ + 1) / 2; }
  // Cells by size, then by begin: the order in which they are filled, and in which nodes are numbered.
  std::size_t cell(std::uint32_t begin, std::uint32_t end) const {
    const std::size_t shorter = end - begin - 1;  // spans of `size` words: n - size + 1 of them
    return shorter * (2 * static_cast<std::size_t>(n_) - shorter + 1) / 2 + begin;
  }

  bool has_label(std::size_t at, Symbol label) const { return has_label_[at * labels_ + label] != 0; }
  bool has_state(std::size_t at, std::uint32_t state) const {
    return has_state_[at * grammar_.states_.size() + state] != 0;
  }
  void add_label(std::size_t at, Symbol label) { has_label_[at * labels_ + label] = 1; }
  void add_state(std::size_t at, std::uint32_t state) {
    std::uint8_t& flag = has_state_[at * grammar_.states_.size() + state];
    if (flag == 0) state_lists_[at].push_back(state);
    flag = 1;
  }
  void complete(std::size_t at, std::uint32_t state) {
    for (const std::uint32_t rule : grammar_.states_[state].complete) add_label(at, grammar_.rules_[rule].head);
  }
  std::uint32_t follow(std::uint32_t state, Symbol label) const { return grammar_.next_[state * labels_ + label]; }

  void fill(std::uint32_t begin, std::uint32_t end) {
    const std::size_t at = cell(begin, end);
    if (end == begin + 1) {
      const Symbol word = grammar_.words_.find(words_[begin]);
      if (word != Symbols::kNone) {
        for (const std::uint32_t rule : grammar_.tags_[word]) add_label(at, grammar_.rules_[rule].head);
      }
    }
    for (std::uint32_t middle = begin + 1; middle < end; ++middle) {
      const std::vector<Symbol>& right = label_lists_[cell(middle, end)];
      if (right.empty()) continue;
      for (const std::uint32_t state : state_lists_[cell(begin, middle)]) {
        for (const Symbol label : right) {
          const std::uint32_t following = follow(state, label);
          if (following != Pcfg::kNoState) add_state(at, following);
        }
      }
    }
    for (const std::uint32_t state : state_lists_[at]) complete(at, state);
    // A label's unary parents come after it in this order, so one pass closes the cell.
    for (const Symbol label : grammar_.bottom_up_) {
      if (!has_label(at, label)) continue;
      label_lists_[at].push_back(label);
      const std::uint32_t first = follow(0, label);
      if (first == Pcfg::kNoState) continue;
      add_state(at, first);
      complete(at, first);
    }
  }

  struct Node {
    Symbol label;
    Span span;
    std::uint32_t first_edge, last_edge;
  };

  ParseForest forest() {
    if (n_ == 0 || grammar_.root_ == Symbols::kNone || !has_label(cell(0, n_), grammar_.root_)) return unparsed();
    // Top-down: cells from the largest to the smallest, in a cell heads before what their unary rules reach.
    std::vector<std::uint8_t> needed(has_label_.size(), 0);
    needed[cell(0, n_) * labels_ + grammar_.root_] = 1;
    std::vector<Node> nodes;
    for (std::uint32_t size = n_; size > 0; --size) {
      for (std::uint32_t begin = n_ - size + 1; begin-- > 0;) {
        const std::size_t at = cell(begin, begin + size);
        for (std::size_t i = label_lists_[at].size(); i-- > 0;) {
          const Symbol label = label_lists_[at][i];
          if (needed[at * labels_ + label] == 0) continue;
          const auto first = static_cast<std::uint32_t>(edge_rules_.size());
          add_edges(label, {begin, begin + size}, needed);
          nodes.push_back({label, {begin, begin + size}, first, static_cast<std::uint32_t>(edge_rules_.size())});
        }
      }
    }
    return number(nodes);
  }

  // The edges into a node: for each of its rules, all ways to lay the body over the span, found from the right.
  void add_edges(Symbol head, Span span, std::vector<std::uint8_t>& needed) {
    if (span.size() == 1) {
      const Symbol word = grammar_.words_.find(words_[span.begin]);
      if (word != Symbols::kNone) {
        for (const std::uint32_t rule : grammar_.tags_[word]) {
          if (grammar_.rules_[rule].head == head) add_edge(rule, {});
        }
      }
    }
    for (const auto& [rule, end_state] : grammar_.by_head_[head]) {
      if (!has_state(cell(span.begin, span.end), end_state)) continue;
      pending_.assign(1, {end_state, span.end, span.end, 0});
      cuts_.clear();
      while (!pending_.empty()) {
        const Step step = pending_.back();
        pending_.pop_back();
        cuts_.resize(step.depth);
        if (step.depth > 0) cuts_[step.depth - 1] = step.cut;
        const Pcfg::State& state = grammar_.states_[step.state];
        if (state.parent == 0) {
          if (!has_label(cell(span.begin, step.end), state.last)) continue;
          add_edge(rule, {cuts_.rbegin(), cuts_.rend()});
          mark(rule, span, needed);
          continue;
        }
        for (std::uint32_t middle = step.end; middle-- > span.begin + 1;) {
          if (has_state(cell(span.begin, middle), state.parent) && has_label(cell(middle, step.end), state.last))
            pending_.push_back({state.parent, middle, middle, step.depth + 1});
        }
      }
    }
  }

  void add_edge(std::uint32_t rule, std::vector<std::uint32_t> cuts) {
    edge_rules_.push_back(rule);
    edge_cuts_.push_back(std::move(cuts));
  }

  void mark(std::uint32_t rule, Span span, std::vector<std::uint8_t>& needed) {
    const std::vector<Symbol>& body = grammar_.rules_[rule].body;
    const std::vector<std::uint32_t>& cuts = edge_cuts_.back();
    std::uint32_t begin = span.begin;
    for (std::size_t i = 0; i < body.size(); ++i) {
      const std::uint32_t end = i < cuts.size() ? cuts[i] : span.end;
      needed[cell(begin, end) * labels_ + body[i]] = 1;
      begin = end;
    }
  }

  ParseForest number(const std::vector<Node>& nodes) {
    Builder builder;
    Strings labels;
    std::vector<Span> spans;
    std::vector<double> scores;
    add_words(builder, labels, spans, scores);
    std::vector<NodeId> ids(has_label_.size(), kNoNode);
    std::vector<NodeId> tails;
    for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
      const NodeId id = builder.add_node();
      ids[cell(node->span.begin, node->span.end) * labels_ + node->label] = id;
      labels.append(grammar_.labels_.text(node->label));
      spans.push_back(node->span);
      for (std::uint32_t edge = node->first_edge; edge < node->last_edge; ++edge) {
        const Pcfg::Rule& rule = grammar_.rules_[edge_rules_[edge]];
        tails.clear();
        std::uint32_t begin = node->span.begin;
        for (std::size_t i = 0; i < rule.body.size(); ++i) {
          const std::uint32_t end = i < edge_cuts_[edge].size() ? edge_cuts_[edge][i] : node->span.end;
          tails.push_back(rule.lexical ? begin : ids[cell(begin, end) * labels_ + rule.body[i]]);
          begin = end;
        }
        builder.add_edge(id, tails);
        scores.push_back(rule.logprob);
      }
    }
    const NodeId goal = ids[cell(0, n_) * labels_ + grammar_.root_];
    // Nodes come with all their edges, one after the other: freezing keeps the order of the edges.
    return {builder.freeze(goal).graph, std::move(labels), std::move(spans), std::move(scores), ScoreKind::conditional};
  }

  ParseForest unparsed() {
    Builder builder;
    Strings labels;
    std::vector<Span> spans;
    std::vector<double> scores;
    add_words(builder, labels, spans, scores);
    return {builder.freeze(kNoNode).graph, std::move(labels), std::move(spans), std::move(scores),
            ScoreKind::conditional};
  }

  void add_words(Builder& builder, Strings& labels, std::vector<Span>& spans, std::vector<double>& scores) {
    for (std::uint32_t i = 0; i < n_; ++i) {
      builder.add_edge(builder.add_node(), {});
      labels.append(words_[i]);
      spans.push_back({i, i + 1});
      scores.push_back(0.0);
    }
  }

  struct Step {
    std::uint32_t state, end, cut, depth;
  };

  const Pcfg& grammar_;
  std::span<const std::string_view> words_;
  std::uint32_t n_;
  std::size_t labels_;
  std::vector<std::uint8_t> has_label_, has_state_;
  std::vector<std::vector<Symbol>> label_lists_;  // in bottom_up_ order
  std::vector<std::vector<std::uint32_t>> state_lists_;
  std::vector<std::uint32_t> edge_rules_;
  std::vector<std::vector<std::uint32_t>> edge_cuts_;  // where the children of an edge meet
  std::vector<Step> pending_;
  std::vector<std::uint32_t> cuts_;
};

ParseForest Pcfg::forest(std::span<const std::string_view> words) const { return Chart(*this, words).parse(); }

}  // namespace treeglot
