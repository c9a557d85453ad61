#include "rules/ghkm.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.h"
#include "graph/inside_outside.h"
#include "graph/semiring.h"
#include "rules/frontier.h"
#include "rules/ghkm_attachment.h"
#include "rules/ghkm_frontier.h"
#include "rules/ghkm_rule.h"
#include "rules/phrase.h"
#include "rules/tally_pairs.h"
#include "syntax/structure.h"

namespace treeglot {
namespace {

class Extractor {
 public:
  Extractor(const Bitext& bitext, const DependencyBank* dependencies, std::span<const Symbol> tag_labels,
            const GhkmOptions& options, const Labels& labels)
      : bitext_(bitext), dependencies_(dependencies), tag_labels_(tag_labels), options_(options), labels_(labels) {}

  void extract(std::size_t pair, const ParseForest* parsed, Occurrences& out, GhkmCounts& counts);

 private:
  bool usable(std::size_t pair, const ParseForest* parsed, GhkmCounts& counts);
  std::string difference(std::size_t pair, const ParseForest& forest) const;
  void read_notes(std::size_t pair, const ParseForest& forest);
  std::size_t give(const Fragment& fragment, NodeId root, bool whole, double count, Occurrences& out,
                   GhkmCounts& counts);
  void take_fragments(const ParseForest& forest, Occurrences& out, GhkmCounts& counts);
  void take_phrases(const ParseForest& forest, Occurrences& out, GhkmCounts& counts);

  const Bitext& bitext_;
  const DependencyBank* dependencies_;
  std::span<const Symbol> tag_labels_;  // the label of each tag
  const GhkmOptions& options_;
  const Labels& labels_;

  // Of the pair at hand.
  Frontier links_;
  ForestFrontier frontier_;
  std::optional<Structures> structures_;
  Heads heads_;
  std::vector<Symbol> node_labels_, tags_;
  RuleWriter writer_;
  std::vector<Span> holes_;
  std::vector<Attachment> attached_;
  std::vector<std::string> targets_;
  std::vector<PhrasePair> phrases_;
  std::vector<Span> node_spans_;
};

// What is wrong with a pair's analyses, or nothing.
std::string Extractor::difference(std::size_t pair, const ParseForest& forest) const {
  const auto source = bitext_.source(pair);
  const std::string place = "pair " + std::to_string(pair + 1) + ": ";
  if (forest.words() != source.size()) {
    return place + "the forest has " + std::to_string(forest.words()) + " words, the source sentence has " +
           std::to_string(source.size());
  }
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::string_view word = bitext_.source_words().text(source[i]);
    if (forest.word(i) != word) {
      return place + "word " + std::to_string(i + 1) + " of the forest is " + quoted(forest.word(i)) +
             ", of the source sentence " + quoted(word);
    }
  }
  if (dependencies_ == nullptr) return {};
  const std::size_t words = dependencies_->heads(pair).size();
  if (words != 0 && words != bitext_.target(pair).size()) {
    return place + "the dependency tree has " + std::to_string(words) + " words, the target sentence has " +
           std::to_string(bitext_.target(pair).size());
  }
  return {};
}

bool Extractor::usable(std::size_t pair, const ParseForest* parsed, GhkmCounts& counts) {
  ++counts.pairs;
  if (parsed == nullptr || !parsed->parsed()) {
    ++counts.unparsed;
    return false;
  }
  if (const std::string problem = difference(pair, *parsed); !problem.empty()) {
    if (!options_.skip_bad) throw std::invalid_argument(problem);
    ++counts.bad;
    return false;
  }
  if (bitext_.links(pair).empty()) {
    ++counts.unlinked;
    return false;
  }
  structures_.reset();
  if (dependencies_ == nullptr) return true;
  heads_ = dependencies_->heads(pair);
  if (!heads_.empty()) structures_.emplace(heads_);
  const Span all = {0, static_cast<std::uint32_t>(bitext_.target(pair).size())};
  if ((options_.well_formed || options_.structure) &&
      (!structures_ || structures_->of(all).kind == Structure::Kind::ill_formed)) {
    ++counts.no_tree;
    return false;
  }
  return true;
}

void Extractor::read_notes(std::size_t pair, const ParseForest& forest) {
  node_labels_.assign(forest.graph().nodes(), 0);
  for (auto node = static_cast<NodeId>(forest.words()); node < forest.graph().nodes(); ++node)
    node_labels_[node] = labels_.find(forest.label(node));
  tags_.clear();
  if (options_.structure) {
    for (const Symbol tag : dependencies_->tags(pair)) {
      if (tag != Symbols::kNone) tags_.push_back(tag_labels_[tag]);
    }
  }
  writer_.assign({.source = bitext_.source(pair),
                  .target = bitext_.target(pair),
                  .links = bitext_.links(pair),
                  .frontier = &links_,
                  .node_labels = node_labels_,
                  .heads = options_.structure ? heads_ : Heads{},
                  .tags = tags_.size() == heads_.size() ? std::span<const Symbol>(tags_) : std::span<const Symbol>()});
}

// Writes the rules of a fragment, one for each way to attach unaligned words that makes a difference: how many.
std::size_t Extractor::give(const Fragment& fragment, NodeId root, bool whole, double count, Occurrences& out,
                            GhkmCounts& counts) {
  holes_.clear();
  for (const FragmentItem item : fragment.items) {
    if (item.kind == FragmentItem::Kind::variable) holes_.push_back(frontier_.target(item.node));
  }
  if (options_.max_attachments == 1) {
    out.add(writer_.fragment(fragment, frontier_.target(root), holes_), std::max(count_units(count), 1u));
    return 1;
  }
  Attachments attachments(links_, options_.well_formed ? &*structures_ : nullptr);
  if (attachments.find(frontier_.target(root), whole, holes_, options_.max_attachments, attached_))
    ++counts.attachments_capped;
  // A run that goes to either of two variables makes the same rule, unless their structures show it.
  targets_.clear();
  std::size_t different = 0;
  for (std::size_t i = 0; i < attached_.size(); ++i) {
    std::string target(writer_.fragment(fragment, attached_[i].target, attached_[i].holes).target);
    if (std::ranges::find(targets_, target) != targets_.end()) continue;
    targets_.push_back(std::move(target));
    if (i != different) std::swap(attached_[different], attached_[i]);
    ++different;
  }
  for (std::size_t i = 0; i < different; ++i) {
    out.add(writer_.fragment(fragment, attached_[i].target, attached_[i].holes),
            std::max(count_units(count / static_cast<double>(different)), 1u));
  }
  return different;
}

// c(r) = α(root) · ∏ P(h) · ∏ β(leaf) / αβ(TOP) (section 3.4 of the c2d page).
void Extractor::take_fragments(const ParseForest& forest, Occurrences& out, GhkmCounts& counts) {
  const Hypergraph& graph = forest.graph();
  const std::vector<double> inside = treeglot::inside<LogSum>(graph, forest.scores());
  const std::vector<double> outside = treeglot::outside<LogSum>(graph, forest.scores(), inside);
  const double total = inside[graph.goal()];
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
    fragments.visit(root, 1, 1, options_.minimal, counts.minimal_cuts, take);
    counts.minimal += taken;
    taken = 0;
    if (options_.max_composed > 1)
      fragments.visit(root, 2, options_.max_composed, options_.composed, counts.composed_cuts, take);
    counts.composed += taken;
  }
}

void Extractor::take_phrases(const ParseForest& forest, Occurrences& out, GhkmCounts& counts) {
  const auto begin = static_cast<std::ptrdiff_t>(forest.words());
  const auto before = [](Span a, Span b) { return a.begin != b.begin ? a.begin < b.begin : a.end < b.end; };
  node_spans_.assign(forest.spans().begin() + begin, forest.spans().end());
  std::ranges::sort(node_spans_, before);
  phrases_.clear();
  append_phrase_pairs(links_, {options_.max_phrase, kNoLimit, kNoLimit, options_.phrase_loose}, phrases_);
  for (const PhrasePair& phrase : phrases_) {
    if (!std::ranges::binary_search(node_spans_, phrase.source, before)) continue;
    const bool well_formed = structures_ && structures_->of(phrase.target).kind != Structure::Kind::ill_formed;
    if (!well_formed && options_.phrases == GhkmOptions::Phrases::well_formed) continue;
    ++counts.phrases;
    counts.phrases_well_formed += well_formed ? 1 : 0;
    out.add(writer_.phrase(phrase, !well_formed), kCountUnit);
  }
}

void Extractor::extract(std::size_t pair, const ParseForest* parsed, Occurrences& out, GhkmCounts& counts) {
  if (!usable(pair, parsed, counts)) return;
  const ParseForest forest = prune_conditional(*parsed, options_.margin);
  links_.assign(bitext_.links(pair), bitext_.source(pair).size(), bitext_.target(pair).size());
  frontier_.assign(forest, links_, options_.well_formed ? &*structures_ : nullptr);
  read_notes(pair, forest);
  take_fragments(forest, out, counts);
  if (options_.phrases != GhkmOptions::Phrases::none) take_phrases(forest, out, counts);
}

void check(const Bitext& bitext, std::size_t first_pair, std::size_t forests, const DependencyBank* dependencies,
           const GhkmOptions& options) {
  if (first_pair > bitext.size() || forests > bitext.size() - first_pair)
    throw std::invalid_argument("there are more forests than sentence pairs: " + std::to_string(bitext.size()));
  if (dependencies != nullptr && dependencies->size() != bitext.size()) {
    throw std::invalid_argument("there are " + std::to_string(dependencies->size()) + " dependency trees for " +
                                std::to_string(bitext.size()) + " sentence pairs");
  }
  const bool needed = options.well_formed || options.structure || options.phrases == GhkmOptions::Phrases::well_formed;
  if (needed && dependencies == nullptr)
    throw std::invalid_argument("rules with dependency structures take the dependency trees of the target sides");
  if (options.structure && !options.well_formed)
    throw std::invalid_argument("rules keep dependency structures only where these are well-formed");
  if (options.max_composed == 0) throw std::invalid_argument("max_composed is 0; a rule is made of at least one");
  if (options.max_attachments == 0) throw std::invalid_argument("max_attachments is 0; there is always one way");
}

}  // namespace

GhkmCounts& GhkmCounts::operator+=(const GhkmCounts& other) {
  pairs += other.pairs;
  unparsed += other.unparsed;
  unlinked += other.unlinked;
  no_tree += other.no_tree;
  bad += other.bad;
  nodes += other.nodes;
  frontier += other.frontier;
  minimal += other.minimal;
  composed += other.composed;
  phrases += other.phrases;
  phrases_well_formed += other.phrases_well_formed;
  minimal_cuts.too_large += other.minimal_cuts.too_large;
  minimal_cuts.capped += other.minimal_cuts.capped;
  composed_cuts.too_large += other.composed_cuts.too_large;
  composed_cuts.capped += other.composed_cuts.capped;
  attachments_capped += other.attachments_capped;
  return *this;
}

void extract_ghkm(const Bitext& bitext, std::size_t first_pair, std::span<const ParseForest* const> forests,
                  const DependencyBank* dependencies, const GhkmOptions& options, Labels& labels, Tally& tally,
                  unsigned threads, GhkmCounts& counts) {
  check(bitext, first_pair, forests.size(), dependencies, options);
  std::vector<Symbol> tag_labels;
  if (options.structure) {
    for (Symbol tag = 0; tag < dependencies->tag_names().size(); ++tag)
      tag_labels.push_back(labels.intern(dependencies->tag_names().text(tag)));
  }
  for (const ParseForest* forest : forests) {
    if (forest == nullptr) continue;
    for (std::size_t node = forest->words(); node < forest->graph().nodes(); ++node)
      labels.intern(forest->label(static_cast<NodeId>(node)));
  }
  tally_pairs(0, forests.size(), threads, tally, counts, [&] {
    return [&, extractor = Extractor(bitext, dependencies, tag_labels, options, labels)](
               std::size_t i, Occurrences& out, GhkmCounts& seen) mutable {
      extractor.extract(first_pair + i, forests[i], out, seen);
    };
  });
}

}  // namespace treeglot
