#include "decode/forest_phrases.h"

#include <algorithm>
#include <ranges>
#include <utility>

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
                             std::uint32_t span_limit, bool crossing)
    : span_limit_(span_limit), crossing_(crossing) {
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
  add_covered(std::move(all), is_parsed, false);
}

void ForestPhrases::add_covered(std::vector<Span> all, bool is_parsed, bool is_crossing) {
  std::ranges::sort(all, before);
  all.erase(std::ranges::unique(all).begin(), all.end());
  const auto known = static_cast<std::ptrdiff_t>(covered_.size());
  for (const Span span : all) {
    const auto old = std::ranges::lower_bound(covered_.begin(), covered_.begin() + known, span, before, &Covered::span);
    if (old == covered_.begin() + known || old->span != span || (is_crossing && !old->is_parsed))
      covered_.push_back({.span = span, .is_parsed = is_parsed, .is_sequence = true, .is_crossing = is_crossing});
  }
  std::ranges::inplace_merge(covered_, covered_.begin() + known, before, &Covered::span);
}

std::vector<ForestPhrases::Covered>::iterator ForestPhrases::lower_bound(Span span) {
  return std::ranges::lower_bound(covered_, span, before, &Covered::span);
}

// Adds the spans that have phrases without variables, unless the parse forest has them. A span that only given
// translations make is there twice, first as theirs. Words that no rule may use keep spans apart.
void ForestPhrases::add_crossing(const RuleTable& table, const std::vector<Symbol>& words, const Rules& rules) {
  std::vector<Span> all;
  for (std::uint32_t begin = 0; begin < words.size(); ++begin) {
    RuleTable::Node node = table.root();
    for (std::uint32_t end = begin; end < words.size() && end - begin < span_limit_; ++end) {
      if (words[end] == Symbols::kNone) break;
      node = table.child(node, words[end]);
      if (node == RuleTable::kNoNode) break;
      if (end > begin && !rules(node).empty()) all.push_back({begin, end + 1});
    }
  }
  add_covered(std::move(all), false, true);
  const std::size_t widest = std::min<std::size_t>(span_limit_, words.size());
  parts_from_.assign(words.size(), std::vector<Place>(widest + 1, kNowhere));
}

void ForestPhrases::find_flat(Covered& at, const RuleTable& table, const std::vector<Symbol>& words,
                              const Rules& rules) const {
  if (!at.is_sequence) return;
  const RuleTable::Node node = node_of(table, words, at.span);
  if (node != RuleTable::kNoNode) at.flat = rules(node);
}

// Whether a variable may stand for the span.
bool ForestPhrases::is_part(const Covered& at) {
  if (at.is_crossing) return true;
  return at.is_parsed && (at.is_sequence ? at.has_phrases() : !at.nodes.empty());
}

void ForestPhrases::add_part(Place place) {
  const Span span = covered_[place].span;
  if (crossing_) parts_from_[span.begin][span.size()] = place;
}

// The rows of parts that make up the span of a node, with a part that crosses nodes.
void ForestPhrases::find_rows(const Covered& at) {
  if (!crossing_ || (at.nodes.empty() && at.rests.empty())) return;
  const auto [begin, end] = at.span;
  const auto part = [&](std::uint32_t from, std::uint32_t to) { return parts_from_[from][to - from]; };
  const auto add = [&](const Row& row) {
    const auto crosses = [&](Place place) { return place != kNowhere && covered_[place].is_crossing; };
    if (std::ranges::any_of(row, crosses)) rows_.push_back(row);
  };
  for (std::uint32_t first = begin + 1; first < end; ++first) {
    if (part(begin, first) == kNowhere) continue;
    if (part(first, end) != kNowhere) add({part(begin, first), part(first, end), kNowhere});
    for (std::uint32_t second = first + 1; second < end; ++second)
      if (part(first, second) != kNowhere && part(second, end) != kNowhere)
        add({part(begin, first), part(first, second), part(second, end)});
  }
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
  if (crossing_) add_crossing(table, words, rules);
  GappyWalk<Place> walk;
  walk.begin(table, x, words);
  const auto any = [](std::uint32_t) { return std::uint8_t{1}; };
  if (variants_ != nullptr) find_variants(table, walk);
  const auto take = [&](RuleTable::Node node, const std::vector<Place>& gaps, std::uint8_t) {
    add(rules(node), gaps, walk.read());
  };
  for (Place place = 0; place < covered_.size(); ++place) {
    Covered& at = covered_[place];
    if (at.span.size() > span_limit_) return;
    at.first_phrase = static_cast<std::uint32_t>(phrases_.size());
    at.first_reading = static_cast<std::uint32_t>(readings_.size());
    at.first_row = static_cast<std::uint32_t>(rows_.size());
    const bool is_free = std::ranges::none_of(given, [&](Span one) { return overlap(at.span, one); });
    if (is_free && !at.is_crossing) walk.visit(at.span, 1, any, take);
    if (is_free) find_rows(at);
    at.last_row = static_cast<std::uint32_t>(rows_.size());
    at.last_phrase = static_cast<std::uint32_t>(phrases_.size());
    if (!at.is_crossing) find_glued(table, at.span, rules);
    at.last_reading = static_cast<std::uint32_t>(readings_.size());
    find_flat(at, table, words, rules);
    if (!is_part(at)) continue;
    walk.add(at.span, place);
    add_part(place);
  }
}

// A phrase on the span at hand.
void ForestPhrases::add(std::span<const Alternative> found, const std::vector<Place>& gaps,
                        const std::vector<std::uint32_t>& read) {
  if (found.empty()) return;
  const auto first = static_cast<std::uint32_t>(gaps_.size());
  gaps_.insert(gaps_.end(), gaps.begin(), gaps.end());
  const Phrase phrase = {found, first, static_cast<std::uint32_t>(gaps_.size())};
  if (read.empty()) {
    phrases_.push_back(phrase);
  } else {
    readings_.push_back({phrase, read});
  }
}

void ForestPhrases::find_glued(const RuleTable& table, Span span, const Rules& rules) {
  for (std::uint32_t variant = 0; variant < variant_words_.size(); ++variant)
    if (variants_->variants()[variant].span == span && can_glue(table, variant, rules))
      readings_.push_back({{}, {variant}, true});
}

void ForestPhrases::find_variants(const RuleTable& table, GappyWalk<Place>& walk) {
  parts_.resize(variants_->variants().size());
  for (const Variant& variant : variants_->variants()) {
    std::vector<Symbol>& words = variant_words_.emplace_back();
    for (std::uint32_t i = 0; i < variant.words; ++i)
      words.push_back(table.source_words().find(variants_->words()[variant.first_word + i]));
    if (std::ranges::find(words, Symbols::kNone) != words.end()) {
      words.clear();
    } else {
      walk.add_variant(variant.span, words, static_cast<std::uint32_t>(variant_words_.size() - 1));
    }
  }
}

// Finds the parts of a variant that are phrases, and keeps those that make it up together with others.
bool ForestPhrases::can_glue(const RuleTable& table, std::uint32_t variant, const Rules& rules) {
  const std::vector<Symbol>& words = variant_words_[variant];
  const auto size = static_cast<std::uint32_t>(words.size());
  std::vector<Part>& parts = parts_[variant];
  for (std::uint32_t begin = 0; begin < size; ++begin) {
    RuleTable::Node node = table.root();
    for (std::uint32_t end = begin + 1; end <= size; ++end) {
      node = table.child(node, words[end - 1]);
      if (node == RuleTable::kNoNode) break;
      if (end - begin == size) continue;
      if (const auto found = rules(node); !found.empty()) parts.push_back({begin, end, found});
    }
  }
  std::vector<bool> begins(size + 1, false), ends(size + 1, false);
  begins[0] = ends[size] = true;
  for (const Part& part : parts)
    if (begins[part.begin]) begins[part.end] = true;
  for (const Part& part : parts | std::views::reverse)
    if (ends[part.end]) ends[part.begin] = true;
  std::erase_if(parts, [&](const Part& part) { return !begins[part.begin] || !ends[part.end]; });
  return !parts.empty();
}

// Phrases for the parts of a variant, from the left as sentences are glued. Gives the node of all its words.
NodeId ForestPhrases::add_glued(std::uint32_t variant, Span span, Glue& glue, TranslationForestBuilder& out) const {
  const auto new_node = [&] {
    const NodeId node = out.add_node(span, x_, "X");
    out.keep_apart(node);
    return node;
  };
  std::vector<NodeId> glued(variant_words_[variant].size() + 1, kNoNode);  // by end
  std::vector<EdgeId> taken;
  std::vector<NodeId> nodes;  // by part
  for (const Part& part : parts_[variant]) {
    taken.clear();
    for (std::uint32_t word = part.begin; word < part.end; ++word)
      taken.push_back(first_number_ + variants_->variants()[variant].first_word + word);
    nodes.push_back(new_node());
    out.add_edge(nodes.back(), {}, part.alternatives, kInside, 0, taken);
  }
  for (std::uint32_t end = 1; end < glued.size(); ++end) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const Part& part = parts_[variant][i];
      if (part.end != end) continue;
      if (glued[end] == kNoNode) glued[end] = new_node();
      if (part.begin == 0) {
        out.add_edge(glued[end], std::span(&nodes[i], 1), glue.first(), kInside);
      } else {
        const NodeId tails[] = {glued[part.begin], nodes[i]};
        out.add_edge(glued[end], tails, glue.glue(), kInside);
      }
    }
  }
  return glued.back();
}

void ForestPhrases::add_readings(const Covered& at, Glue& glue, TranslationForestBuilder& out) {
  std::vector<NodeId> tails;
  std::vector<EdgeId> taken;
  for (std::uint32_t number = at.first_reading; number < at.last_reading; ++number) {
    Reading& reading = readings_[number];
    const Phrase& phrase = reading.phrase;
    if (phrase.first_gap < phrase.last_gap && !at.phrases_wanted) continue;
    double score = 0, value = 0;
    tails.clear();
    taken.clear();
    for (const std::uint32_t number_of : reading.variants) {
      const Variant& variant = variants_->variants()[number_of];
      score += variant.score;
      for (std::uint32_t word = 0; word < variant.words; ++word)
        taken.push_back(first_number_ + variant.first_word + word);
    }
    for (std::uint32_t gap = phrase.first_gap; gap < phrase.last_gap; ++gap) {
      tails.push_back(covered_[gaps_[gap]].gap);
      value -= covered_[gaps_[gap]].best;
    }
    if (reading.is_glued) {
      reading.node = add_glued(reading.variants.front(), at.span, glue, out);
    } else {
      reading.node = out.add_node(at.span, x_, "X");
      out.keep_apart(reading.node);
      out.add_edge(reading.node, tails, phrase.alternatives, kInside, static_cast<float>(value), taken);
    }
    reading.use = glue.add(LocalKind::reading, {-1}, {{glue.lattice(), static_cast<float>(score)}});
  }
}

void ForestPhrases::use_readings(const Covered& at, NodeId head, double best, bool is_word,
                                 TranslationForestBuilder& out) const {
  for (std::uint32_t number = at.first_reading; number < at.last_reading; ++number) {
    const Reading& reading = readings_[number];
    if (reading.node == kNoNode || (is_word && reading.phrase.first_gap < reading.phrase.last_gap)) continue;
    out.add_edge(head, std::span(&reading.node, 1), reading.use, kInside, static_cast<float>(best));
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
  const auto want = [&](const Phrase& phrase) {
    for (std::uint32_t gap = phrase.first_gap; gap < phrase.last_gap; ++gap) covered_[gaps_[gap]].gap_wanted = true;
  };
  for (std::uint32_t phrase = at.first_phrase; phrase < at.last_phrase; ++phrase) want(phrases_[phrase]);
  for (std::uint32_t reading = at.first_reading; reading < at.last_reading; ++reading) want(readings_[reading].phrase);
  for (std::uint32_t row = at.first_row; row < at.last_row; ++row)
    for (const Place part : rows_[row])
      if (part != kNowhere) covered_[part].gap_wanted = true;
}

void ForestPhrases::add_phrases(const Covered& at, NodeId head, double best, Glue& glue,
                                TranslationForestBuilder& out) const {
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
  use_readings(at, head, best, false, out);
  for (std::uint32_t row = at.first_row; row < at.last_row; ++row) {
    tails.clear();
    double value = best;
    for (const Place part : rows_[row]) {
      if (part == kNowhere) continue;
      tails.push_back(covered_[part].gap);
      value -= covered_[part].best;
    }
    out.add_edge(head, tails, glue.side_by_side(tails.size()), kInside, static_cast<float>(value));
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
    return add_phrases(at, at.gap, 0, glue, out);
  }
  out.keep_apart(at.gap);
  const auto as_it_is = glue.add(LocalKind::pseudo, {-1}, {});
  for (const NodeId node : fillers) out.add_edge(at.gap, std::span(&made[node], 1), as_it_is, kInside);
}

}  // namespace treeglot
