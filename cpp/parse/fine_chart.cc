#include "parse/fine_chart.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace treeglot {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();
constexpr std::uint32_t kAbsent = 0xffffffffu;

using Lanes = double __attribute__((vector_size(32)));

// Σ a[h] · b[h], in four sums side by side: the same on every machine.
__attribute__((always_inline)) inline double dot(const double* a, const double* b, std::size_t n) {
  if (n == 1) return a[0] * b[0];
  if (n == 2) return a[0] * b[0] + a[1] * b[1];
  Lanes sum = {0.0, 0.0, 0.0, 0.0};
  std::size_t h = 0;
  for (; h + 4 <= n; h += 4) {
    Lanes x, y;
    std::memcpy(&x, a + h, sizeof x);
    std::memcpy(&y, b + h, sizeof y);
    sum += x * y;
  }
  double out = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  for (; h < n; ++h) out += a[h] * b[h];
  return out;
}

// The scores of a binary rule, and the values of its nodes. A head takes part in the sums below it, and children in
// those above.
struct InsideRule {
  const double *scores, *left, *right;
  std::size_t lefts, rights, heads;
  double weight;
  double* head;
};
struct OutsideRule {
  const double *scores, *left, *right;
  std::size_t lefts, rights, heads;
  double weight;
  const double* head;
  double *left_outside, *right_outside;
};

__attribute__((always_inline)) inline void add_inside(const InsideRule& rule) {
  double* __restrict const head = rule.head;
  for (std::size_t l = 0; l < rule.lefts; ++l) {
    if (rule.left[l] == 0.0) continue;
    const double weighted = rule.left[l] * rule.weight;
    for (std::size_t r = 0; r < rule.rights; ++r) {
      const double both = weighted * rule.right[r];
      if (both == 0.0) continue;
      const double* row = rule.scores + (l * rule.rights + r) * rule.heads;
      for (std::size_t h = 0; h < rule.heads; ++h) head[h] += both * row[h];
    }
  }
}

// Adds to the outside values of both children; the rule's posterior.
__attribute__((always_inline)) inline double add_outside(const OutsideRule& rule) {
  double posterior = 0.0;
  for (std::size_t l = 0; l < rule.lefts; ++l) {
    if (rule.left[l] == 0.0) continue;
    double sum = 0.0;
    for (std::size_t r = 0; r < rule.rights; ++r) {
      if (rule.right[r] == 0.0) continue;
      const double above = dot(rule.head, rule.scores + (l * rule.rights + r) * rule.heads, rule.heads) * rule.weight;
      sum += above * rule.right[r];
      rule.right_outside[r] += above * rule.left[l];
    }
    rule.left_outside[l] += sum;
    posterior += sum * rule.left[l];
  }
  return posterior;
}

// The same for one state or two of each label, without branches: the sums are in the same order.
template <std::size_t kLefts, std::size_t kRights, std::size_t kHeads>
__attribute__((always_inline)) inline void add_inside_small(const InsideRule& rule) {
  double head[kHeads];
  for (std::size_t h = 0; h < kHeads; ++h) head[h] = rule.head[h];
  for (std::size_t l = 0; l < kLefts; ++l) {
    const double weighted = rule.left[l] * rule.weight;
    for (std::size_t r = 0; r < kRights; ++r) {
      const double both = weighted * rule.right[r];
      for (std::size_t h = 0; h < kHeads; ++h) head[h] += both * rule.scores[(l * kRights + r) * kHeads + h];
    }
  }
  for (std::size_t h = 0; h < kHeads; ++h) rule.head[h] = head[h];
}

template <std::size_t kLefts, std::size_t kRights, std::size_t kHeads>
__attribute__((always_inline)) inline double add_outside_small(const OutsideRule& rule) {
  double posterior = 0.0;
  double right_outside[kRights];
  for (std::size_t r = 0; r < kRights; ++r) right_outside[r] = rule.right_outside[r];
  for (std::size_t l = 0; l < kLefts; ++l) {
    double sum = 0.0;
    for (std::size_t r = 0; r < kRights; ++r) {
      const double* row = rule.scores + (l * kRights + r) * kHeads;
      double above = rule.head[0] * row[0];
      if constexpr (kHeads == 2) above += rule.head[1] * row[1];
      above *= rule.weight;
      sum += above * rule.right[r];
      right_outside[r] += rule.right[r] == 0.0 ? 0.0 : above * rule.left[l];
    }
    rule.left_outside[l] += rule.left[l] == 0.0 ? 0.0 : sum;
    posterior += sum * rule.left[l];
  }
  for (std::size_t r = 0; r < kRights; ++r) rule.right_outside[r] = right_outside[r];
  return posterior;
}

using Pair = double __attribute__((vector_size(16), aligned(alignof(double)), may_alias));

__attribute__((always_inline)) inline Pair pair_at(const double* from) { return *reinterpret_cast<const Pair*>(from); }
__attribute__((always_inline)) inline Pair both(double value) { return Pair{value, value}; }

// The same for two states of each label: two sums side by side, each in the same order.
__attribute__((always_inline)) inline void add_inside_pairs(const InsideRule& rule) {
  const Pair left = pair_at(rule.left) * both(rule.weight), right = pair_at(rule.right);
  const Pair first = both(left[0]) * right, second = both(left[1]) * right;
  Pair head = pair_at(rule.head);
  head += both(first[0]) * pair_at(rule.scores);
  head += both(first[1]) * pair_at(rule.scores + 2);
  head += both(second[0]) * pair_at(rule.scores + 4);
  head += both(second[1]) * pair_at(rule.scores + 6);
  *reinterpret_cast<Pair*>(rule.head) = head;
}

__attribute__((always_inline)) inline double add_outside_pairs(const OutsideRule& rule) {
  const Pair none = both(0.0), weight = both(rule.weight);
  const Pair left = pair_at(rule.left), right = pair_at(rule.right), head = pair_at(rule.head);
  const auto above = [&](const double* scores) {  // by the right child's state
    const Pair a = pair_at(scores), b = pair_at(scores + 2);
    return (both(head[0]) * Pair{a[0], b[0]} + both(head[1]) * Pair{a[1], b[1]}) * weight;
  };
  const Pair first = above(rule.scores), second = above(rule.scores + 4);
  const Pair first_sum = first * right, second_sum = second * right;
  const Pair sum = Pair{first_sum[0], second_sum[0]} + Pair{first_sum[1], second_sum[1]};
  Pair right_outside = pair_at(rule.right_outside);
  right_outside += right == none ? none : first * both(left[0]);
  right_outside += right == none ? none : second * both(left[1]);
  *reinterpret_cast<Pair*>(rule.right_outside) = right_outside;
  *reinterpret_cast<Pair*>(rule.left_outside) = pair_at(rule.left_outside) + (left == none ? none : sum);
  const Pair posterior = sum * left;
  return posterior[0] + posterior[1];
}

// Numbers of shapes: below kAny they are three bits, each whether a label has two states.
constexpr std::uint32_t kPairs = 7, kAny = 8, kWide = 9;

std::uint32_t shape_of(std::size_t lefts, std::size_t rights, std::size_t heads) {
  if (lefts <= 2 && rights <= 2 && heads <= 2)
    return static_cast<std::uint32_t>((lefts - 1) * 4 + (rights - 1) * 2 + (heads - 1));
#if defined(__GNUC__) && defined(__x86_64__)
  if (heads >= 4 && __builtin_cpu_supports("avx2")) return kWide;
#endif
  return kAny;
}

#if defined(__GNUC__) && defined(__x86_64__)
__attribute__((target("avx2"))) void add_inside_wide(const InsideRule& rule) { add_inside(rule); }
__attribute__((target("avx2"))) double add_outside_wide(const OutsideRule& rule) { return add_outside(rule); }
#else
constexpr auto add_inside_wide = add_inside;
constexpr auto add_outside_wide = add_outside;
#endif

// The same rule, with the numbers of states of its labels.
template <class Rule>
__attribute__((always_inline)) inline Rule with_states(Rule rule, const Level& level, const ChartNode& head,
                                                       const ChartNode& left, const ChartNode& right) {
  rule.lefts = level.states[left.label];
  rule.rights = level.states[right.label];
  rule.heads = level.states[head.label];
  return rule;
}

__attribute__((noinline)) void add_inside(std::uint32_t shape, const InsideRule& rule) {
  switch (shape) {
    case 0: return add_inside_small<1, 1, 1>(rule);
    case 1: return add_inside_small<1, 1, 2>(rule);
    case 2: return add_inside_small<1, 2, 1>(rule);
    case 3: return add_inside_small<1, 2, 2>(rule);
    case 4: return add_inside_small<2, 1, 1>(rule);
    case 5: return add_inside_small<2, 1, 2>(rule);
    case 6: return add_inside_small<2, 2, 1>(rule);
    case kPairs: return add_inside_pairs(rule);
    case kWide: return add_inside_wide(rule);
    default: return add_inside(rule);
  }
}

__attribute__((noinline)) double add_outside(std::uint32_t shape, const OutsideRule& rule) {
  switch (shape) {
    case 0: return add_outside_small<1, 1, 1>(rule);
    case 1: return add_outside_small<1, 1, 2>(rule);
    case 2: return add_outside_small<1, 2, 1>(rule);
    case 3: return add_outside_small<1, 2, 2>(rule);
    case 4: return add_outside_small<2, 1, 1>(rule);
    case 5: return add_outside_small<2, 1, 2>(rule);
    case 6: return add_outside_small<2, 2, 1>(rule);
    case kPairs: return add_outside_pairs(rule);
    case kWide: return add_outside_wide(rule);
    default: return add_outside(rule);
  }
}

}  // namespace

FineGrammar::FineGrammar(const SplitGrammar& grammar, std::size_t level)
    : level_(&grammar.levels[level]), labels_(grammar.labels.size()), root_(grammar.root) {
  first_rule_.assign(labels_ * labels_ + 1, 0);
  for (const BinaryRule& rule : level_->binary) ++first_rule_[rule.left * labels_ + rule.right + 1];
  for (std::size_t pair = 0; pair < labels_ * labels_; ++pair) first_rule_[pair + 1] += first_rule_[pair];
  std::vector<std::uint32_t> next(first_rule_.begin(), first_rule_.end() - 1);
  rules_.resize(level_->binary.size());
  for (const BinaryRule& rule : level_->binary) {
    const std::uint32_t shape =
        shape_of(level_->states[rule.left], level_->states[rule.right], level_->states[rule.head]);
    rules_[next[rule.left * labels_ + rule.right]++] = {rule.head, shape, rule.at};
  }
  steps_.assign(labels_ * labels_, kNone);
  for (const UnaryRule& rule : level_->unary) steps_[rule.head * labels_ + rule.child] = rule.at;
  if (!level_->closed) sum_chains();
}

// Adds lower · upper, of children × middles and middles × heads.
static void add_product(const std::vector<double>& lower, const double* upper, std::size_t children,
                        std::size_t middles, std::size_t heads, std::vector<double>& out) {
  for (std::size_t c = 0; c < children; ++c)
    for (std::size_t m = 0; m < middles; ++m)
      for (std::size_t h = 0; h < heads; ++h) out[c * heads + h] += lower[c * middles + m] * upper[m * heads + h];
}

// U + U² + U³ + …, block by block, until a further step adds nothing that matters: cycles shrink with every turn.
void FineGrammar::sum_chains() {
  constexpr std::size_t kLongest = 1000;
  constexpr double kSmall = 1e-18;
  struct Block {
    Symbol head, child;
    std::vector<double> scores;
  };
  const auto states = [&](Symbol label) { return std::size_t{level_->states[label]}; };
  std::vector<Block> longer;
  for (const UnaryRule& rule : level_->unary) {
    const double* begin = level_->scores.data() + rule.at;
    longer.push_back({rule.head, rule.child, {begin, begin + states(rule.head) * states(rule.child)}});
  }
  chains_.assign(labels_ * labels_, kNone);
  std::vector<std::vector<const UnaryRule*>> by_child(labels_);
  for (const UnaryRule& rule : level_->unary) by_child[rule.child].push_back(&rule);
  std::vector<std::size_t> slot(labels_ * labels_, kNone);
  for (std::size_t length = 1; !longer.empty() && length < kLongest; ++length) {
    std::vector<Block> next;
    std::fill(slot.begin(), slot.end(), kNone);
    for (const Block& block : longer) {
      std::size_t& at = chains_[block.head * labels_ + block.child];
      if (at == kNone) {
        at = chain_scores_.size();
        chain_scores_.resize(at + block.scores.size(), 0.0);
      }
      for (std::size_t i = 0; i < block.scores.size(); ++i) chain_scores_[at + i] += block.scores[i];
      if (*std::max_element(block.scores.begin(), block.scores.end()) < kSmall) continue;
      for (const UnaryRule* rule : by_child[block.head]) {
        std::size_t& found = slot[rule->head * labels_ + block.child];
        if (found == kNone) {
          found = next.size();
          next.push_back({rule->head, block.child, std::vector<double>(states(rule->head) * states(block.child), 0.0)});
        }
        add_product(block.scores, level_->scores.data() + rule->at, states(block.child), states(block.head),
                    states(rule->head), next[found].scores);
      }
    }
    longer = std::move(next);
  }
}

// The labels of the states that a level's own are compared with: those of the coarser level, if there is one. States
// of a label are consecutive at every level, and so are the labels of ascending states.
static std::vector<std::uint32_t> labels_of_states(const Level& level) {
  const auto number =
      level.coarse.empty() ? level.total_states() : 1 + *std::max_element(level.coarse.begin(), level.coarse.end());
  std::vector<std::uint32_t> out(number);
  for (Symbol label = 0; label < level.states.size(); ++label) {
    for (std::uint32_t s = level.first[label]; s < level.first[label + 1]; ++s)
      out[level.coarse.empty() ? s : level.coarse[s]] = label;
  }
  return out;
}

// Of each state of a label, whether it is among the chosen ones.
static void append_allowed(const Level& level, Symbol label, const std::vector<std::uint8_t>& chosen,
                           std::vector<double>& out) {
  for (std::uint32_t s = level.first[label]; s < level.first[label + 1]; ++s)
    out.push_back(chosen[level.coarse.empty() ? s : level.coarse[s]] ? 1.0 : 0.0);
}

void FineChart::allow(const FineGrammar& grammar, const KeptStates& kept) {
  const Level& level = grammar.level();
  words_ = kept.words();
  grammar_ = &grammar;
  nodes_.clear();
  edges_.clear();
  used_ = 0;
  first_use_.assign(words_ * words_, 0);
  last_use_.assign(words_ * words_, 0);
  first_node_.assign(words_ * words_, 0);
  last_node_.assign(words_ * words_, 0);
  scale_.assign(words_ * words_, kNever);
  allowed_.clear();
  where_.assign(grammar.labels(), kAbsent);
  const std::vector<std::uint32_t> label_of = labels_of_states(level);
  std::vector<std::uint8_t> chosen(label_of.size(), 0);
  for (std::size_t length = 1; length <= words_; ++length) {
    for (std::size_t i = 0; i + length <= words_; ++i) {
      const auto states = kept(i, i + length);
      first_node_[cell(i, i + length)] = static_cast<std::uint32_t>(nodes_.size());
      for (const std::uint32_t s : states) chosen[s] = 1;
      for (std::size_t s = 0; s < states.size(); ++s) {
        const Symbol label = label_of[states[s]];
        if (s > 0 && label_of[states[s - 1]] == label) continue;
        nodes_.push_back({label, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i + length),
                          static_cast<std::uint32_t>(allowed_.size())});
        append_allowed(level, label, chosen, allowed_);
      }
      for (const std::uint32_t s : states) chosen[s] = 0;
      last_node_[cell(i, i + length)] = static_cast<std::uint32_t>(nodes_.size());
    }
  }
  for (std::vector<double>* values : {&below_, &inside_, &outside_, &above_}) values->assign(allowed_.size(), 0.0);
}

// Adds the rules from nodes of two cells to nodes of the cell at hand.
void FineChart::note_uses(const FineGrammar& grammar, std::size_t left_cell, std::size_t right_cell) {
  const std::uint32_t first_right = first_node_[right_cell], last_right = last_node_[right_cell];
  const ChartNode* const nodes = nodes_.data();
  const std::uint32_t* const where = where_.data();
  std::size_t used = used_;
  for (std::uint32_t l = first_node_[left_cell]; l < last_node_[left_cell]; ++l) {
    const FineGrammar::LeftRules rules = grammar.rules(nodes[l].label);
    if (uses_.size() < used + rules.number()) uses_.resize(2 * (used + rules.number()));  // a cell has a label once
    Use* const uses = uses_.data();
    for (std::uint32_t r = first_right; r < last_right; ++r) {
      // All are written, but the next one overwrites a rule whose head is not there: no branch depends on it.
      for (const FineGrammar::HeadRule& rule : rules.of(nodes[r].label)) {
        const std::uint32_t head = where[rule.head];
        uses[used] = {rule.at, head, l, r, rule.shape};
        used += head != kAbsent;
      }
    }
  }
  used_ = used;
}

// Fills below_ from the cells below a cell and gives their scale. Notes the rules for the way back.
double FineChart::inside_splits(const FineGrammar& grammar, std::size_t i, std::size_t j) {
  double reference = kNever;
  for (std::size_t k = i + 1; k < j; ++k) reference = std::max(reference, scale_[cell(i, k)] + scale_[cell(k, j)]);
  if (reference == kNever) return reference;
  first_use_[cell(i, j)] = used_;
  for (std::size_t k = i + 1; k < j; ++k) {
    const std::size_t left_cell = cell(i, k), right_cell = cell(k, j);
    if (scale_[left_cell] == kNever || scale_[right_cell] == kNever) continue;
    const std::size_t first = used_;
    note_uses(grammar, left_cell, right_cell);
    if (used_ == first) continue;
    const double weight = std::exp(scale_[left_cell] + scale_[right_cell] - reference);
    for (std::size_t u = first; u < used_; ++u) {
      const Use& use = uses_[u];
      const double* const scores = grammar.scores() + use.at;
      const ChartNode &head = nodes_[use.head], &left = nodes_[use.left], &right = nodes_[use.right];
      const InsideRule rule{scores, &inside_[left.at], &inside_[right.at], 2, 2, 2, weight, &below_[head.at]};
      if (use.shape == kPairs) {  // most of them are in level 1
        add_inside_pairs(rule);
      } else {
        add_inside(use.shape, with_states(rule, grammar.level(), head, left, right));
      }
    }
  }
  last_use_[cell(i, j)] = used_;
  return reference;
}

// Adds to inside_ what chains of unary rules make of below_.
void FineChart::inside_chains(const FineGrammar& grammar, std::uint32_t begin, std::uint32_t end) {
  const Level& level = grammar.level();
  for (std::uint32_t h = begin; h < end; ++h) {
    const ChartNode& head = nodes_[h];
    for (std::uint32_t c = begin; c < end; ++c) {
      const ChartNode& child = nodes_[c];
      const double* scores = grammar.chains(head.label, child.label);
      if (scores == nullptr) continue;
      const std::size_t heads = level.states[head.label];
      for (std::size_t s = 0; s < level.states[child.label]; ++s) {
        const double value = below_[child.at + s];
        if (value == 0.0) continue;
        for (std::size_t t = 0; t < heads; ++t)
          inside_[head.at + t] += value * scores[s * heads + t] * allowed_[head.at + t];
      }
    }
  }
}

bool FineChart::inside_cell(const FineGrammar& grammar, std::size_t i, std::size_t j, Symbol word) {
  const Level& level = grammar.level();
  const std::size_t here = cell(i, j);
  const std::uint32_t begin = first_node_[here], end = last_node_[here];
  if (begin == end) return false;
  for (std::uint32_t node = begin; node < end; ++node) where_[nodes_[node].label] = node;
  double reference = 0.0;
  if (j == i + 1) {
    for (std::uint32_t t = level.first_tag[word]; t < level.first_tag[word + 1]; ++t) {
      const LexicalRule& rule = level.tags[t];
      if (where_[rule.tag] == kAbsent) continue;
      const std::uint32_t at = nodes_[where_[rule.tag]].at;
      for (std::uint32_t h = 0; h < level.states[rule.tag]; ++h) below_[at + h] = level.scores[rule.at + h];
    }
  } else {
    reference = inside_splits(grammar, i, j);
  }
  const std::uint32_t values_begin = nodes_[begin].at;
  const std::uint32_t values_end = nodes_[end - 1].at + level.states[nodes_[end - 1].label];
  for (std::uint32_t v = values_begin; v < values_end; ++v) inside_[v] = below_[v] *= allowed_[v];
  inside_chains(grammar, begin, end);
  double greatest = 0.0;
  for (std::uint32_t v = values_begin; v < values_end; ++v) greatest = std::max(greatest, inside_[v]);
  for (std::uint32_t node = begin; node < end; ++node) where_[nodes_[node].label] = kAbsent;
  if (greatest == 0.0) return false;
  const double factor = 1.0 / greatest;
  for (std::uint32_t v = values_begin; v < values_end; ++v) {
    inside_[v] *= factor;
    below_[v] *= factor;
  }
  scale_[here] = reference + std::log(greatest);
  return true;
}

// above_: outside of the whole chain; outside_: of any place in it, as below_ and inside_ are the other way round.
void FineChart::outside_chains(const FineGrammar& grammar, std::uint32_t begin, std::uint32_t end) {
  const Level& level = grammar.level();
  for (std::uint32_t c = begin; c < end; ++c) {
    const ChartNode& child = nodes_[c];
    const std::size_t children = level.states[child.label];
    for (std::size_t s = 0; s < children; ++s) outside_[child.at + s] = above_[child.at + s] * allowed_[child.at + s];
    for (std::uint32_t h = begin; h < end; ++h) {
      const ChartNode& head = nodes_[h];
      const double* scores = grammar.chains(head.label, child.label);
      if (scores == nullptr) continue;
      const std::size_t heads = level.states[head.label];
      for (std::size_t s = 0; s < children; ++s)
        outside_[child.at + s] += allowed_[child.at + s] * dot(&above_[head.at], scores + s * heads, heads);
    }
  }
}

void FineChart::unary_edges(const FineGrammar& grammar, std::uint32_t h, std::uint32_t begin, std::uint32_t end) {
  const Level& level = grammar.level();
  const ChartNode& head = nodes_[h];
  const std::size_t heads = level.states[head.label];
  if (level.closed) {
    const double posterior = dot(&above_[head.at], &below_[head.at], heads);
    if (posterior > 0.0) edges_.push_back({h, h, ChartEdge::kNone, posterior});
  }
  for (std::uint32_t c = begin; c < end; ++c) {
    const ChartNode& child = nodes_[c];
    const double* scores = grammar.step(head.label, child.label);
    if (scores == nullptr) continue;
    // Where chains are summed up already, nothing unary is above a step nor below it.
    const double* lower = level.closed ? &below_[child.at] : &inside_[child.at];
    const double* upper = level.closed ? &above_[head.at] : &outside_[head.at];
    double posterior = 0.0;
    for (std::size_t s = 0; s < level.states[child.label]; ++s) {
      if (lower[s] != 0.0) posterior += lower[s] * dot(upper, scores + s * heads, heads);
    }
    if (posterior > 0.0) edges_.push_back({h, c, ChartEdge::kNone, posterior});
  }
}

void FineChart::outside_splits(const FineGrammar& grammar, std::size_t i, std::size_t j) {
  std::size_t split = 0;
  double weight = 0.0;
  for (std::size_t u = first_use_[cell(i, j)]; u < last_use_[cell(i, j)]; ++u) {
    const Use& use = uses_[u];
    const ChartNode &head = nodes_[use.head], &left = nodes_[use.left], &right = nodes_[use.right];
    if (left.end != split) {
      split = left.end;
      weight = std::exp(scale_[cell(i, split)] + scale_[cell(split, j)] - scale_[cell(i, j)]);
    }
    const OutsideRule rule{grammar.scores() + use.at, &inside_[left.at], &inside_[right.at], 2, 2, 2, weight,
                           &outside_[head.at],        &above_[left.at],  &above_[right.at]};
    const double posterior = use.shape == kPairs
                                 ? add_outside_pairs(rule)
                                 : add_outside(use.shape, with_states(rule, grammar.level(), head, left, right));
    if (posterior > 0.0) edges_.push_back({use.head, use.left, use.right, posterior});
  }
}

void FineChart::outside_cell(const FineGrammar& grammar, std::size_t i, std::size_t j) {
  const Level& level = grammar.level();
  const std::size_t here = cell(i, j);
  if (scale_[here] == kNever) return;
  const std::uint32_t begin = first_node_[here], end = last_node_[here];
  outside_chains(grammar, begin, end);
  for (std::uint32_t h = begin; h < end; ++h) {
    if (j == i + 1) {
      const double posterior = dot(&outside_[nodes_[h].at], &below_[nodes_[h].at], level.states[nodes_[h].label]);
      if (posterior > 0.0) edges_.push_back({h, ChartEdge::kNone, ChartEdge::kNone, posterior});
    }
    unary_edges(grammar, h, begin, end);
  }
  outside_splits(grammar, i, j);
}

Outcome FineChart::run(const FineGrammar& grammar, std::span<const Symbol> words, const KeptStates& kept,
                       const Limits& limits) {
  allow(grammar, kept);
  if (limits.too_large(bytes())) return Outcome::too_large;
  for (std::size_t length = 1; length <= words_; ++length) {
    for (std::size_t i = 0; i + length <= words_; ++i) {
      if (limits.late()) return Outcome::late;
      if (limits.too_large(bytes())) return Outcome::too_large;
      inside_cell(grammar, i, i + length, words[i]);
    }
  }
  std::uint32_t top = kAbsent;
  for (std::uint32_t node = cell_begin(0, words_); node < cell_end(0, words_); ++node) {
    if (nodes_[node].label == grammar.root()) top = node;
  }
  if (top == kAbsent || inside_[nodes_[top].at] == 0.0) return Outcome::no_parse;
  log_probability_ = scale_[cell(0, words_)] + std::log(inside_[nodes_[top].at]);
  above_[nodes_[top].at] = 1.0 / inside_[nodes_[top].at];
  for (std::size_t length = words_; length >= 1; --length) {
    for (std::size_t i = 0; i + length <= words_; ++i) {
      if (limits.late()) return Outcome::late;
      if (limits.too_large(bytes())) return Outcome::too_large;
      outside_cell(grammar, i, i + length);
    }
  }
  return Outcome::parsed;
}

void FineChart::keep(const FineGrammar& grammar, double margin, KeptStates& kept) const {
  const Level& level = grammar.level();
  const double least = std::exp(-margin);
  std::vector<std::uint32_t> states;
  for (std::size_t i = 0; i < words_; ++i) {
    for (std::size_t j = i + 1; j <= words_; ++j) {
      states.clear();
      for (std::uint32_t node = cell_begin(i, j); node < cell_end(i, j); ++node) {
        const ChartNode& found = nodes_[node];
        for (std::uint32_t s = 0; s < level.states[found.label]; ++s) {
          const double posterior = inside_[found.at + s] * outside_[found.at + s];
          if (posterior > 0.0 && posterior >= least) states.push_back(level.first[found.label] + s);
        }
      }
      kept.set(i, j, states);
    }
  }
}

}  // namespace treeglot
