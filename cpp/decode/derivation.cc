#include "decode/derivation.h"

#include <algorithm>
#include <utility>

#include "decode/affiliation.h"
#include "graph/rewrite.h"
#include "lm/dependency_piece.h"

namespace treeglot {
namespace {

Dependency tree_of(std::span<const std::int32_t> text, std::span<const Symbol> labelled,
                   std::vector<std::int32_t> heads, const Glue& glue, const TableSymbols& labels) {
  Strings words, tags;
  for (const std::int32_t word : text) words.append(glue.text(word));
  for (const Symbol tag : labelled)
    tags.append(tag == Symbols::kNone || labels.text(tag).empty() ? "_" : labels.text(tag));
  return Dependency(std::move(words), std::move(heads), std::move(tags));
}

// What the steps below a node give.
struct Done {
  std::vector<std::int32_t> words;
  std::vector<std::uint32_t> given_by, affiliations;
  std::vector<Symbol> tags;
  DependencyPiece piece;
  std::vector<std::byte> state;

  // A target side with what its tails give, whose words may be moved. `places` are the affiliations of its words.
  void append(const TargetSide& target, std::uint32_t step, const std::vector<std::uint32_t>& places,
              std::vector<Done>& tails) {
    std::uint32_t word = 0;
    for (std::uint32_t i = 0; i < target.size; ++i) {
      const std::int32_t symbol = target.symbols[i];
      if (symbol >= 0) {
        words.push_back(symbol);
        given_by.push_back(step);
        tags.push_back(word < target.label_count ? target.labels[word] : Symbols::kNone);
        if (!places.empty()) affiliations.push_back(places[word]);
        ++word;
        continue;
      }
      Done& tail = tails[static_cast<std::size_t>(-1 - symbol)];
      // The left part of glue, which may be long, is moved: copied at every step it would take quadratic time.
      if (i == 0 && (target.size == 1 || target.symbols[1] != symbol) && target.size <= 2) {
        take(tail);
      } else {
        append(tail);
      }
    }
  }

 private:
  void append(const Done& tail) {
    words.insert(words.end(), tail.words.begin(), tail.words.end());
    given_by.insert(given_by.end(), tail.given_by.begin(), tail.given_by.end());
    affiliations.insert(affiliations.end(), tail.affiliations.begin(), tail.affiliations.end());
    tags.insert(tags.end(), tail.tags.begin(), tail.tags.end());
  }
  void take(Done& tail) {
    words = std::move(tail.words);
    given_by = std::move(tail.given_by);
    affiliations = std::move(tail.affiliations);
    tags = std::move(tail.tags);
  }
};

// Links of steps, whose words are counted by step, as links of the text. A word that a rule repeats has them once.
std::vector<WordLink> in_text(const std::vector<std::vector<Link>>& links, std::span<const std::uint32_t> given_by) {
  std::vector<WordLink> out;
  std::vector<std::uint32_t> seen(links.size());  // words of each step
  for (std::uint32_t word = 0; word < given_by.size(); ++word) {
    const std::uint32_t own = seen[given_by[word]]++;
    for (const Link link : links[given_by[word]])
      if (link.target == own) out.emplace_back(link.source, word);
  }
  std::ranges::sort(out);
  return out;
}

DependencyPiece joined(const TargetSide& target, const std::vector<Done>& tails) {
  std::vector<std::int32_t> heads;
  std::vector<const DependencyPiece*> items;
  for (std::uint32_t i = 0; i < target.size; ++i) {
    const std::int32_t symbol = target.symbols[i];
    heads.push_back(i < target.structure_size ? target.structure[i] - 1 : kRuleRoot);
    items.push_back(symbol >= 0 ? nullptr : &tails[static_cast<std::size_t>(-1 - symbol)].piece);
  }
  DependencyTally tally;
  return join_pieces(heads, items, tally);
}

// The words of a rule's source side, from left to right: of a sentence, or those of its arcs in a lattice. Words of a
// sentence may have variants.
struct OwnWords {
  struct Word {
    std::uint32_t place;  // in the sentence; of a variant's word, the one beside it; or an arc
    std::string_view text;
  };

  std::span<const std::string_view> words;
  const Lattice* lattice;
  const LatticeForest* variants;
  std::span<const EdgeId> arcs;  // or words of variants
  std::uint32_t at;

  // The next one before a place, or nothing.
  std::optional<Word> next(std::uint32_t end) {
    if (lattice != nullptr) return next_arc(end);
    if (at >= end) return std::nullopt;
    if (arcs.empty() || variants->variant_of(arcs.front()).span.begin != at) {
      const std::uint32_t place = at++;
      return Word{place, words[place]};
    }
    const std::uint32_t word = arcs.front();
    const Variant& variant = variants->variant_of(word);
    arcs = arcs.subspan(1);
    const bool more = !arcs.empty() && arcs.front() < variant.first_word + variant.words;
    if (!more) at = variant.span.end;
    const std::uint32_t beside = (word - variant.first_word) * variant.span.size() / variant.words;
    return Word{variant.span.begin + beside, variants->words()[word]};
  }

 private:
  std::optional<Word> next_arc(std::uint32_t end) {
    while (at < end && !arcs.empty()) {
      const EdgeId arc = arcs.front();
      arcs = arcs.subspan(1);
      at = lattice->arcs()[arc].to;
      if (lattice->has_word(arc)) return Word{arc, words[arc]};
    }
    return std::nullopt;
  }
};

// Puts the arcs of a hypothesis in order, and lets its steps count the words of the path.
void count_path_words(const Lattice& lattice, Hypothesis& out) {
  std::ranges::sort(out.path);
  std::vector<std::uint32_t> before(lattice.nodes());  // by node of the path
  std::vector<std::uint32_t> place(lattice.arcs().size());
  std::uint32_t words = 0;
  for (const EdgeId arc : out.path) {
    before[lattice.arcs()[arc].from] = place[arc] = words;
    words += lattice.has_word(arc) ? 1 : 0;
  }
  before.back() = words;
  for (Step& step : out.derivation.steps) {
    step.span = {before[step.span.begin], before[step.span.end]};
    for (WordLink& link : step.links) link.first = place[link.first];
  }
}

}  // namespace

std::vector<FeatureValue> summed(std::vector<FeatureValue> values) {
  std::ranges::stable_sort(values, {}, &FeatureValue::id);
  std::vector<FeatureValue> out;
  for (std::size_t i = 0; i < values.size();) {
    double sum = 0;
    const FeatureId id = values[i].id;
    for (; i < values.size() && values[i].id == id; ++i) sum += values[i].value;
    if (sum != 0) out.push_back({id, finite(sum)});
  }
  return out;
}

std::vector<std::uint32_t> RuleDerivation::depths() const {
  std::vector<std::uint32_t> out, missing;  // of the steps above: how many children are still to come
  for (const Step& step : steps) {
    while (!missing.empty() && missing.back() == 0) missing.pop_back();
    out.push_back(static_cast<std::uint32_t>(missing.size()));
    if (!missing.empty()) --missing.back();
    missing.push_back(step.children);
  }
  return out;
}

Reading::Reading(std::shared_ptr<const FeatureSet> features, const Scorer& scorer, const Glue& glue,
                 const TranslationForest& forest, const SearchForest& found, const Input& input)
    : features_(std::move(features)),
      scorer_(scorer),
      glue_(glue),
      forest_(forest),
      found_(found),
      words_(input.words),
      lattice_(input.lattice),
      variants_(input.variants),
      first_variant_word_(input.variants == nullptr ? kNoEdge : static_cast<EdgeId>(input.forest->graph().edges())),
      trees_(features_->trees()) {}

Hypothesis Reading::read(const Derivation& derivation) const {
  Hypothesis out;
  out.score = derivation.score;

  // Bottom-up: the steps from last to first, each taking its tails' words and states off a stack.
  std::vector<Done> stack;
  std::vector<FeatureValue> values;
  std::vector<std::vector<Link>> links(derivation.edges.size());  // by step
  for (auto at = derivation.edges.rbegin(); at != derivation.edges.rend(); ++at) {
    const EdgeId edge = found_.forest_edge[*at];
    const Alternative& rule = forest_.alternatives[edge][found_.alternative[*at]];
    const std::size_t arity = forest_.graph.tails(edge).size();
    std::vector<Done> tails;
    for (std::size_t k = 0; k < arity; ++k) {
      tails.push_back(std::move(stack.back()));
      stack.pop_back();
    }
    Done done;
    done.state.assign(scorer_.state_bytes(), std::byte{0});
    std::vector<const std::byte*> states;
    for (const Done& tail : tails) states.push_back(tail.state.data());
    replay(*at, states.data(), done.state.data(), values);
    if (trees_) done.piece = joined(rule.target, tails);
    const auto step = static_cast<std::uint32_t>(derivation.edges.rend() - at - 1);
    Places own = places(edge, rule.target);
    done.append(rule.target, step, own.affiliations, tails);
    links[step] = std::move(own.links);
    stack.push_back(std::move(done));
  }
  for (const std::int32_t word : stack.back().words) {
    if (!out.text.empty()) out.text += ' ';
    out.text += glue_.text(word);
  }

  out.given_by = std::move(stack.back().given_by);
  out.affiliations = std::move(stack.back().affiliations);
  out.links = in_text(links, out.given_by);
  if (trees_ && !out.text.empty())
    out.dependency = tree_of(stack.back().words, stack.back().tags, std::move(stack.back().piece.heads), glue_,
                             features_->table().labels());

  out.features = summed(std::move(values));
  out.names = features_;
  for (const EdgeId edge : derivation.edges) {
    out.derivation.steps.push_back(step(edge));
    if (lattice_ == nullptr) continue;
    const auto arcs = forest_.parse_edges_of(found_.forest_edge[edge]);
    out.path.insert(out.path.end(), arcs.begin(), arcs.end());
  }
  if (lattice_ != nullptr) count_path_words(*lattice_, out);
  if (variants_ != nullptr) out.path = variants_->path_with(variants_of(derivation));
  return out;
}

// The variants of words that a derivation uses, by number.
std::vector<std::uint32_t> Reading::variants_of(const Derivation& derivation) const {
  std::vector<std::uint32_t> out;
  for (const EdgeId edge : derivation.edges) {
    for (const EdgeId taken : forest_.parse_edges_of(found_.forest_edge[edge])) {
      if (taken < first_variant_word_) continue;
      const Variant& variant = variants_->variant_of(taken - first_variant_word_);
      out.push_back(static_cast<std::uint32_t>(&variant - variants_->variants().data()));
    }
  }
  std::ranges::sort(out);
  out.erase(std::ranges::unique(out).begin(), out.end());
  return out;
}

Reading::Places Reading::places(EdgeId forest_edge, const TargetSide& target) const {
  if (!features_->affiliates()) return {};
  EdgeSources source;
  source.add(forest_, forest_edge);
  Places out;
  out.affiliations.resize(target.size);
  affiliate(target, source[0], out.affiliations);
  append_links(target, source[0], out.links);
  return out;
}

void Reading::replay(EdgeId edge, const std::byte* const* tails, std::byte* state,
                     std::vector<FeatureValue>& values) const {
  const EdgeId forest_edge = found_.forest_edge[edge];
  const Alternative& rule = forest_.alternatives[forest_edge][found_.alternative[edge]];
  Sink sink(scorer_.all_weights(), &values);
  scorer_.apply({rule.target, rule.rule, forest_.place[forest_edge], forest_edge}, tails, state, sink);
  if (!forest_.edge_value.empty()) sink.add(forest_.edge_feature_of(forest_edge), forest_.edge_value[forest_edge]);
  if ((rule.rule & kLocalRule) != 0) {
    for (const FeatureValue& value : glue_.rule(rule.rule).features) values.push_back(value);
  } else {
    const Seen at = seen(forest_edge);
    visit_features(at.table(), at.features.space(), rule.rule,
                   [&](FeatureId f, float value) { values.push_back({f, value}); });
  }
}

Step Reading::step(EdgeId edge) const {
  const EdgeId forest_edge = found_.forest_edge[edge];
  return step(forest_edge, forest_.alternatives[forest_edge][found_.alternative[edge]]);
}

std::string Reading::label(NodeId node) const { return Seen{*features_, forest_, kNoEdge}.label(node); }

std::string Reading::Seen::label(NodeId node) const {
  if (!forest.names.empty()) return std::string(forest.names[node]);
  const Symbol symbol = forest.labels[node];
  const TableSymbols& labels = table().labels();
  return symbol < labels.size() ? std::string(labels.text(symbol)) : symbol == Symbols::kNone ? "S" : "X";
}

std::string Reading::edge_label(EdgeId forest_edge) const {
  const Seen at = seen(forest_edge);
  return at.label(at.forest.graph.head(at.edge));
}

Reading::Seen Reading::seen(EdgeId forest_edge) const {
  if (forest_.parts == nullptr) return {*features_, forest_, forest_edge};
  const auto [part, edge] = forest_.origin[forest_edge];
  return {*features_->parts()[part], (*forest_.parts)[part], edge};
}

Step Reading::step(EdgeId forest_edge, const Alternative& rule) const {
  const Seen at_edge = seen(forest_edge);
  const TranslationForest& forest = at_edge.forest;
  const auto tails = forest.graph.tails(at_edge.edge);
  const NodeId head = forest.graph.head(at_edge.edge);
  const auto variable = [&](std::size_t tail) {
    return "[" + at_edge.label(tails[tail]) + "," + std::to_string(tail + 1) + "]";
  };
  const auto append = [](std::string& side, std::string_view symbol) {
    if (!side.empty()) side += ' ';
    side += symbol;
  };

  Step out;
  out.label = at_edge.label(head);
  out.span = forest.spans[head];
  out.children = static_cast<std::uint32_t>(tails.size());
  out.local = (rule.rule & kLocalRule) != 0;
  if (!out.local && forest.rules == nullptr) {
    out.rule = rule.rule;
  } else if (!out.local) {
    const auto values = forest.rules->features(rule.rule);
    out.values.assign(values.begin(), values.end());
  }
  out.grammar = at_edge.features.grammar();
  // The source side is the input between the tails, which are in source order.
  std::vector<std::uint32_t> own;
  const auto parse = forest.parse_edges_of(at_edge.edge);
  std::vector<EdgeId> taken;  // arcs, or words of variants
  for (const EdgeId one : parse) {
    if (lattice_ != nullptr) {
      taken.push_back(one);
    } else if (one >= first_variant_word_) {
      taken.push_back(one - first_variant_word_);
    } else {
      out.parse_edges.push_back(one);
    }
  }
  OwnWords words{words_, lattice_, variants_, taken, out.span.begin};
  const auto take_words = [&](std::uint32_t end) {
    while (const auto word = words.next(end)) {
      append(out.source, word->text);
      own.push_back(word->place);
    }
  };
  for (std::size_t tail = 0; tail < tails.size(); ++tail) {
    take_words(forest.spans[tails[tail]].begin);
    append(out.source, variable(tail));
    words.at = forest.spans[tails[tail]].end;
  }
  take_words(out.span.end);
  out.links = links(rule, at_edge.table(), own);
  if (trees_) {
    const std::size_t known = std::min(rule.target.structure_size, rule.target.size);
    out.structure.assign(rule.target.structure, rule.target.structure + known);
    out.structure.resize(rule.target.size, 0);
  }
  if (!out.parse_edges.empty())
    out.source = out.local ? out.label + "( " + out.source + " )" : at_edge.fragment(rule.rule);
  for (const std::int32_t symbol : rule.target)
    append(out.target, symbol >= 0 ? std::string(glue_.text(symbol)) : variable(static_cast<std::size_t>(-1 - symbol)));
  return out;
}

std::vector<WordLink> Reading::links(const Alternative& rule, const RuleTable& table,
                                     std::span<const std::uint32_t> own) const {
  std::vector<std::int32_t> words;  // of the target side
  for (const std::int32_t symbol : rule.target)
    if (symbol >= 0) words.push_back(symbol);
  std::vector<WordLink> out;
  if (own.empty() || words.empty()) return out;
  const RuleId origin = (rule.rule & kLocalRule) == 0 ? rule.rule : glue_.rule(rule.rule).origin;
  if (origin != kNoRule) {
    const WordLinks known = word_links(table, table.rule(origin).source, origin);
    if (known.source_words == own.size() && known.target_words == words.size())
      for (const Link link : known.links) out.emplace_back(own[link.source], link.target);
  } else if (own.size() == words.size() && std::ranges::equal(
                                               own, words, {}, [&](std::uint32_t f) { return words_[f]; },
                                               [&](std::int32_t e) { return glue_.text(e); })) {
    for (std::uint32_t i = 0; i < own.size(); ++i) out.emplace_back(own[i], i);  // words that pass as they are
  }
  if (out.empty()) {
    for (std::uint32_t e = 0; e < words.size(); ++e)
      for (const std::uint32_t f : own) out.emplace_back(f, e);
  }
  std::ranges::sort(out, {}, [](const WordLink& link) { return std::pair(link.second, link.first); });
  return out;
}

// The source side of a rule whose tokens for brackets are " IP(" and " )".
std::string Reading::Seen::fragment(RuleId rule) const {
  std::string out;
  std::size_t variables = 0;
  for (const Symbol symbol : table().rule(rule).source) {
    if (is_nonterminal(symbol)) {
      out.append(" [")
          .append(table().labels().text(label_of(symbol)))
          .append(",")
          .append(std::to_string(++variables)) += ']';
    } else {
      const std::string_view text = table().source_words().text(symbol);
      if (!text.starts_with(' ')) out += ' ';
      out += text;
    }
  }
  return out.substr(std::min<std::size_t>(out.size(), 1));
}

SearchGraph search_graph(const Reading& reading, const std::shared_ptr<const SearchForest>& found, double margin) {
  auto [graph, edge_map, node_map] = prune(graph_of(found), found->step, margin);
  SearchGraph out{std::move(graph), {}, {}, {}, {}, {0}, {}, reading.features()};
  // All edges into a hypothesis give it the same state: that of the last one seen is kept.
  const std::size_t bytes = reading.state_bytes();
  std::vector<std::byte> states(out.graph.nodes() * bytes);
  std::vector<const std::byte*> tails;
  for (NodeId node = 0; node < out.graph.nodes(); ++node) {
    for (EdgeId edge = out.graph.edges_begin(node); edge < out.graph.edges_end(node); ++edge) {
      tails.clear();
      for (const NodeId tail : out.graph.tails(edge)) tails.push_back(states.data() + tail * bytes);
      std::byte* const state = states.data() + node * bytes;
      std::fill_n(state, bytes, std::byte{0});
      std::vector<FeatureValue> values;
      reading.replay(edge_map[edge], tails.data(), state, values);
      for (const FeatureValue& value : summed(std::move(values))) out.features.push_back(value);
      out.first_feature.push_back(static_cast<std::uint32_t>(out.features.size()));
      out.scores.push_back(found->step[edge_map[edge]]);
      out.steps.push_back(reading.step(edge_map[edge]));
    }
    // In a pruned graph every node has an edge.
    out.labels.push_back(out.steps.back().label);
    out.spans.push_back(out.steps.back().span);
  }
  return out;
}

}  // namespace treeglot
