#include "rules/ghkm.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/symbol_lists.h"
#include "graph/inside_outside.h"
#include "graph/semiring.h"
#include "rules/frontier.h"
#include "rules/gappy.h"
#include "rules/ghkm_attachment.h"
#include "rules/ghkm_fragments.h"
#include "rules/rule_writer.h"
#include "syntax/structure.h"

namespace treeglot {
namespace {

// What all pairs share.
struct Input {
  const Bitext& bitext;
  const ForestBank& forests;
  const DependencyBank* dependencies;
  const PhraseTrees& phrases;
  std::span<const Symbol> tag_labels, phrase_tag_labels;  // the label of each tag
  const GhkmOptions& options;
  const Symbols& labels;
};

class PairExtractor {
 public:
  explicit PairExtractor(const Input& input) : input_(input) {}

  void extract(std::size_t pair, Occurrences& out, GhkmCounts& counts);

 private:
  bool usable(std::size_t pair, const ParseForest* parsed, GhkmCounts& counts);
  std::string difference(std::size_t pair, const ParseForest& forest) const;
  void read_notes(std::size_t pair, const ParseForest& forest);
  void write(const Fragment& fragment, Span target, std::span<const Span> holes);
  std::size_t give(const Fragment& fragment, NodeId root, bool whole, double count, Occurrences& out,
                   GhkmCounts& counts);
  void take_fragments(const ParseForest& forest, Occurrences& out, GhkmCounts& counts);
  void find_spans(const ParseForest& forest);
  void take_phrases(Occurrences& out, GhkmCounts& counts);
  bool write_parsed(const PhrasePair& phrase);
  void take_gappy(Occurrences& out, GhkmCounts& counts);
  bool is_well_formed(Span target) const {
    return structures_ && structures_->of(target).kind != Structure::Kind::ill_formed;
  }
  static bool before(Span a, Span b) { return a.begin != b.begin ? a.begin < b.begin : a.end < b.end; }

  Input input_;

  // Of the pair at hand.
  Frontier links_;
  ForestFrontier frontier_;
  std::optional<Structures> structures_;
  Heads heads_;
  std::vector<Symbol> node_labels_, tags_;
  std::span<const Symbol> target_;
  std::vector<std::int32_t> parsed_heads_;  // of a phrase's parse, at the places of its words in the sentence
  std::vector<Symbol> parsed_tags_;
  RuleWriter writer_;
  std::vector<Span> holes_;
  std::vector<RuleVariable> variables_;
  std::vector<Attachment> attached_;
  std::vector<std::string> targets_;
  std::vector<PhrasePair> phrases_;
  std::vector<Span> spans_;  // that phrases may cover, sorted
  GappyPhrases gappy_;
};

// What is wrong with a pair's analyses, or nothing.
std::string PairExtractor::difference(std::size_t pair, const ParseForest& forest) const {
  const auto source = input_.bitext.source(pair);
  const std::string place = "pair " + std::to_string(pair + 1) + ": ";
  if (forest.words() != source.size()) {
    return place + "the forest has " + std::to_string(forest.words()) + " words, the source sentence has " +
           std::to_string(source.size());
  }
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::string_view word = input_.bitext.source_words()[source[i]];
    if (forest.word(i) != word) {
      return place + "word " + std::to_string(i + 1) + " of the forest is " + quoted(forest.word(i)) +
             ", of the source sentence " + quoted(word);
    }
  }
  if (input_.dependencies == nullptr) return {};
  const std::size_t words = input_.dependencies->heads(pair).size();
  if (words != 0 && words != input_.bitext.target(pair).size()) {
    return place + "the dependency tree has " + std::to_string(words) + " words, the target sentence has " +
           std::to_string(input_.bitext.target(pair).size());
  }
  return {};
}

bool PairExtractor::usable(std::size_t pair, const ParseForest* parsed, GhkmCounts& counts) {
  ++counts.pairs;
  if (parsed == nullptr) {
    ++counts.unparsed;
    return false;
  }
  if (const std::string problem = difference(pair, *parsed); !problem.empty()) {
    throw std::invalid_argument(problem);
  }
  if (input_.bitext.links(pair).empty()) {
    ++counts.unlinked;
    return false;
  }
  structures_.reset();
  if (input_.dependencies == nullptr) return true;
  heads_ = input_.dependencies->heads(pair);
  if (!heads_.empty()) structures_.emplace(heads_);
  const Span all = {0, static_cast<std::uint32_t>(input_.bitext.target(pair).size())};
  if ((input_.options.well_formed || input_.options.structure) &&
      (!structures_ || structures_->of(all).kind == Structure::Kind::ill_formed)) {
    ++counts.no_tree;
    return false;
  }
  return true;
}

void PairExtractor::read_notes(std::size_t pair, const ParseForest& forest) {
  node_labels_.assign(forest.graph().nodes(), 0);
  for (auto node = static_cast<NodeId>(forest.words()); node < forest.graph().nodes(); ++node)
    node_labels_[node] = input_.labels.find(forest.label(node));
  tags_.clear();
  if (input_.options.structure) {
    for (const Symbol tag : input_.dependencies->tags(pair)) {
      if (tag != Symbols::kNone) tags_.push_back(input_.tag_labels[tag]);
    }
  }
  target_ = input_.bitext.target(pair);
  writer_.assign({.source = input_.bitext.source(pair),
                  .target = target_,
                  .links = input_.bitext.links(pair),
                  .frontier = &links_,
                  .heads = input_.options.structure ? heads_ : Heads{},
                  .tags = tags_.size() == heads_.size() ? std::span<const Symbol>(tags_) : std::span<const Symbol>(),
                  .weights = input_.bitext.weights(pair),
                  .share = input_.bitext.share(pair)});
}

// `holes` are what the fragment's variables, from left to right, stand for on the target side.
void PairExtractor::write(const Fragment& fragment, Span target, std::span<const Span> holes) {
  writer_.start_source();
  std::uint32_t variable = 0;
  for (const FragmentItem item : fragment.items) {
    switch (item.kind) {
      case FragmentItem::Kind::open: writer_.open(node_labels_[item.node]); break;
      case FragmentItem::Kind::close: writer_.close(); break;
      case FragmentItem::Kind::word: writer_.source_words({item.node, item.node + 1}); break;
      case FragmentItem::Kind::variable: writer_.source_variable(variable++, node_labels_[item.node]); break;
    }
  }
  variables_.clear();
  for (const Span hole : holes) variables_.push_back({{}, hole});  // the source side has its label
  writer_.write_target(target, variables_);
}

// Writes the rules of a fragment, one for each way to attach unaligned words that makes a difference: how many.
std::size_t PairExtractor::give(const Fragment& fragment, NodeId root, bool whole, double count, Occurrences& out,
                                GhkmCounts& counts) {
  holes_.clear();
  for (const FragmentItem item : fragment.items) {
    if (item.kind == FragmentItem::Kind::variable) holes_.push_back(frontier_.target(item.node));
  }
  if (input_.options.max_attachments == 1) {
    write(fragment, frontier_.target(root), holes_);
    out.add(writer_.rule(), std::max(count_units(count), 1u));
    return 1;
  }
  Attachments attachments(links_, input_.options.well_formed ? &*structures_ : nullptr);
  if (attachments.find(frontier_.target(root), whole, holes_, input_.options.max_attachments, attached_))
    ++counts.attachments_capped;
  // A run that goes to either of two variables makes the same rule, unless their structures show it.
  targets_.clear();
  std::size_t different = 0;
  for (std::size_t i = 0; i < attached_.size(); ++i) {
    write(fragment, attached_[i].target, attached_[i].holes);
    std::string target(writer_.target());
    if (std::ranges::find(targets_, target) != targets_.end()) continue;
    targets_.push_back(std::move(target));
    if (i != different) std::swap(attached_[different], attached_[i]);
    ++different;
  }
  for (std::size_t i = 0; i < different; ++i) {
    write(fragment, attached_[i].target, attached_[i].holes);
    out.add(writer_.rule(), std::max(count_units(count / static_cast<double>(different)), 1u));
  }
  return different;
}

// c(r) = α(root) · ∏ P(h) · ∏ β(leaf) / αβ(TOP) (section 3.4 of the c2d page).
void PairExtractor::take_fragments(const ParseForest& forest, Occurrences& out, GhkmCounts& counts) {
  const Hypergraph& graph = forest.graph();
  const std::vector<double> inside = treeglot::inside<LogSum>(graph, forest.scores());
  const std::vector<double> outside = treeglot::outside<LogSum>(graph, forest.scores(), inside);
  const double total = inside[graph.goal()];
  FragmentCuts minimal, composed;
  const FragmentLimits minimal_limits = {input_.options.minimal_height, input_.options.minimal_edges,
                                         input_.options.minimal_leaves, input_.options.minimal_fragments};
  const FragmentLimits composed_limits = {input_.options.composed_height, input_.options.composed_edges,
                                          input_.options.composed_leaves, input_.options.composed_fragments};
  Fragments fragments(forest, frontier_, forest.scores(), inside);
  for (auto root = static_cast<NodeId>(forest.words()); root < graph.nodes(); ++root) {
    ++counts.nodes;
    if (!frontier_.contains(root)) continue;
    ++counts.frontier;
    std::uint64_t taken = 0;
    const auto take = [&](const Fragment& fragment) {
      const double count = std::exp(outside[root] + fragment.log_weight - total);
      taken += give(fragment, root, root == graph.goal(), count, out, counts);
    };
    fragments.visit(root, 1, 1, minimal_limits, minimal, take);
    counts.minimal += taken;
    taken = 0;
    if (input_.options.max_composed > 1)
      fragments.visit(root, 2, input_.options.max_composed, composed_limits, composed, take);
    counts.composed += taken;
  }
  counts.minimal_too_large += minimal.too_large;
  counts.minimal_capped += minimal.capped;
  counts.composed_too_large += composed.too_large;
  counts.composed_capped += composed.capped;
}

// What phrases may cover: nodes and, if wanted, two or more neighbouring children of a node.
void PairExtractor::find_spans(const ParseForest& forest) {
  spans_.assign(forest.spans().begin() + static_cast<std::ptrdiff_t>(forest.words()), forest.spans().end());
  const Hypergraph& graph = forest.graph();
  for (EdgeId edge = 0; input_.options.sequences && edge < graph.edges(); ++edge) {
    const auto children = graph.tails(edge);
    for (std::size_t first = 0; first + 1 < children.size(); ++first)
      for (std::size_t last = first + 1; last < children.size(); ++last)
        spans_.push_back({forest.span(children[first]).begin, forest.span(children[last]).end});
  }
  std::ranges::sort(spans_, before);
  spans_.erase(std::ranges::unique(spans_).begin(), spans_.end());
}

// Writes a phrase with the structure and tags of its own parse, if it has one.
bool PairExtractor::write_parsed(const PhrasePair& phrase) {
  const Span target = phrase.target;
  const auto found = input_.phrases.find(target_.subspan(target.begin, target.size()));
  if (!found) return false;
  parsed_heads_.assign(target_.size(), Dependency::kNoHead);
  parsed_tags_.assign(target_.size(), 0);
  const Heads heads = input_.phrases.trees().heads(*found);
  const auto tags = input_.phrases.trees().tags(*found);
  const auto first = static_cast<std::int32_t>(target.begin);
  for (std::size_t word = 0; word < heads.size(); ++word) {
    parsed_heads_[target.begin + word] = heads[word] < 0 ? heads[word] : heads[word] + first;
    parsed_tags_[target.begin + word] = input_.phrase_tag_labels[tags[word]];
  }
  writer_.write_as(parsed_heads_, parsed_tags_, [&] { writer_.write(0, phrase, {}); });
  return true;
}

void PairExtractor::take_phrases(Occurrences& out, GhkmCounts& counts) {
  phrases_.clear();
  append_phrase_pairs(links_, {input_.options.max_phrase, kNoLimit, kNoLimit, input_.options.phrase_loose}, phrases_);
  for (const PhrasePair& phrase : phrases_) {
    const bool on_nodes = std::ranges::binary_search(spans_, phrase.source, before);
    if (!on_nodes && !input_.options.all_spans) continue;
    const bool well_formed = is_well_formed(phrase.target);
    if (!well_formed && input_.options.phrases == GhkmOptions::Phrases::well_formed) continue;
    ++counts.phrases;
    counts.phrases_well_formed += well_formed ? 1 : 0;
    counts.phrases_on_nodes += on_nodes ? 1 : 0;
    if (!well_formed && input_.options.structure && write_parsed(phrase)) {
      ++counts.phrases_parsed;
    } else {
      writer_.write(0, phrase, {});
      if (!well_formed) writer_.mark_ill_formed();
    }
    out.add(writer_.rule(), kCountUnit);
  }
}

void PairExtractor::take_gappy(Occurrences& out, GhkmCounts& counts) {
  const GhkmOptions& options = input_.options;
  gappy_.assign(links_, {options.max_span, options.max_symbols, options.max_nonterminals});
  for (const Span span : spans_)
    gappy_.add(span, [&](Span target) { return !options.well_formed || is_well_formed(target); });
  gappy_.visit([&](const PhrasePair& phrase, std::span<const RuleVariable> variables) {
    writer_.write(0, phrase, variables);
    out.add(writer_.rule(), kCountUnit);
    ++counts.gappy;
  });
}

void PairExtractor::extract(std::size_t pair, Occurrences& out, GhkmCounts& counts) {
  const ParseForest* const forest = input_.forests[pair];
  if (!usable(pair, forest, counts)) return;
  links_.assign(input_.bitext.links(pair), input_.bitext.source(pair).size(), input_.bitext.target(pair).size());
  frontier_.assign(*forest, links_, input_.options.well_formed ? &*structures_ : nullptr);
  read_notes(pair, *forest);
  take_fragments(*forest, out, counts);
  if (input_.options.phrases == GhkmOptions::Phrases::none && input_.options.max_nonterminals == 0) return;
  find_spans(*forest);
  if (input_.options.phrases != GhkmOptions::Phrases::none) take_phrases(out, counts);
  if (input_.options.max_nonterminals > 0) take_gappy(out, counts);
}

}  // namespace

GhkmExtractor::GhkmExtractor(std::shared_ptr<const Bitext> bitext, std::shared_ptr<const ForestBank> forests,
                             std::shared_ptr<const DependencyBank> dependencies, const GhkmOptions& options,
                             std::span<const Dependency* const> phrases)
    : CountingExtractor(std::move(bitext)),
      forests_(std::move(forests)),
      dependencies_(std::move(dependencies)),
      options_(options),
      phrases_(this->bitext(), phrases) {
  this->bitext().check_size(forests_->size(), "forests");
  if (dependencies_) this->bitext().check_size(dependencies_->size(), "dependency trees");
  const bool needed = options.well_formed || options.structure || options.phrases == GhkmOptions::Phrases::well_formed;
  if (needed && !dependencies_)
    throw std::invalid_argument("well-formed rules and phrases take the dependency trees of the target sides");
  if (options.structure && !options.well_formed)
    throw std::invalid_argument("structure is kept only of well-formed rules: set well_formed too");
  if (options.max_composed == 0) throw std::invalid_argument("max_composed is 0; a rule is made of at least one");
  if (options.max_attachments == 0) throw std::invalid_argument("max_attachments is 0; there is always one way");
  labels_.intern("X");
  if (options.structure) {
    for (Symbol tag = 0; tag < dependencies_->tag_names().size(); ++tag)
      tag_labels_.push_back(labels_.intern(dependencies_->tag_names().text(tag)));
    for (Symbol tag = 0; tag < phrases_.trees().tag_names().size(); ++tag)
      phrase_tag_labels_.push_back(labels_.intern(phrases_.trees().tag_names().text(tag)));
  }
  for (Symbol label = 0; label < forests_->labels().size(); ++label) labels_.intern(forests_->labels().text(label));
}

Strings GhkmExtractor::labels() const { return texts_of(labels_); }

GhkmExtractor::Worker GhkmExtractor::worker() const {
  return work_of(PairExtractor(
      {bitext(), *forests_, dependencies_.get(), phrases_, tag_labels_, phrase_tag_labels_, options_, labels_}));
}

}  // namespace treeglot
