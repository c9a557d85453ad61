#include "decode/match_head_dependents.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include "decode/gappy_walk.h"
#include "decode/preferred_forest.h"
#include "decode/unite_trees.h"
#include "syntax/dependency_checks.h"
#include "syntax/forest_stages.h"
#include "syntax/forest_trees.h"
#include "syntax/to_dependency.h"

namespace treeglot {
namespace {

constexpr std::size_t kTreesForEach = 10;  // constituency trees looked at for each dependency tree that is wanted

// What the matcher knows beyond the sentence.
struct Knowledge {
  const RuleTable& table;
  const HeadDependentsMatchOptions& options;
  std::uint32_t span_limit;  // words of a hierarchical phrase
  FeatureId word_penalty, rule_penalty, pseudo;
  const std::vector<FeatureId>& phrase_features;
  const std::vector<Symbol>& head_places;
  const std::vector<std::optional<StructureRange>>& structures;
};

// Heads that make a projective forest of trees, whatever the input's are.
std::vector<std::int32_t> usable_heads(Heads heads, TranslationForestBuilder& out) {
  std::vector<std::int32_t> made(heads.begin(), heads.end());
  const auto found = cycles(heads);
  for (const auto& cycle : found) made[cycle.front()] = Dependency::kRoot;
  if (!found.empty()) out.note("a cycle in the tree was cut");
  if (std::ranges::count(made, Dependency::kNoHead) > 0) {
    std::ranges::replace(made, Dependency::kNoHead, Dependency::kRoot);
    out.note("words without a head became roots");
  }
  Projectivised projective = projectivise(made);
  if (projective.lifts > 0) out.note("the tree was not projective and was made so");
  if (std::ranges::count(projective.heads, Dependency::kRoot) > 1) out.note("several roots were put side by side");
  return std::move(projective.heads);
}

// The tree's words, or several of them as one where their translation is given; it may be no subtree.
struct Units {
  std::vector<std::uint32_t> first;                  // by unit, and one more: its first word
  std::vector<std::uint32_t> word;                   // by unit: the word that its tag and its head are from
  std::vector<const Constraint*> given;              // by unit: what is given for it, or nothing
  std::vector<const Constraint*> preferred;          // by unit: what may be used for it
  std::vector<const Constraint*> preferred_subtree;  // by unit: what may be used for it and all below it
  std::vector<std::int32_t> heads;                   // by unit: units
  std::vector<std::uint8_t> whole;                   // by unit: it is a subtree of several words

  Span words(Span units) const { return {first[units.begin], first[units.end]}; }
};

// Whether one word of a span has its head outside, and no word outside has its head in it.
bool is_subtree(Heads heads, Span span) {
  std::size_t tops = 0;
  for (std::uint32_t word = 0; word < heads.size(); ++word) {
    const bool head_inside = heads[word] >= 0 && span.contains(static_cast<std::uint32_t>(heads[word]));
    if (span.contains(word) && !head_inside) ++tops;
    if (!span.contains(word) && head_inside) return false;
  }
  return tops == 1;
}

// The word nearest to the root stands for all words of a span: no word above it is in the span, so no cycle arises.
Units join_words(Heads heads, const std::vector<const Constraint*>& joined) {
  std::vector<std::size_t> depth(heads.size(), 0);
  for (std::size_t word = 0; !joined.empty() && word < heads.size(); ++word)
    for (std::int32_t at = heads[word]; at >= 0; at = heads[static_cast<std::size_t>(at)]) ++depth[word];
  Units out;
  std::vector<std::int32_t> unit_of;  // by word
  for (std::uint32_t word = 0; word < heads.size();) {
    const auto here = std::ranges::find(joined, word, [](const Constraint* c) { return c->span.begin; });
    const std::uint32_t end = here == joined.end() ? word + 1 : (*here)->span.end;
    const auto top = std::min_element(depth.begin() + word, depth.begin() + end) - depth.begin();
    unit_of.insert(unit_of.end(), end - word, static_cast<std::int32_t>(out.first.size()));
    out.first.push_back(word);
    out.word.push_back(static_cast<std::uint32_t>(top));
    out.given.push_back(here == joined.end() ? nullptr : *here);
    out.whole.push_back(end - word > 1 && is_subtree(heads, {word, end}));
    word = end;
  }
  out.first.push_back(static_cast<std::uint32_t>(heads.size()));
  for (const std::uint32_t word : out.word)
    out.heads.push_back(heads[word] < 0 ? heads[word] : unit_of[static_cast<std::size_t>(heads[word])]);
  if (!joined.empty()) out.heads = projectivise(out.heads).heads;
  out.preferred.assign(out.word.size(), nullptr);
  out.preferred_subtree.assign(out.word.size(), nullptr);
  return out;
}

class Sentence {
 public:
  Sentence(const Knowledge& knowledge, const Dependency& tree, const Input& input, RuleCache& cache, Glue& glue)
      : k_(knowledge), table_(knowledge.table), tree_(tree), input_(input), cache_(cache), glue_(glue) {
    heads_ = usable_heads(tree.heads(), out_);
    x_ = table_.labels().find("X");
  }

  // Translations that are required are units of the tree. Those that are preferred are further translations of words
  // and of subtrees. Where others are preferred, a second tree has all as units, and the sentence has its derivations,
  // too.
  TranslationForest run() {
    std::vector<const Constraint*> joined, all;
    for (const Constraint& constraint : input_.constraints) {
      all.push_back(&constraint);
      if (constraint.required) joined.push_back(&constraint);
    }
    units_ = join_words(heads_, joined);
    bool others = false;
    for (const Constraint& constraint : input_.constraints)
      if (!constraint.required && !prefer(constraint)) others = true;
    std::vector<NodeId> sentences = {add_tree()};
    std::vector<std::int32_t> heads(heads_.size());
    for (std::size_t unit = 0; unit < units_.heads.size(); ++unit) {
      const auto top = static_cast<std::int32_t>(units_.word[unit]);
      for (std::uint32_t word = units_.first[unit]; word < units_.first[unit + 1]; ++word) heads[word] = top;
      const std::int32_t head = units_.heads[unit];
      heads[units_.word[unit]] =
          head < 0 ? head : static_cast<std::int32_t>(units_.word[static_cast<std::size_t>(head)]);
    }
    if (others) {
      units_ = join_words(heads_, all);
      made_.forget_preferred();
      sentences.push_back(add_tree());
    }
    const NodeId top = made_.add_node({0, static_cast<std::uint32_t>(tree_.size())}, kSentence);
    for (const NodeId& sentence : sentences) made_.add_edge(top, std::span(&sentence, 1), glue_.end(), kEnds);
    const NodeId goal = made_.build(top, out_);
    TranslationForest forest = out_.freeze(goal);
    forest.tree.emplace(tree_.words(), std::move(heads), tree_.tags(), tree_.relations());
    return forest;
  }

 private:
  // Lets a word or a subtree have a translation; false if the span is neither.
  bool prefer(const Constraint& constraint) {
    const auto begin = std::ranges::find(units_.first, constraint.span.begin);
    const auto end = std::ranges::find(units_.first, constraint.span.end);
    if (begin == units_.first.end() || end == units_.first.end()) return false;
    const Span units = {static_cast<std::uint32_t>(begin - units_.first.begin()),
                        static_cast<std::uint32_t>(end - units_.first.begin())};
    if (units.size() == 1) {
      units_.preferred[units.begin] = &constraint;
    } else {
      if (!is_subtree(heads_, constraint.span) || !is_subtree(units_.heads, units)) return false;
      std::uint32_t top = units.begin;
      while (units_.heads[top] >= 0 && units.contains(static_cast<std::uint32_t>(units_.heads[top]))) ++top;
      units_.preferred_subtree[top] = &constraint;
    }
    made_.prefer(constraint.span);
    return true;
  }

  // The node of the sentence.
  NodeId add_tree() {
    relations_.assign(units_.heads);
    words_.clear(), word_tags_.clear(), subtree_tags_.clear(), subtree_words_.clear();
    for (std::size_t unit = 0; unit < units_.word.size(); ++unit) {
      const std::string_view word = tree_.words()[units_.word[unit]], tag = tree_.tags()[units_.word[unit]];
      const bool given = units_.given[unit] != nullptr;
      words_.push_back(given ? Symbols::kNone : table_.source_words().find(word));
      word_tags_.push_back(table_.labels().find(word_tag_label(tag)));
      subtree_tags_.push_back(table_.labels().find(subtree_tag_label(tag)));
      subtree_words_.push_back(table_.labels().find(subtree_word_label(word)));
    }
    subtree_nodes_.assign(words_.size(), kNoNode);
    word_nodes_.assign(words_.size(), kNoNode);
    walk_.begin(table_, x_, words_);
    in_preferred_.assign(words_.size(), 0);
    for (std::uint32_t unit = 0; unit < words_.size(); ++unit)
      for (const Constraint* const constraint : {units_.preferred[unit], units_.preferred_subtree[unit]})
        for (std::uint32_t other = 0; constraint != nullptr && other < words_.size(); ++other)
          in_preferred_[other] |= constraint->span.contains(units_.first[other]);
    for (const std::uint32_t unit : relations_.bottom_up()) {
      add_word(unit);
      if (!relations_.is_leaf(unit)) add_relation(unit);
    }
    return add_sentence();
  }

  struct Matched {
    std::vector<NodeId> tails;
    std::span<const Alternative> alternatives;
    std::uint8_t uses;
  };
  using Combination = std::vector<StructureRange>;  // from left to right, without overlap

  // A member of the relation at hand.
  struct Member {
    std::uint32_t word;
    NodeId node;    // its subtree's, or for the head its word's
    bool variable;  // in the instance at hand
  };
  // The rules of an instance that have the same tails.
  struct Edge {
    std::vector<NodeId> tails;
    std::vector<Alternative> alternatives;
  };

  // As rules see it: a subtree whose translation is given is still one.
  bool is_leaf(std::uint32_t word) const { return relations_.is_leaf(word) && !units_.whole[word]; }

  // Rules that have these words are no part of derivations that prefer another translation of some.
  std::uint8_t uses(Span span) const {
    const auto begin = in_preferred_.begin();
    return std::find(begin + span.begin, begin + span.end, 1) == begin + span.end ? kNode | kTwin : kNode;
  }

  // The phrases for a span of source words, if the table has any.
  std::span<const Alternative> phrases(Span span) {
    RuleTable::Node node = table_.root();
    for (std::uint32_t word = span.begin; word < span.end && node != RuleTable::kNoNode; ++word)
      node = words_[word] == Symbols::kNone ? RuleTable::kNoNode : table_.child(node, words_[word]);
    return node == RuleTable::kNoNode ? std::span<const Alternative>() : rules(node, x_);
  }

  std::span<const Alternative> rules(RuleTable::Node node, Symbol lhs) {
    for (const RuleCache::Group& group : cache_.at(node))
      if (group.lhs == lhs) return group.alternatives;
    return {};
  }

  // The word by itself: what a leaf is, and what a variable for the head of a relation stands for.
  void add_word(std::uint32_t word) {
    const Span span = {word, word + 1};
    const NodeId node = made_.add_node(units_.words(span), word_tags_[word] == Symbols::kNone ? x_ : word_tags_[word]);
    if (const Constraint* const given = units_.given[word]; given != nullptr) {
      made_.add_edge(node, {}, glue_.given(given->translations, given->bonus), kInside);
    } else {
      const std::span<const Alternative> found = phrases(span);
      if (!found.empty()) made_.add_edge(node, {}, found, kInside, uses(span));
      if (found.empty() || input_.lenient)
        made_.add_edge(node, {}, glue_.unknown(tree_.words()[units_.word[word]]), kInside, uses(span));
    }
    if (const Constraint* const given = units_.preferred[word]; given != nullptr)
      made_.add_edge(node, {}, glue_.given(given->translations, given->bonus), kInside);
    word_nodes_[word] = subtree_nodes_[word] = node;
    walk_.add(span, node);
  }

  void add_relation(std::uint32_t head) {
    members_.clear();
    edges_.clear();
    structure_nodes_.clear();
    for (const std::uint32_t word : relations_.members(head))
      members_.push_back({word, word == head ? word_nodes_[word] : subtree_nodes_[word], false});
    head_ = head;
    capped_ = false;
    if (k_.options.augmented) add_structures();
    const std::size_t place = relations_.head_at(head);
    if (place < k_.head_places.size()) match_instances(k_.head_places[place]);
    const bool in_twin =
        std::ranges::any_of(edges_, [&](const Matched& edge) { return made_.in_twin(edge.tails, edge.uses); });
    if (edges_.empty() || input_.lenient) {
      add_pseudo(kNode | kTwin);
    } else if (!in_twin) {
      add_pseudo(kNode | kTwin | kTwinTails);
    }

    const Span span = relations_.subtree(head);
    find_gappy(span);
    const NodeId node =
        made_.add_node(units_.words(span), subtree_tags_[head] == Symbols::kNone ? x_ : subtree_tags_[head]);
    subtree_nodes_[head] = node;
    if (const auto found = phrases(span); !found.empty()) made_.add_edge(node, {}, found, kInside, uses(span));
    add_edges(node, gappy_);
    walk_.add(span, node);
    add_edges(node, edges_);
    if (const Constraint* const given = units_.preferred_subtree[head]; given != nullptr)
      made_.add_edge(node, {}, glue_.given(given->translations, given->bonus), kInside);
    if (capped_) out_.note("more combinations of structures than max_combinations");
  }

  void add_edges(NodeId node, const std::vector<Matched>& matched) {
    for (const auto& [tails, alternatives, uses] : matched) made_.add_edge(node, tails, alternatives, kInside, uses);
  }

  // The eight instances of the relation (as extraction has them); kinds that it has not give no more. Where leaves are
  // tags, those that rules leave without a translation are words: so the walk through the trie may fork at a leaf.
  void match_instances(Symbol lhs) {
    bool leaves = false, subtrees = false;
    for (const Member& member : members_) {
      if (member.word == head_) continue;
      (is_leaf(member.word) ? leaves : subtrees) = true;
    }
    for (int kinds = 0; kinds < 8; ++kinds) {
      const bool head = (kinds & 1) != 0, subtree_tags = (kinds & 2) != 0, leaf = (kinds & 4) != 0;
      if ((subtree_tags && !subtrees) || (leaf && !leaves)) continue;
      walk(lhs, head, subtree_tags, leaf);
    }
  }

  void walk(Symbol lhs, bool head, bool subtree_tags, bool leaf) {
    struct Fork {
      std::size_t member;
      RuleTable::Node node;
      bool variable;  // the member is one; its symbol leads to `node`
      bool any_leaf;  // some leaf up to here is a variable
    };
    std::vector<Fork> open;
    const auto step = [&](std::size_t m, RuleTable::Node from, Symbol symbol, bool variable, bool any_leaf) {
      if (symbol == Symbols::kNone) return;
      const RuleTable::Node node = table_.child(from, variable ? nonterminal(symbol) : symbol);
      if (node != RuleTable::kNoNode) open.push_back({m, node, variable, any_leaf});
    };
    const auto fork = [&](std::size_t m, RuleTable::Node from, bool any_leaf) {
      const std::uint32_t word = members_[m].word;
      if (word == head_) {
        step(m, from, head ? word_tags_[word] : words_[word], head, any_leaf);
      } else if (!is_leaf(word)) {
        step(m, from, subtree_tags ? subtree_tags_[word] : subtree_words_[word], true, any_leaf);
      } else {
        step(m, from, words_[word], false, any_leaf);
        if (leaf) step(m, from, word_tags_[word], true, true);
      }
    };
    fork(0, table_.root(), false);
    while (!open.empty()) {
      const Fork at = open.back();
      open.pop_back();
      members_[at.member].variable = at.variable;  // those before are as they were when it was put on the stack
      if (at.member + 1 < members_.size()) {
        fork(at.member + 1, at.node, at.any_leaf);
      } else if (!leaf || at.any_leaf) {
        add_rules(rules(at.node, lhs));
      }
    }
  }

  // The rules of an instance, by the structures that are one variable in them. This is no structure, or each
  // combination of structures that have labels and phrases (section 3.4).
  void add_rules(std::span<const Alternative> rules) {
    std::map<Combination, Edge> found;
    for (const Alternative& rule : rules) {
      combine(rule);
      for (const Combination& combination : combinations_) {
        if (!rewrite(rule, combination)) continue;
        Edge& edge = found[combination];
        if (edge.alternatives.empty()) edge.tails = tails_;
        const bool same = std::ranges::equal(target_, rule.target);
        edge.alternatives.push_back(same ? rule : glue_.retarget(rule, target_));
      }
    }
    std::uint8_t used = kNode | kTwin;
    for (const Member& member : members_)
      if (!member.variable) used &= uses({member.word, member.word + 1});
    for (auto& [key, edge] : found)
      edges_.push_back({std::move(edge.tails), glue_.keep(std::move(edge.alternatives)), used});
  }

  // Fills combinations_: the empty one first, then by size.
  void combine(const Alternative& rule) {
    combinations_.assign(1, {});
    if (!k_.options.augmented) return;
    Combination usable;
    for (std::uint32_t i = 0; i < rule.target.label_count; ++i) {
      const auto& range = k_.structures[rule.target.labels[i]];
      if (range && range->last < members_.size() && structure_node(*range) != kNoNode) usable.push_back(*range);
    }
    for (std::size_t from = 0; from < combinations_.size(); ++from) {
      for (const StructureRange range : usable) {
        if (!combinations_[from].empty() && range.first <= combinations_[from].back().last) continue;
        if (combinations_.size() > k_.options.max_combinations) {
          capped_ = true;
          return;
        }
        Combination more = combinations_[from];
        more.push_back(range);
        combinations_.push_back(std::move(more));
      }
    }
  }

  // Fills gappy_: the hierarchical phrases on a span. Their variables stand for words, subtrees and structures in it.
  void find_gappy(Span span) {
    gappy_.clear();
    if (!k_.options.augmented || units_.words(span).size() > k_.span_limit) return;
    walk_.visit(
        span, kNode | kTwin, [&](std::uint32_t word) { return uses({word, word + 1}); },
        [&](RuleTable::Node node, const std::vector<NodeId>& gaps, std::uint8_t used) {
          if (const auto found = rules(node, x_); !found.empty()) gappy_.push_back({gaps, found, used});
        });
  }

  // The smaller ones first, for the larger may hold them.
  void add_structures() {
    const auto size = static_cast<std::uint32_t>(members_.size());
    for (std::uint32_t more = 1; more + 1 < size && more < kLongestStructure; ++more)
      for (std::uint32_t first = 0; first + more < size; ++first) add_structure({first, first + more});
  }

  // The node of a structure, or kNoNode if it has no phrases.
  NodeId structure_node(StructureRange range) const {
    const auto at = structure_nodes_.find(range);
    return at == structure_nodes_.end() ? kNoNode : at->second;
  }

  void add_structure(StructureRange range) {
    const Span span = {relations_.covered(head_, members_[range.first].word).begin,
                       relations_.covered(head_, members_[range.last].word).end};
    std::vector<Alternative> made;
    for (const Alternative& phrase : phrases(span)) {
      std::vector<FeatureValue> features = {{k_.word_penalty, static_cast<float>(phrase.target.size)},
                                            {k_.rule_penalty, 1.0f}};
      const auto values = table_.features(phrase.rule);
      for (std::size_t f = 0; f < values.size(); ++f) features.push_back({k_.phrase_features[f], values[f]});
      made.push_back(glue_.make(LocalKind::phrase, {phrase.target.begin(), phrase.target.end()}, std::move(features),
                                {}, phrase.rule));
      made.back().estimate = phrase.estimate;
      made.back().target.affiliations = phrase.target.affiliations;
      made.back().target.prepared = phrase.target.prepared;
    }
    find_gappy(span);
    if (made.empty() && gappy_.empty()) return;
    std::ranges::stable_sort(made,
                             [](const Alternative& a, const Alternative& b) { return a.priority() > b.priority(); });
    const NodeId node = made_.add_node(units_.words(span), x_);
    if (!made.empty()) made_.add_edge(node, {}, glue_.keep(std::move(made)), kInside, uses(span));
    add_edges(node, gappy_);
    walk_.add(span, node);
    structure_nodes_[range] = node;
  }

  // Fills tails_ and target_ for a rule in which each structure of `combination` is one variable. False if the target
  // side does not have its variables side by side.
  bool rewrite(const Alternative& rule, const Combination& combination) {
    tails_.clear();
    new_index_.clear();
    auto next = combination.begin();
    for (std::uint32_t m = 0; m < members_.size(); ++m) {
      if (next != combination.end() && m > next->last) ++next;
      const bool inside = next != combination.end() && m >= next->first;
      if (!members_[m].variable) continue;
      if (inside) {
        if (m == next->first) tails_.push_back(structure_node(*next));
      } else {
        tails_.push_back(members_[m].node);
      }
      new_index_.push_back(static_cast<std::int32_t>(tails_.size()));  // from 1
    }
    target_.clear();
    std::size_t variables = 0;
    for (const std::int32_t symbol : rule.target) {
      const std::int32_t made = symbol >= 0 ? symbol : -new_index_[static_cast<std::size_t>(-1 - symbol)];
      if (made < 0) {
        if (!target_.empty() && target_.back() == made) continue;
        if (std::ranges::find(target_, made) != target_.end()) return false;
        ++variables;
      }
      target_.push_back(made);
    }
    return variables == tails_.size();
  }

  // The members in source order. Any structure with phrases may replace its members. A node for each prefix of the
  // members shares what combinations have in common, so there are no more edges than structures and members.
  void add_pseudo(std::uint8_t uses) {
    const auto last = static_cast<std::uint32_t>(members_.size() - 1);
    const std::vector<FeatureValue> counted = {{k_.pseudo, 1.0f}};
    tails_.clear();
    target_.clear();
    for (const Member& member : members_) {
      tails_.push_back(member.node);
      target_.push_back(-static_cast<std::int32_t>(tails_.size()));
    }
    if (structure_nodes_.empty() || !k_.options.pseudo_structures) {
      edges_.push_back({tails_, glue_.add(LocalKind::pseudo, target_, counted), uses});
      return;
    }
    const auto alone = glue_.add(LocalKind::pseudo, {-1}, {}), joined = glue_.add(LocalKind::pseudo, {-1, -2}, {});
    const auto whole = glue_.add(LocalKind::pseudo, {-1, -2}, counted);
    std::vector<NodeId> prefix = {members_[0].node};  // by its last member
    for (std::uint32_t end = 1; end <= last; ++end) {
      const auto piece = [&](std::uint32_t first) {
        return first == end ? members_[end].node : structure_node({first, end});
      };
      if (end < last) {
        const std::uint32_t begin = relations_.covered(head_, members_[0].word).begin;
        const Span words = units_.words({begin, relations_.covered(head_, members_[end].word).end});
        prefix.push_back(made_.add_node(words, x_, (uses & kTwinTails) != 0));
        made_.keep_apart(prefix[end]);
        const NodeId first = piece(0);
        if (first != kNoNode) made_.add_edge(prefix[end], std::span(&first, 1), alone, kInside);
      }
      for (std::uint32_t m = end < kLongestStructure ? 1 : end - kLongestStructure + 1; m <= end; ++m) {
        const NodeId tails[] = {prefix[m - 1], piece(m)};
        if (tails[1] == kNoNode) continue;
        if (end < last) {
          made_.add_edge(prefix[end], tails, joined, kInside);
        } else {
          edges_.push_back({std::vector(std::begin(tails), std::end(tails)), whole, uses});
        }
      }
    }
  }

  // The trees of the sentence side by side.
  NodeId add_sentence() {
    NodeId sentence = kNoNode;
    for (const std::uint32_t root : relations_.roots()) {
      const NodeId tails[] = {sentence, subtree_nodes_[root]};
      const NodeId node = made_.add_node(units_.words({0, relations_.subtree(root).end}), kSentence);
      if (sentence == kNoNode) {
        made_.add_edge(node, std::span(tails).subspan(1), glue_.first(), kBegins);
      } else {
        made_.add_edge(node, tails, glue_.glue(), kInside);
      }
      sentence = node;
    }
    return sentence;
  }

  static constexpr Symbol kSentence = Symbols::kNone;  // the label of S: no rule of a table can use it

  const Knowledge& k_;
  const RuleTable& table_;
  const Dependency& tree_;
  const Input& input_;
  RuleCache& cache_;
  Glue& glue_;
  TranslationForestBuilder out_;
  PreferredForest made_;
  std::vector<std::int32_t> heads_;  // by word
  Symbol x_ = 0;
  // Of the tree at hand. What follows calls its units words.
  Units units_;
  Relations relations_;
  std::vector<std::uint8_t> in_preferred_;                                // by word: some span that is preferred has it
  std::vector<Symbol> words_, word_tags_, subtree_tags_, subtree_words_;  // by word, of the table
  std::vector<NodeId> word_nodes_, subtree_nodes_;                        // by word; the same for a leaf
  GappyWalk<NodeId> walk_;
  // Of the relation at hand.
  std::uint32_t head_ = 0;
  std::vector<Member> members_;
  std::vector<Matched> edges_;
  std::map<StructureRange, NodeId> structure_nodes_;  // of those with phrases
  // Of the span at hand.
  std::vector<Matched> gappy_;
  bool capped_ = false;
  // Of the rule at hand.
  std::vector<Combination> combinations_;
  std::vector<NodeId> tails_;
  std::vector<std::int32_t> target_, new_index_;
};

}  // namespace

HeadDependentsMatcher::HeadDependentsMatcher(FeatureSet& features, std::shared_ptr<const HeadTable> heads,
                                             const HeadDependentsMatchOptions& options, const ChartOptions& chart)
    : table_(features.shared_table()),
      heads_(std::move(heads)),
      options_(options),
      span_limit_(chart.span_limit),
      chart_(table_, chart),
      word_penalty_(features.space().word_penalty()),
      rule_penalty_(features.space().rule_penalty()),
      pseudo_(features.space().add("pseudo")) {
  if (options.dependency_trees == 0) throw std::invalid_argument("dependency_trees is 0; expected at least 1");
  if (options.dependency_trees > 1) parse_ = features.space().add("parse");
  if (options.augmented) {
    for (std::size_t f = 0; f < table_->dense_features(); ++f) {
      const std::string name(table_->feature_names().text(static_cast<Symbol>(f)));
      phrase_features_.push_back(features.space().add("phrase_" + name));
    }
  }
  constexpr std::size_t kLongest = 255;  // symbols of a rule's side
  for (std::size_t place = 0; place < kLongest; ++place)
    head_places_.push_back(table_->labels().find(head_place_label(place)));
  for (Symbol label = 0; label < table_->labels().size(); ++label)
    structures_.push_back(parse_structure_label(table_->labels().text(label)));
}

TranslationForest HeadDependentsMatcher::match(const Input& input, RuleCache& cache, Glue& glue) const {
  if (input.dependency != nullptr) return match(input, *input.dependency, cache, glue);
  if (input.forest == nullptr || !input.forest->parsed()) return match_phrases(input, "without a tree", cache, glue);
  if (heads_ == nullptr) throw std::invalid_argument("a forest needs a head table to become a dependency tree");
  if (options_.dependency_trees > 1) return match_several(input, cache, glue);
  return match(input, to_dependency(viterbi_tree(*input.forest), *heads_), cache, glue);
}

// Different constituents may give one dependency tree, which then has the probability of the best of them.
TranslationForest HeadDependentsMatcher::match_several(const Input& input, RuleCache& cache, Glue& glue) const {
  const std::size_t wanted = options_.dependency_trees;
  std::vector<Dependency> trees;
  std::vector<TranslationForest> forests;
  std::vector<float> values;
  for (const auto& [score, tree] : kbest_trees(conditional(*input.forest), wanted * kTreesForEach)) {
    Dependency made = to_dependency(tree, *heads_);
    if (std::ranges::find(trees, made) != trees.end()) continue;
    forests.push_back(match(input, made, cache, glue));
    values.push_back(static_cast<float>(score));
    trees.push_back(std::move(made));
    if (trees.size() == wanted) break;
  }
  return unite_trees(forests, values, parse_);
}

TranslationForest HeadDependentsMatcher::match_phrases(const Input& input, const std::string& why, RuleCache& cache,
                                                       Glue& glue) const {
  TranslationForest forest = chart_.match(input, cache, glue);
  forest.notes.push_back(why + ": translated with phrases and glue");
  return forest;
}

TranslationForest HeadDependentsMatcher::match(const Input& input, const Dependency& tree, RuleCache& cache,
                                               Glue& glue) const {
  if (tree.tags().empty()) return match_phrases(input, "a tree without tags", cache, glue);
  if (tree.size() != input.words.size()) throw std::invalid_argument("the forest's best tree does not cover its words");
  const Knowledge knowledge = {*table_, options_,         span_limit_,  word_penalty_, rule_penalty_,
                               pseudo_, phrase_features_, head_places_, structures_};
  return Sentence(knowledge, tree, input, cache, glue).run();
}

}  // namespace treeglot
