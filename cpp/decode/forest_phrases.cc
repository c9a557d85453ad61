#include "decode/forest_phrases.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "decode/gappy_walk.h"

namespace treeglot {
namespace {

bool before(Span a, Span b) { return std::pair(a.size(), a.begin) < std::pair(b.size(), b.begin); }

bool overlap(Span a, Span b) { return a.begin < b.end && b.begin < a.end; }

// The node of the words of a span, or none.
RuleTable::Node node_of(const RuleTable& table, const std::vector<Symbol>& words, Span span) {
  RuleTable::Node node = table.root();
  for (std::uint32_t word = span.begin; word < span.end && node != RuleTable::kNoNode; ++word)
    node = words[word] == Symbols::kNone ? RuleTable::kNoNode : table.child(node, words[word]);
  return node;
}

}  // namespace

ForestPhrases::ForestPhrases(const Hypergraph& parsed, std::span<const Span> parsed_spans, const Hypergraph& graph,
                             std::span<const Span> spans, std::span<const Sort> sorts, NodeId words,
                             std::uint32_t span_limit)
    : span_limit_(span_limit) {
  add_spans(parsed, parsed_spans, true);
  for (const Span span : parsed_spans) lower_bound(span)->is_sequence = false;
  if (&graph != &parsed) add_spans(graph, spans, false);
  for (NodeId node = 0; node < spans.size(); ++node) {
    Covered& at = *lower_bound(spans[node]);
    (sorts[node] == Sort::parsed ? at.nodes : sorts[node] == Sort::rest ? at.rests : at.given).push_back(node);
  }
  for (Covered& at : covered_) at.word_below = at.nodes.size() > 1 && at.nodes[0] < words;
}

// Adds the spans of nodes and of neighbouring children.
void ForestPhrases::add_spans(const Hypergraph& graph, std::span<const Span> spans, bool is_parsed) {
  std::vector<Span> all(spans.begin(), spans.end());
  for (EdgeId edge = 0; edge < graph.edges(); ++edge) {
    const auto children = graph.tails(edge);
    for (std::size_t first = 0; first + 1 < children.size(); ++first) {
      for (std::size_t last = first + 1; last < children.size(); ++last) {
        const Span span = {spans[children[first]].begin, spans[children[last]].end};
        if (span.size() > span_limit_) break;
        all.push_back(span);
      }
    }
  }
  std::ranges::sort(all, before);
  all.erase(std::ranges::unique(all).begin(), all.end());
  const auto known = static_cast<std::ptrdiff_t>(covered_.size());
  for (const Span span : all) {
    const auto old = std::ranges::lower_bound(covered_.begin(), covered_.begin() + known, span, before, &Covered::span);
    if (old == covered_.begin() + known || old->span != span)
      covered_.push_back({.span = span, .is_parsed = is_parsed, .is_sequence = true});
  }
  std::ranges::inplace_merge(covered_, covered_.begin() + known, before, &Covered::span);
}

std::vector<ForestPhrases::Covered>::iterator ForestPhrases::lower_bound(Span span) {
  return std::ranges::lower_bound(covered_, span, before, &Covered::span);
}

void ForestPhrases::find(RuleCache& cache, Symbol x, const std::vector<Symbol>& words, std::span<const Span> given,
                         std::span<const double> best) {
  for (Covered& at : covered_) {
    const auto fillers = at.fillers();
    if (!fillers.empty())
      at.best = std::ranges::max(fillers | std::views::transform([&](NodeId n) { return best[n]; }));
  }
  const auto rules = [&](RuleTable::Node node) -> std::span<const Alternative> {
    for (const RuleCache::Group& group : cache.at(node))
      if (group.lhs == x) return group.alternatives;
    return {};
  };
  const RuleTable& table = cache.table();
  x_ = x;
  GappyWalk<Place> walk;
  walk.begin(table, x, words);
  const auto any = [](std::uint32_t) { return std::uint8_t{1}; };
  const auto take = [&](RuleTable::Node node, const std::vector<Place>& gaps, std::uint8_t) {
    const auto found = rules(node);
    if (found.empty()) return;
    const auto first = static_cast<std::uint32_t>(gaps_.size());
    gaps_.insert(gaps_.end(), gaps.begin(), gaps.end());
    phrases_.push_back({found, first, static_cast<std::uint32_t>(gaps_.size())});
  };
  for (Place place = 0; place < covered_.size(); ++place) {
    Covered& at = covered_[place];
    if (at.span.size() > span_limit_) return;
    at.first_phrase = static_cast<std::uint32_t>(phrases_.size());
    if (std::ranges::none_of(given, [&](Span one) { return overlap(at.span, one); })) walk.visit(at.span, 1, any, take);
    at.last_phrase = static_cast<std::uint32_t>(phrases_.size());
    if (at.is_sequence) {
      const RuleTable::Node node = node_of(table, words, at.span);
      if (node != RuleTable::kNoNode) at.flat = rules(node);
    }
    if (at.is_parsed && (at.is_sequence ? at.has_phrases() : !at.nodes.empty())) walk.add(at.span, place);
  }
}

ForestPhrases::Place ForestPhrases::find_sequence(Span span) const {
  const auto at = std::ranges::lower_bound(covered_, span, before, &Covered::span);
  const bool found = at != covered_.end() && at->span == span && at->is_sequence && at->has_phrases();
  return found ? static_cast<Place>(at - covered_.begin()) : kNowhere;
}

void ForestPhrases::want_phrases(Place place) {
  Covered& at = covered_[place];
  if (at.phrases_wanted) return;
  at.phrases_wanted = true;
  for (std::uint32_t phrase = at.first_phrase; phrase < at.last_phrase; ++phrase)
    for (std::uint32_t gap = phrases_[phrase].first_gap; gap < phrases_[phrase].last_gap; ++gap)
      covered_[gaps_[gap]].gap_wanted = true;
}

void ForestPhrases::add_phrases(const Covered& at, NodeId head, double best, TranslationForestBuilder& out) const {
  std::vector<NodeId> tails;
  for (std::uint32_t phrase = at.first_phrase; phrase < at.last_phrase; ++phrase) {
    tails.clear();
    double value = best;
    for (std::uint32_t gap = phrases_[phrase].first_gap; gap < phrases_[phrase].last_gap; ++gap) {
      const Covered& below = covered_[gaps_[gap]];
      tails.push_back(below.gap);
      value -= below.best;
    }
    out.add_edge(head, tails, phrases_[phrase].alternatives, kInside, static_cast<float>(value));
  }
}

void ForestPhrases::add_gap(Covered& at, std::span<const NodeId> made, Glue& glue,
                            TranslationForestBuilder& out) const {
  const auto fillers = at.fillers();
  if (fillers.size() == 1) {
    at.gap = made[fillers[0]];
    return;
  }
  at.gap = out.add_node(at.span, x_, "X");
  if (fillers.empty()) {
    if (!at.flat.empty()) out.add_edge(at.gap, {}, at.flat, kInside);
    return add_phrases(at, at.gap, 0, out);
  }
  out.keep_apart(at.gap);
  const auto as_it_is = glue.add(LocalKind::pseudo, {-1}, {});
  for (const NodeId node : fillers) out.add_edge(at.gap, std::span(&made[node], 1), as_it_is, kInside);
}

}  // namespace treeglot
