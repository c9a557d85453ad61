#include "parse/expectation.h"

#include <algorithm>
#include <cmath>

#include "base/limits.h"
#include "base/thread_pool.h"

namespace treeglot {
namespace {

constexpr std::size_t kParts = 8;

#if defined(__GNUC__) && defined(__x86_64__)
#define TREEGLOT_AVX2 __attribute__((target("avx2")))
bool has_avx2() { return __builtin_cpu_supports("avx2"); }
#else
#define TREEGLOT_AVX2
bool has_avx2() { return false; }
#endif

using Lanes = double __attribute__((vector_size(32)));

__attribute__((always_inline)) inline void inside_block(const double* scores, const double* left, std::size_t lefts,
                                                        const double* right, std::size_t rights,
                                                        double* __restrict head, std::size_t heads) {
  for (std::size_t l = 0; l < lefts; ++l) {
    for (std::size_t r = 0; r < rights; ++r) {
      const double both = left[l] * right[r];
      if (both == 0.0) continue;
      const double* row = scores + (l * rights + r) * heads;
      for (std::size_t h = 0; h < heads; ++h) head[h] += both * row[h];
    }
  }
}

// Outside values of both children, and expected counts if `counts` is there. `scaled` is the head's outside over its
// scale.
__attribute__((always_inline)) inline void outside_block(const double* scores, double* __restrict counts,
                                                         const double* left, double* __restrict left_outside,
                                                         std::size_t lefts, const double* right,
                                                         double* __restrict right_outside, std::size_t rights,
                                                         const double* scaled, std::size_t heads) {
  for (std::size_t l = 0; l < lefts; ++l) {
    double sum = 0.0;
    for (std::size_t r = 0; r < rights; ++r) {
      const std::size_t at = (l * rights + r) * heads;
      const double* row = scores + at;
      const double both = left[l] * right[r];
      Lanes lanes = {0.0, 0.0, 0.0, 0.0};
      double above = 0.0;
      std::size_t h = 0;
      for (; h + 4 <= heads; h += 4) {
        Lanes x, y;
        __builtin_memcpy(&x, scaled + h, sizeof x);
        __builtin_memcpy(&y, row + h, sizeof y);
        const Lanes product = x * y;
        lanes += product;
        if (counts != nullptr) {
          Lanes count;
          __builtin_memcpy(&count, counts + at + h, sizeof count);
          count += product * both;
          __builtin_memcpy(counts + at + h, &count, sizeof count);
        }
      }
      for (; h < heads; ++h) {
        const double product = scaled[h] * row[h];
        above += product;
        if (counts != nullptr) counts[at + h] += product * both;
      }
      above += (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
      sum += above * right[r];
      right_outside[r] += above * left[l];
    }
    left_outside[l] += sum;
  }
}

TREEGLOT_AVX2 void inside_wide(const double* scores, const double* left, std::size_t lefts, const double* right,
                               std::size_t rights, double* head, std::size_t heads) {
  inside_block(scores, left, lefts, right, rights, head, heads);
}
TREEGLOT_AVX2 void outside_wide(const double* scores, double* counts, const double* left, double* left_outside,
                                std::size_t lefts, const double* right, double* right_outside, std::size_t rights,
                                const double* scaled, std::size_t heads) {
  outside_block(scores, counts, left, left_outside, lefts, right, right_outside, rights, scaled, heads);
}

// Inside and outside values of one tree. A node's insides are divided by their greatest, which is its scale. Outsides
// are scaled such that inside · outside sums to 1 over the states of every node. The products are posteriors.
class TreeValues {
 public:
  TreeValues(const Treebank& bank, const TrainingLevel& level) : bank_(bank), level_(level), wide_(has_avx2()) {}

  // The tree's log likelihood.
  double inside(std::size_t tree) {
    nodes_ = bank_[tree];
    at_.assign(1, 0);
    for (const BankNode& node : nodes_) at_.push_back(at_.back() + level_.states[node.label]);
    inside_.assign(at_.back(), 0.0);
    outside_.assign(at_.back(), 0.0);
    scale_.resize(nodes_.size());
    double log_likelihood = 0.0;
    static constexpr double kOne = 1.0;
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      const BankNode& node = nodes_[n];
      const std::size_t heads = level_.states[node.label];
      const double* scores = block(node);
      double* const out = inside_.data() + at_[n];
      if (node.kind == RuleKind::lexical) {
        std::copy(scores, scores + heads, out);
      } else {
        const bool binary = node.kind == RuleKind::binary;
        const auto apply = wide_ && heads >= 4 ? inside_wide : inside_block;
        apply(scores, inside_of(node.left), states(node.left), binary ? inside_of(node.right) : &kOne,
              binary ? states(node.right) : 1, out, heads);
      }
      const double greatest = *std::max_element(out, out + heads);
      scale_[n] = greatest;
      for (std::size_t h = 0; h < heads; ++h) out[h] /= greatest;
      log_likelihood += std::log(greatest);
    }
    return log_likelihood;
  }

  // Adds to the counts, where there are any: those of a rule begin at `at[kind][rule]`.
  void outside(double* counts, const std::vector<std::size_t>* at) {
    const std::size_t top = nodes_.size() - 1;
    outside_[at_[top]] = 1.0 / inside_[at_[top]];
    static constexpr double kOne = 1.0;
    double unused = 0.0;
    for (std::size_t n = nodes_.size(); n-- > 0;) {
      const BankNode& node = nodes_[n];
      const std::size_t heads = level_.states[node.label];
      double* const block_counts =
          counts == nullptr ? nullptr : counts + at[static_cast<std::size_t>(node.kind)][node.rule];
      scaled_.resize(heads);
      for (std::size_t h = 0; h < heads; ++h) scaled_[h] = outside_[at_[n] + h] / scale_[n];
      const double* scores = block(node);
      if (node.kind == RuleKind::lexical) {
        if (block_counts != nullptr) {
          for (std::size_t h = 0; h < heads; ++h) block_counts[h] += scaled_[h] * scores[h];
        }
        continue;
      }
      const bool binary = node.kind == RuleKind::binary;
      const auto apply = wide_ && heads >= 4 ? outside_wide : outside_block;
      apply(scores, block_counts, inside_of(node.left), outside_.data() + at_[node.left], states(node.left),
            binary ? inside_of(node.right) : &kOne, binary ? outside_.data() + at_[node.right] : &unused,
            binary ? states(node.right) : 1, scaled_.data(), heads);
    }
  }

  std::span<const BankNode> nodes() const { return nodes_; }
  const double* inside_of(std::size_t node) const { return inside_.data() + at_[node]; }
  const double* outside_of(std::size_t node) const { return outside_.data() + at_[node]; }

 private:
  std::size_t states(std::size_t node) const { return level_.states[nodes_[node].label]; }
  std::size_t offset(const BankNode& node) const { return level_.at[static_cast<std::size_t>(node.kind)][node.rule]; }
  const double* block(const BankNode& node) const { return level_.scores.data() + offset(node); }

  const Treebank& bank_;
  const TrainingLevel& level_;
  bool wide_;
  std::span<const BankNode> nodes_;
  std::vector<std::size_t> at_;
  std::vector<double> inside_, outside_, scale_, scaled_;
};

struct Part {
  std::size_t begin, end;
};

// Parts of about as many nodes each.
std::vector<Part> parts_of(const Treebank& bank) {
  std::size_t total = 0;
  for (std::size_t t = 0; t < bank.size(); ++t) total += bank[t].size();
  std::vector<Part> out;
  std::size_t begin = 0, seen = 0;
  for (std::size_t t = 0; t < bank.size(); ++t) {
    seen += bank[t].size();
    if (seen * kParts >= total * (out.size() + 1)) {
      out.push_back({begin, t + 1});
      begin = t + 1;
    }
  }
  if (begin < bank.size()) out.push_back({begin, bank.size()});
  return out;
}

// Counts of the rules that some trees have. Most rules are rare: a part of the trees has few of them.
struct PartCounts {
  struct Block {
    std::size_t to, from, size;
  };
  double log_likelihood = 0.0;
  std::vector<Block> blocks;  // where they belong among all counts
  std::vector<std::size_t> at[3];
  std::vector<double> counts;

  void lay_out(const Treebank& bank, const TrainingLevel& level, Part part) {
    constexpr std::size_t kUnseen = ~std::size_t{0};
    std::size_t total = 0;
    for (const RuleKind kind : {RuleKind::lexical, RuleKind::unary, RuleKind::binary})
      at[static_cast<std::size_t>(kind)].assign(bank.rules(kind).size(), kUnseen);
    for (std::size_t tree = part.begin; tree < part.end; ++tree) {
      for (const BankNode& node : bank[tree]) {
        std::size_t& here = at[static_cast<std::size_t>(node.kind)][node.rule];
        if (here != kUnseen) continue;
        here = total;
        const std::size_t size = level.size(bank, node.kind, node.rule);
        blocks.push_back({level.at[static_cast<std::size_t>(node.kind)][node.rule], here, size});
        total += size;
      }
    }
    counts.assign(total, 0.0);
  }
};

}  // namespace

std::size_t TrainingLevel::size(const Treebank& bank, RuleKind kind, std::size_t rule) const {
  const BankRule& found = bank.rules(kind)[rule];
  std::size_t out = states[found.head];
  if (kind != RuleKind::lexical) out *= states[found.left];
  if (kind == RuleKind::binary) out *= states[found.right];
  return out;
}

void TrainingLevel::lay_out(const Treebank& bank) {
  first.assign(1, 0);
  for (const std::uint32_t number : states) first.push_back(first.back() + number);
  std::size_t total = 0;
  for (const RuleKind kind : {RuleKind::lexical, RuleKind::unary, RuleKind::binary}) {
    std::vector<std::size_t>& offsets = at[static_cast<std::size_t>(kind)];
    offsets.clear();
    for (std::size_t rule = 0; rule < bank.rules(kind).size(); ++rule) {
      offsets.push_back(total);
      total += size(bank, kind, rule);
    }
  }
  check_at_most("the number of probabilities of a grammar", total, std::size_t{1} << 30);
  scores.assign(total, 0.0);
}

Expectation expect(const Treebank& bank, const TrainingLevel& level, unsigned threads, bool counted) {
  const std::vector<Part> parts = parts_of(bank);
  Expectation out;
  if (counted) out.counts.assign(level.scores.size(), 0.0);
  ordered_map(
      parts.size(), threads,
      [&](std::size_t p) {
        PartCounts part;
        if (counted) part.lay_out(bank, level, parts[p]);
        TreeValues values(bank, level);
        for (std::size_t tree = parts[p].begin; tree < parts[p].end; ++tree) {
          part.log_likelihood += values.inside(tree);
          if (counted) values.outside(part.counts.data(), part.at);
        }
        return part;
      },
      [&](std::size_t, const PartCounts& part) {
        out.log_likelihood += part.log_likelihood;
        for (const PartCounts::Block& block : part.blocks) {
          for (std::size_t i = 0; i < block.size; ++i) out.counts[block.to + i] += part.counts[block.from + i];
        }
      },
      1);
  return out;
}

// Section 2.2 of Petrov et al. (2006). A node that merges states 1 and 2 has inside p1 I1 + p2 I2 and outside O1 + O2.
// Its part of the change is the ratio of the sums over states of inside · outside. Without a merge that sum is 1.
std::vector<double> merging_gains(const Treebank& bank, const TrainingLevel& level,
                                  std::span<const std::uint32_t> pairs, std::span<const double> share,
                                  unsigned threads) {
  const std::vector<Part> parts = parts_of(bank);
  std::vector<std::uint32_t> number(level.total_states(), 0);  // state → 1 + its pair, for the first of each
  for (std::uint32_t p = 0; p < pairs.size(); ++p) number[pairs[p]] = p + 1;
  std::vector<double> out(pairs.size(), 0.0);
  ordered_map(
      parts.size(), threads,
      [&](std::size_t p) {
        std::vector<double> gains(pairs.size(), 0.0);
        TreeValues values(bank, level);
        for (std::size_t tree = parts[p].begin; tree < parts[p].end; ++tree) {
          values.inside(tree);
          values.outside(nullptr, nullptr);
          for (std::size_t n = 0; n < values.nodes().size(); ++n) {
            const Symbol label = values.nodes()[n].label;
            const double *inside = values.inside_of(n), *outside = values.outside_of(n);
            for (std::uint32_t s = 0; s + 1 < level.states[label]; ++s) {
              const std::uint32_t state = level.first[label] + s;
              if (number[state] == 0) continue;
              const double before = inside[s] * outside[s] + inside[s + 1] * outside[s + 1];
              const double merged =
                  (share[state] * inside[s] + share[state + 1] * inside[s + 1]) * (outside[s] + outside[s + 1]);
              gains[number[state] - 1] += std::log(std::max(1e-300, 1.0 - before + merged));
            }
          }
        }
        return gains;
      },
      [&](std::size_t, const std::vector<double>& gains) {
        for (std::size_t i = 0; i < gains.size(); ++i) out[i] += gains[i];
      });
  return out;
}

}  // namespace treeglot
