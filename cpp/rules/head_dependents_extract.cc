#include "rules/head_dependents_extract.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "rules/frontier.h"
#include "rules/gappy.h"
#include "rules/rule_writer.h"
#include "syntax/dependency_checks.h"

namespace treeglot {
namespace {

class PairExtractor {
 public:
  PairExtractor(const Bitext& bitext, const SourceTrees& trees, const HeadDependentsOptions& options)
      : bitext_(bitext), trees_(trees), options_(options) {}

  void extract(std::size_t pair, Occurrences& out, HeadDependentsCounts& counts);

 private:
  // A member of the relation at hand.
  struct Member {
    std::uint32_t word;
    bool head, leaf;
    Span target;          // its words on the target side, empty if it has none
    bool variable;        // in the rule at hand
    std::uint32_t place;  // of a variable among the rule's variables
    Span extended;        // its target words in the variant at hand
  };
  // Unaligned target words side by side, between two members on the target side.
  struct Gap {
    std::uint32_t left, right;  // places in by_target_, or kNobody: a word there is linked to something else
    std::uint32_t words;
    bool open;                 // the ways to share it out differ: one neighbour is words, the other is not
    std::uint32_t left_words;  // that go to the left in the variant at hand
  };
  static constexpr std::uint32_t kNobody = ~0u;

  void give_phrases(Occurrences& out, HeadDependentsCounts& counts);
  void give_gappy(Occurrences& out, HeadDependentsCounts& counts);
  void read_relation(std::uint32_t head);
  void find_gaps();
  void find_structures(std::uint32_t head);
  std::uint64_t open_gaps();
  void give_rules(Occurrences& out, HeadDependentsCounts& counts);
  void put_source(bool tags);
  void put_labels();
  bool next_variant();
  void give_variant(std::uint32_t units, Occurrences& out);

  const Bitext& bitext_;
  const SourceTrees& trees_;
  const HeadDependentsOptions& options_;

  // Of the pair at hand.
  std::span<const Symbol> source_words_, tags_;
  Frontier frontier_;
  Relations relations_;
  Annotation annotation_;
  RuleWriter writer_;
  std::vector<PhrasePair> phrases_;
  GappyPhrases gappy_;
  // Of the relation at hand.
  std::vector<Member> members_;
  std::vector<std::uint32_t> by_target_;  // those with target words
  std::vector<Gap> gaps_;
  std::vector<StructureRange> structures_;
  std::uint32_t head_at_ = 0;
};

void PairExtractor::give_phrases(Occurrences& out, HeadDependentsCounts& counts) {
  phrases_.clear();
  append_phrase_pairs(frontier_, {options_.max_phrase, options_.max_phrase, kNoLimit, kNoLimit}, phrases_);
  for (const PhrasePair& phrase : phrases_) {
    writer_.write(0, phrase, {});
    out.add(writer_.rule(), kCountUnit);
  }
  counts.phrases += phrases_.size();
}

// Hierarchical phrases whose source sides, and whose variables, are words, subtrees or structures.
void PairExtractor::give_gappy(Occurrences& out, HeadDependentsCounts& counts) {
  if (options_.max_nonterminals == 0) return;
  gappy_.assign(frontier_, {options_.max_span, options_.max_symbols, options_.max_nonterminals});
  const auto any = [](Span) { return true; };
  for (std::uint32_t head = 0; head < relations_.words(); ++head) {
    gappy_.add({head, head + 1}, any);
    const auto words = relations_.members(head);
    for (std::size_t first = 0; first + 1 < words.size(); ++first) {
      const std::uint32_t begin = relations_.covered(head, words[first]).begin;
      for (std::size_t last = first + 1; last < words.size(); ++last)
        gappy_.add({begin, relations_.covered(head, words[last]).end}, any);
    }
  }
  gappy_.visit([&](const PhrasePair& phrase, std::span<const RuleVariable> variables) {
    writer_.write(0, phrase, variables);
    out.add(writer_.rule(), kCountUnit);
    ++counts.gappy;
  });
}

void PairExtractor::read_relation(std::uint32_t head) {
  members_.clear();
  by_target_.clear();
  for (const std::uint32_t word : relations_.members(head)) {
    members_.push_back(
        {word, word == head, word != head && relations_.is_leaf(word), annotation_.span_of(head, word), false, 0, {}});
    if (!members_.back().target.empty()) by_target_.push_back(static_cast<std::uint32_t>(members_.size() - 1));
  }
  head_at_ = static_cast<std::uint32_t>(relations_.head_at(head));
  std::ranges::sort(by_target_, {}, [&](std::uint32_t m) { return members_[m].target.begin; });
}

void PairExtractor::find_gaps() {
  gaps_.clear();
  for (std::uint32_t right = 1; right < by_target_.size(); ++right) {
    const Span between = {members_[by_target_[right - 1]].target.end, members_[by_target_[right]].target.begin};
    if (between.empty()) continue;
    const std::uint32_t after = frontier_.target_loose_after(between.begin);
    if (after >= between.size()) {
      gaps_.push_back({right - 1, right, between.size(), false, 0});
      continue;
    }
    // Words that are linked to something else are not part of the rule. The words between two of them are not, either.
    if (after > 0) gaps_.push_back({right - 1, kNobody, after, false, 0});
    if (const std::uint32_t before = frontier_.target_loose_before(between.end); before > 0)
      gaps_.push_back({kNobody, right, before, false, 0});
  }
}

// Definition 5, for neighbouring members. What covers words that are no variables is left out rule by rule.
void PairExtractor::find_structures(std::uint32_t head) {
  structures_.clear();
  const auto size = static_cast<std::uint32_t>(members_.size());
  for (std::uint32_t first = 0; first + 1 < size; ++first) {
    const std::uint32_t begin = relations_.covered(head, members_[first].word).begin;
    for (std::uint32_t last = first + 1; last < size && last - first < kLongestStructure; ++last) {
      const Span covered = {begin, relations_.covered(head, members_[last].word).end};
      if (last - first + 1 == size) continue;
      if (!frontier_.tight_target(covered).empty()) structures_.push_back({first, last});
    }
  }
}

void PairExtractor::put_source(bool tags) {
  writer_.start_source();
  writer_.left_hand_side(trees_.head_place(head_at_));
  std::uint32_t variables = 0;
  for (Member& member : members_) {
    if (!member.variable) {
      writer_.source_words({member.word, member.word + 1}, !member.target.empty());
      continue;
    }
    member.place = variables++;
    const Symbol tag = tags_[member.word];
    writer_.source_variable(member.place, member.head || member.leaf ? trees_.word_tag(tag)
                                          : tags                     ? trees_.subtree_tag(tag)
                                                                     : trees_.subtree_word(source_words_[member.word]));
  }
}

// Notes the structures whose members are all variables.
void PairExtractor::put_labels() {
  for (const StructureRange range : structures_) {
    bool all = true;
    for (std::uint32_t m = range.first; m <= range.last; ++m) all = all && members_[m].variable;
    if (all) writer_.note(trees_.structure(range));
  }
}

// Counts up the ways to share out the open gaps; false after the last.
bool PairExtractor::next_variant() {
  for (Gap& gap : gaps_) {
    if (!gap.open) continue;
    if (gap.left_words < gap.words) {
      ++gap.left_words;
      return true;
    }
    gap.left_words = 0;
  }
  return false;
}

void PairExtractor::give_variant(std::uint32_t units, Occurrences& out) {
  for (const std::uint32_t m : by_target_) members_[m].extended = members_[m].target;
  for (const Gap& gap : gaps_) {
    if (gap.left != kNobody) members_[by_target_[gap.left]].extended.end += gap.left_words;
    if (gap.right != kNobody) members_[by_target_[gap.right]].extended.begin -= gap.words - gap.left_words;
  }
  writer_.start_target();
  for (const std::uint32_t m : by_target_) {
    const Member& member = members_[m];
    if (member.variable) {
      writer_.target_variable(member.place, 0);
    } else {
      writer_.target_words(member.extended);
    }
  }
  put_labels();
  out.add(writer_.rule(), units);
}

// Gives the number of ways to fill the gaps. Unaligned words between two variables are in neither. Those between words
// are always in the rule.
std::uint64_t PairExtractor::open_gaps() {
  std::uint64_t ways = 1;
  const auto words = [&](std::uint32_t at) { return at != kNobody && !members_[by_target_[at]].variable; };
  for (Gap& gap : gaps_) {
    gap.open = words(gap.left) != words(gap.right);
    gap.left_words = 0;
    if (gap.open) ways = std::min<std::uint64_t>(ways * (gap.words + 1), 1u << 30);
  }
  return ways;
}

// The rules of the relation at hand: heads, words with dependents and leaves each as words or, all of a kind at once,
// as tags. What is a variable anyway changes its label alone; a leaf without target words has nothing that could become
// a variable and stays a word. Kinds that the relation has not give no more rules.
void PairExtractor::give_rules(Occurrences& out, HeadDependentsCounts& counts) {
  const bool leaves = std::ranges::any_of(members_, [](const Member& m) { return m.leaf && !m.target.empty(); });
  const bool subtrees = std::ranges::any_of(members_, [](const Member& m) { return !m.head && !m.leaf; });
  for (int kinds = 0; kinds < 8; ++kinds) {
    const bool head = (kinds & 1) != 0, subtree_tags = (kinds & 2) != 0, leaf = (kinds & 4) != 0;
    if ((subtree_tags && !subtrees) || (leaf && !leaves)) continue;
    for (Member& member : members_)
      member.variable = member.head ? head : member.leaf ? leaf && !member.target.empty() : true;
    put_source(subtree_tags);
    std::uint64_t variants = open_gaps();
    if (variants > options_.max_variants) {
      variants = options_.max_variants;
      ++counts.capped;
    }
    const std::uint32_t units = count_units(1.0 / static_cast<double>(variants));
    for (std::uint64_t variant = 0; variant < variants; ++variant) {
      give_variant(units, out);
      next_variant();
    }
    counts.rules += variants;
  }
}

void PairExtractor::extract(std::size_t pair, Occurrences& out, HeadDependentsCounts& counts) {
  ++counts.pairs;
  source_words_ = bitext_.source(pair);
  const std::span<const Symbol> target = bitext_.target(pair);
  const std::span<const Link> links = bitext_.links(pair);
  if (links.empty()) {
    ++counts.unlinked;
    return;
  }
  frontier_.assign(links, source_words_.size(), target.size());
  writer_.assign({source_words_, target, links, &frontier_, {}, {}, bitext_.weights(pair), bitext_.share(pair)});
  give_phrases(out, counts);
  if (!trees_.usable(pair)) return;
  tags_ = trees_.tags(pair);
  relations_.assign(trees_.heads(pair));
  annotation_.assign(relations_, frontier_);
  give_gappy(out, counts);
  for (std::uint32_t word = 0; word < relations_.words(); ++word) {
    if (relations_.is_leaf(word)) continue;
    ++counts.relations;
    if (!annotation_.acceptable(relations_, word)) continue;
    ++counts.acceptable;
    read_relation(word);
    find_gaps();
    find_structures(word);
    give_rules(out, counts);
  }
}

}  // namespace

// Of all structures in relations of at most so many members.
static void append_structure_labels(std::size_t members, Strings& out) {
  for (std::uint32_t first = 0; first < members; ++first)
    for (std::uint32_t more = 0; more < kLongestStructure; ++more) out.append(structure_label({first, first + more}));
}

SourceTrees::SourceTrees(const Bitext& bitext, std::span<const Dependency* const> trees)
    : word_label_(bitext.source_words().size(), Symbols::kNone) {
  bitext.check_size(trees.size(), "source trees");
  Symbols tags;
  std::size_t most = 0;  // members of a relation
  std::vector<std::uint32_t> dependents;
  for (std::size_t pair = 0; pair < trees.size(); ++pair) {
    const Dependency& tree = *trees[pair];
    const auto words = bitext.source(pair);
    const auto refuse = [&](const std::string& problem) {
      throw std::invalid_argument("pair " + std::to_string(pair + 1) + ": " + problem);
    };
    if (tree.size() == 0) {
      unparsed_ += 1;
    } else if (tree.size() != words.size()) {
      refuse("the tree has " + std::to_string(tree.size()) + " words, the source sentence " +
             std::to_string(words.size()));
    } else if (tree.tags().empty()) {
      refuse("the tree has no tags");
    } else if (std::ranges::count(tree.heads(), Dependency::kNoHead) > 0 || !cycles(tree.heads()).empty()) {
      broken_ += 1;
    } else {
      const Projectivised made = projectivise(tree.heads());
      lifted_ += made.lifts > 0 ? 1 : 0;
      lifts_ += made.lifts;
      heads_.insert(heads_.end(), made.heads.begin(), made.heads.end());
      dependents.assign(words.size(), 0);
      for (std::size_t word = 0; word < words.size(); ++word) {
        tags_.push_back(tags.intern(tree.tags()[word]));
        if (made.heads[word] < 0) continue;
        const auto head = static_cast<std::size_t>(made.heads[word]);
        word_label_[words[head]] = 0;  // numbered below
        most = std::max<std::size_t>(most, ++dependents[head] + 1);
      }
    }
    ends_.push_back(heads_.size());
  }
  labels_.append("X");
  for (std::size_t place = 0; place < most; ++place) labels_.append(head_place_label(place));
  const auto next = [&] { return static_cast<Symbol>(labels_.size()); };
  first_tag_ = next();
  tag_count_ = static_cast<Symbol>(tags.size());
  for (Symbol tag = 0; tag < tag_count_; ++tag) labels_.append(word_tag_label(tags.text(tag)));
  for (Symbol tag = 0; tag < tag_count_; ++tag) labels_.append(subtree_tag_label(tags.text(tag)));
  for (Symbol word = 0; word < word_label_.size(); ++word) {
    if (word_label_[word] == Symbols::kNone) continue;
    word_label_[word] = next();
    labels_.append(subtree_word_label(bitext.source_words()[word]));
  }
  first_structure_ = next();
  append_structure_labels(most, labels_);
}

void SourceTrees::append_counts(NamedCounts& counts) const {
  counts.insert(counts.end(), {{"unparsed", unparsed_}, {"broken", broken_}, {"lifted", lifted_}, {"lifts", lifts_}});
}

HeadDependentsExtractor::HeadDependentsExtractor(std::shared_ptr<const Bitext> bitext,
                                                 std::span<const Dependency* const> trees,
                                                 const HeadDependentsOptions& options)
    : CountingExtractor(std::move(bitext)), trees_(this->bitext(), trees), options_(options) {
  if (options.max_phrase == 0 || options.max_variants == 0)
    throw std::invalid_argument("max_phrase and max_variants are 1 or more");
}

NamedCounts HeadDependentsExtractor::counts() const {
  NamedCounts out = CountingExtractor::counts();
  trees_.append_counts(out);
  return out;
}

HeadDependentsExtractor::Worker HeadDependentsExtractor::worker() const {
  return work_of(PairExtractor(bitext(), trees_, options_));
}

}  // namespace treeglot
