#include "rules/tree_pair.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "rules/frontier.h"
#include "rules/rule_writer.h"

namespace treeglot {
namespace {

// Numbers of labels: X, the trees' labels, then the tokens of trees, then joint labels as they come.
struct LabelLayout {
  std::uint32_t labels;
  Symbol single(Symbol label) const { return 1 + label; }
  Symbol open(Symbol label) const { return 1 + labels + label; }
  Symbol close() const { return 1 + 2 * labels; }
  Symbol symbol() const { return 2 + 2 * labels; }
  Symbol joint(Symbol key) const { return 3 + 2 * labels + key; }
};

// One side's tree: its brackets, and those of them that rules may begin and end at.
struct Side {
  std::vector<Bracket> brackets;        // labels in the common numbering
  std::vector<std::uint32_t> end;       // by bracket: the first after it that it does not hold
  std::vector<std::uint32_t> nodes;     // brackets; a unary chain offers one for each label, the topmost
  std::vector<std::uint32_t> node_end;  // by node: the first after it that it does not hold

  template <class Number>
  void assign(std::span<const Bracket> given, const Number& number) {
    brackets.assign(given.begin(), given.end());
    for (Bracket& bracket : brackets) bracket.label = number(bracket.label);
    end.assign(brackets.size(), static_cast<std::uint32_t>(brackets.size()));
    nodes.clear();
    std::vector<std::uint32_t> open;
    for (std::uint32_t b = 0; b < brackets.size(); ++b) {
      while (!open.empty() && brackets[open.back()].span.end <= brackets[b].span.begin) {
        end[open.back()] = b;
        open.pop_back();
      }
      bool again = false;
      for (std::size_t above = open.size(); above-- > 0 && brackets[open[above]].span == brackets[b].span;)
        again = again || brackets[open[above]].label == brackets[b].label;
      if (!again) nodes.push_back(b);
      open.push_back(b);
    }
    node_end.clear();
    for (const std::uint32_t node : nodes) {
      const auto after = std::ranges::lower_bound(nodes, end[node]);
      node_end.push_back(static_cast<std::uint32_t>(after - nodes.begin()));
    }
  }
  const Bracket& node(std::uint32_t n) const { return brackets[nodes[n]]; }
  // Whether node `a` is `b` or below it.
  bool inside(std::uint32_t a, std::uint32_t b) const { return b <= a && a < node_end[b]; }
};

struct NodePair {
  std::uint32_t source, target;  // nodes
  Symbol label;                  // the joint label: first of its own chunk, then of all
};

}  // namespace

struct TreePairExtractor::PairTrees {
  bool usable = false;
  Frontier frontier;
  Side source, target;
  std::vector<NodePair> pairs;               // by source node, then target node
  std::vector<std::uint32_t> first_of_node;  // by source node, and one more: where its pairs begin
};

namespace {

using PairTrees = TreePairExtractor::PairTrees;

class PairExtractor {
 public:
  PairExtractor(const Bitext& bitext, const TreePairOptions& options, LabelLayout layout)
      : bitext_(bitext), options_(options), layout_(layout) {}

  void extract(std::size_t pair, const PairTrees& trees, Occurrences& out, TreePairCounts& counts) {
    trees_ = &trees;
    writer_.assign({bitext_.source(pair),
                    bitext_.target(pair),
                    bitext_.links(pair),
                    &trees.frontier,
                    {},
                    {},
                    bitext_.weights(pair),
                    bitext_.share(pair)});
    counts.nodes += trees.pairs.size();
    for (const NodePair& root : trees.pairs) extract_root(root, out, counts);
  }

 private:
  using Count = double;  // of rules: may be beyond all bounds

  void extract_root(const NodePair& root, Occurrences& out, TreePairCounts& counts) {
    root_ = &root;
    span_ = trees_->source.node(root.source).span;
    find_holes();
    const std::uint32_t most = std::min<std::uint32_t>(options_.max_frontier, span_.size());
    count_covers(most);
    // Rules with up to `limit` symbols, as many as may be.
    Count rules = 0, all = 0;
    limit_ = 0;
    for (std::uint32_t k = 1; k <= most; ++k) {
      all += covers(0, k);
      if (all <= options_.max_rules) {
        limit_ = k;
        rules = all;
      }
    }
    if (all > options_.max_rules) ++counts.limited;
    if (rules == 0) return;
    // Each pair of subtrees counts 1, shared equally among the rules taken from it.
    const std::uint32_t units = count_units(1.0 / rules);
    counts.rules += static_cast<std::uint64_t>(rules);
    enumerate(units, out);
  }

  // The pairs of nodes that may be taken out of the root, by where they begin on the source side.
  void find_holes() {
    const std::uint32_t first = trees_->first_of_node[root_->source];
    const std::uint32_t last = trees_->first_of_node[trees_->source.node_end[root_->source]];
    holes_.clear();
    for (std::uint32_t h = first; h < last; ++h) {
      const NodePair& hole = trees_->pairs[h];
      const bool same = hole.source == root_->source && hole.target == root_->target;
      if (!same && trees_->target.inside(hole.target, root_->target)) holes_.push_back(h);
    }
    std::ranges::stable_sort(holes_, {}, [&](std::uint32_t h) { return begin_of(h); });
    first_hole_.assign(span_.size() + 1, static_cast<std::uint32_t>(holes_.size()));
    for (std::size_t h = holes_.size(); h-- > 0;)
      first_hole_[begin_of(holes_[h]) - span_.begin] = static_cast<std::uint32_t>(h);
    for (std::size_t at = span_.size(); at-- > 0;) first_hole_[at] = std::min(first_hole_[at], first_hole_[at + 1]);
  }
  std::uint32_t begin_of(std::uint32_t h) const { return trees_->source.node(trees_->pairs[h].source).span.begin; }
  std::uint32_t end_of(std::uint32_t h) const { return trees_->source.node(trees_->pairs[h].source).span.end; }

  // covers(p, k): the ways to cover the rest of the span from p on with exactly k words and holes.
  Count& covers(std::size_t at, std::uint32_t symbols) { return covers_[at * width_ + symbols]; }
  void count_covers(std::uint32_t most) {
    width_ = most + 1;
    covers_.assign((span_.size() + 1) * width_, 0);
    least_.assign(span_.size() + 1, 0);
    covers(span_.size(), 0) = 1;
    for (std::size_t at = span_.size(); at-- > 0;) {
      std::uint32_t least = least_[at + 1] + 1;
      for (std::uint32_t k = 1; k <= most; ++k) covers(at, k) = covers(at + 1, k - 1);
      for (std::uint32_t h = first_hole_[at]; h < first_hole_[at + 1]; ++h) {
        const std::size_t end = end_of(holes_[h]) - span_.begin;
        least = std::min(least, least_[end] + 1);
        for (std::uint32_t k = 1; k <= most; ++k) covers(at, k) += covers(end, k - 1);
      }
      least_[at] = least;
    }
  }

  // Depth first from left to right; the stack holds the choice at each place: a hole, or the word itself.
  void enumerate(std::uint32_t units, Occurrences& out) {
    struct Choice {
      std::uint32_t at;    // relative to the span
      std::uint32_t next;  // of the holes that begin there; kWord before them
    };
    std::vector<Choice> stack = {{0, kWord}};
    chosen_.clear();
    symbols_.clear();
    while (!stack.empty()) {
      Choice& choice = stack.back();
      if (symbols_.size() == stack.size()) symbols_.pop_back();  // what was chosen here before
      std::uint32_t to = span_.size() + 1, symbol = kWord;
      if (choice.next == kWord) {
        to = choice.at + 1;
        choice.next = first_hole_[choice.at];
      } else if (choice.next < first_hole_[choice.at + 1]) {
        symbol = holes_[choice.next++];
        to = end_of(symbol) - span_.begin;
      } else {
        stack.pop_back();
        continue;
      }
      const auto used = static_cast<std::uint32_t>(stack.size());
      if (used + least_[to] > limit_) continue;
      symbols_.push_back(symbol);
      if (to < span_.size()) {
        stack.push_back({to, kWord});
        continue;
      }
      give(units, out);
    }
  }

  void give(std::uint32_t units, Occurrences& out) {
    chosen_.clear();
    variables_.clear();
    for (const std::uint32_t symbol : symbols_) {
      if (symbol == kWord) continue;
      const NodePair& hole = trees_->pairs[symbol];
      chosen_.push_back(symbol);
      variables_.push_back({trees_->source.node(hole.source).span, trees_->target.node(hole.target).span, hole.label});
    }
    writer_.write(root_->label, {span_, trees_->target.node(root_->target).span}, variables_);

    const auto note = [&](const NodePair& pair) {
      writer_.note(layout_.single(trees_->source.node(pair.source).label));
      writer_.note(layout_.single(trees_->target.node(pair.target).label));
    };
    note(*root_);
    for (const std::uint32_t hole : chosen_) note(trees_->pairs[hole]);
    note_tree(trees_->source, root_->source, &NodePair::source);
    note_tree(trees_->target, root_->target, &NodePair::target);
    out.add(writer_.rule(), units);
  }

  // The fragment between the root and the variables: brackets, and * for each symbol.
  void note_tree(const Side& side, std::uint32_t root, std::uint32_t NodePair::* node) {
    stops_.clear();
    for (const std::uint32_t hole : chosen_) stops_.push_back(side.nodes[trees_->pairs[hole].*node]);
    open_.clear();
    const std::uint32_t last = side.end[side.nodes[root]];
    for (std::uint32_t b = side.nodes[root]; b < last;) {
      if (std::ranges::find(stops_, b) != stops_.end()) {
        writer_.note(layout_.symbol());
        b = side.end[b];
      } else {
        writer_.note(layout_.open(side.brackets[b].label));
        open_.push_back(side.end[b]);
        if (side.end[b] == b + 1) writer_.note(layout_.symbol());
        ++b;
      }
      for (; !open_.empty() && open_.back() == b; open_.pop_back()) writer_.note(layout_.close());
    }
  }

  static constexpr std::uint32_t kWord = 0xffffffffu;

  const Bitext& bitext_;
  const TreePairOptions& options_;
  LabelLayout layout_;
  // Of the pair at hand.
  const PairTrees* trees_ = nullptr;
  RuleWriter writer_;
  // Of the root at hand.
  const NodePair* root_ = nullptr;
  Span span_;
  std::vector<std::uint32_t> holes_, first_hole_, least_;
  std::vector<Count> covers_;
  std::size_t width_ = 0;
  std::uint32_t limit_ = 0;
  // Of the rule at hand.
  std::vector<std::uint32_t> symbols_, chosen_, stops_, open_;
  std::vector<RuleVariable> variables_;
};

std::string joint_key(Symbol source, Symbol target) {
  std::string key(2 * sizeof(Symbol), '\0');
  std::memcpy(key.data(), &source, sizeof source);
  std::memcpy(key.data() + sizeof source, &target, sizeof target);
  return key;
}

}  // namespace

TreePairExtractor::TreePairExtractor(std::shared_ptr<const Bitext> bitext, std::shared_ptr<const TreeBatch> source,
                                     std::shared_ptr<const TreeBatch> target, const TreePairOptions& options)
    : CountingExtractor(std::move(bitext)),
      source_(std::move(source)),
      target_(std::move(target)),
      options_(options),
      labels_(*source_, *target_) {
  this->bitext().check_size(source_->size(), "source trees");
  this->bitext().check_size(target_->size(), "target trees");
  if (options.max_frontier == 0)
    throw std::invalid_argument("max_frontier is 0: a rule has at least one source symbol");
}

TreePairExtractor::~TreePairExtractor() = default;

PairTrees TreePairExtractor::find_pairs(std::size_t pair, Symbols& joint) const {
  PairTrees out;
  const auto links = bitext().links(pair);
  if (links.empty() || (*source_)[pair].empty() || (*target_)[pair].empty()) return out;
  out.usable = true;
  out.source.assign((*source_)[pair], [&](Symbol l) { return labels_.source(l); });
  out.target.assign((*target_)[pair], [&](Symbol l) { return labels_.target(l); });
  out.frontier.assign(links, bitext().source(pair).size(), bitext().target(pair).size());
  for (std::uint32_t s = 0; s < out.source.nodes.size(); ++s) {
    out.first_of_node.push_back(static_cast<std::uint32_t>(out.pairs.size()));
    const Bracket& source = out.source.node(s);
    const Span tight = out.frontier.tight_target(source.span);
    if (tight.empty()) continue;
    const std::uint32_t inside = out.frontier.source_links(source.span);
    for (std::uint32_t t = 0; t < out.target.nodes.size(); ++t) {
      const Bracket& target = out.target.node(t);
      if (!target.span.contains(tight) || out.frontier.target_links(target.span) != inside) continue;
      out.pairs.push_back({s, t, joint.intern(joint_key(source.label, target.label))});
    }
  }
  out.first_of_node.push_back(static_cast<std::uint32_t>(out.pairs.size()));
  return out;
}

void TreePairExtractor::prepare(std::size_t begin, std::size_t end, unsigned threads) {
  const LabelLayout layout{static_cast<std::uint32_t>(labels_.size())};
  first_ = begin;
  trees_.clear();
  using Found = std::pair<Symbols, std::vector<PairTrees>>;
  map_chunks(
      begin, end, threads,
      [&](std::size_t first, std::size_t last) {
        Found out;
        for (std::size_t pair = first; pair < last; ++pair) out.second.push_back(find_pairs(pair, out.first));
        return out;
      },
      [&](std::size_t, std::size_t, Found&& found) {
        std::vector<Symbol> number;
        for (Symbol key = 0; key < found.first.size(); ++key)
          number.push_back(layout.joint(joint_.intern(found.first.text(key))));
        for (PairTrees& trees : found.second) {
          for (NodePair& pair : trees.pairs) pair.label = number[pair.label];
          trees_.push_back(std::move(trees));
        }
      });
}

TreePairExtractor::Worker TreePairExtractor::worker() const {
  const LabelLayout layout{static_cast<std::uint32_t>(labels_.size())};
  return [this, extractor = PairExtractor(bitext(), options_, layout)](std::size_t pair, Occurrences& out,
                                                                       TreePairCounts& counts) mutable {
    ++counts.pairs;
    if (const PairTrees& trees = trees_[pair - first_]; trees.usable) {
      extractor.extract(pair, trees, out, counts);
    } else {
      ++(bitext().links(pair).empty() ? counts.unlinked : counts.unparsed);
    }
  };
}

Strings TreePairExtractor::labels() const {
  Strings out;
  out.append("X");
  const auto labels = static_cast<Symbol>(labels_.size());
  for (Symbol label = 0; label < labels; ++label) out.append(labels_.escaped(label));
  for (Symbol label = 0; label < labels; ++label) out.append("(" + std::string(labels_.escaped(label)));
  out.append(")");
  out.append("*");
  for (Symbol key = 0; key < joint_.size(); ++key) {
    Symbol source, target;
    std::memcpy(&source, joint_.text(key).data(), sizeof source);
    std::memcpy(&target, joint_.text(key).data() + sizeof source, sizeof target);
    out.append(std::string(labels_.escaped(source)) + "~" + std::string(labels_.escaped(target)));
  }
  return out;
}

}  // namespace treeglot
