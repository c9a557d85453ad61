#include "graph/ngram_gains.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "base/symbols.h"
#include "graph/inside_outside.h"

namespace treeglot {
namespace {

constexpr std::int32_t kGap = -1;  // in a context: words that no n-gram will reach

// The words that n-grams of a larger yield can reach: all of a short one, or its first words, a gap and its last. No
// reference has words beyond them in one n-gram with them, so yields that gain alike in any larger one are alike.
using Context = std::span<const std::int32_t>;

// Reads the yield of an edge from left to right: what it gains beyond its tails, and its own context.
class YieldReader {
 public:
  explicit YieldReader(const NgramGains& gains) : gains_(gains), reach_(gains.order() - 1) {}

  void begin() {
    first_.clear();
    last_.clear();
    long_ = false;
    gain_ = 0;
  }
  void word(std::int32_t word) {
    gain_ += gains_.per_word();
    append(word, 1);
  }
  void tail(Context context) {
    std::size_t inside = 0;  // words of the tail so far: n-grams within it count there
    for (std::size_t i = 0; i < context.size(); ++i) {
      if (context[i] == kGap) {
        long_ = true;
        last_.assign(context.begin() + static_cast<std::ptrdiff_t>(i) + 1, context.end());
        return;
      }
      append(context[i], ++inside + 1);
    }
  }
  double gain() const { return gain_; }
  void context(std::vector<std::int32_t>& out) const {
    out = first_;
    if (!long_) return;
    out.push_back(kGap);
    out.insert(out.end(), last_.begin(), last_.end());
  }

 private:
  void append(std::int32_t word, std::size_t least) {
    last_.push_back(word);
    const auto [gain, known] = gains_.ending(last_, least);
    gain_ += gain;
    if (!long_ && known > first_.size() && first_.size() < reach_) {
      first_.push_back(word);
    } else {
      long_ = true;
    }
    const std::size_t kept = std::min(known, reach_);
    last_.erase(last_.begin(), last_.end() - static_cast<std::ptrdiff_t>(kept));
  }

  const NgramGains& gains_;
  std::size_t reach_;
  std::vector<std::int32_t> first_, last_;
  bool long_ = false;
  double gain_ = 0;
};

class Splitter {
 public:
  Splitter(const Hypergraph& graph, std::span<const double> scores, const Yields& yields, const NgramGains& gains,
           std::uint32_t beam)
      : graph_(graph), scores_(scores), yields_(yields), beam_(beam), reader_(gains), first_part_{0} {}

  GainedGraph split() {
    for (NodeId node = 0; node < graph_.nodes(); ++node) {
      states_.clear();
      index_.clear();
      candidates_.clear();
      tails_of_candidates_.clear();
      for (EdgeId edge = graph_.edges_begin(node); edge < graph_.edges_end(node); ++edge) combine(edge);
      keep(node);
      first_part_.push_back(static_cast<NodeId>(parts_.size()));
    }
    const NodeId goal = graph_.goal();
    NodeId top = kNoNode;
    if (goal != kNoNode && first_part_[goal] < first_part_[goal + 1]) {
      top = builder_.add_node();
      node_map_.push_back(kNoNode);
      for (NodeId part = first_part_[goal]; part < first_part_[goal + 1]; ++part) {
        builder_.add_edge(top, std::span(&part, 1));
        origins_.push_back(kNoEdge);
        gained_.push_back(0);
      }
    }
    GainedGraph out{builder_.freeze(top), {}};
    for (EdgeId& edge : out.mapped.edge_map) {
      out.scores.push_back(gained_[edge]);
      edge = origins_[edge];
    }
    out.mapped.node_map = std::move(node_map_);
    return out;
  }

 private:
  struct Part {  // of a node
    std::vector<std::int32_t> context;
    double best;
  };
  struct Candidate {
    std::uint32_t state;
    EdgeId edge;
    std::size_t first_tail;  // of tails_of_candidates_
    double score;            // what the edge adds
  };

  // The edge with every choice of its tails' parts.
  void combine(EdgeId edge) {
    const auto tails = graph_.tails(edge);
    chosen_.clear();
    for (const NodeId tail : tails) {
      if (first_part_[tail] == first_part_[tail + 1]) return;
      chosen_.push_back(first_part_[tail]);
    }
    for (bool more = true; more;) {
      add(edge);
      more = false;
      for (std::size_t k = 0; k < tails.size() && !more; ++k) {
        more = ++chosen_[k] < first_part_[tails[k] + 1];
        if (!more) chosen_[k] = first_part_[tails[k]];
      }
    }
  }

  void add(EdgeId edge) {
    reader_.begin();
    for (const std::int32_t symbol : yields_[edge]) {
      if (symbol >= 0) {
        reader_.word(symbol);
      } else {
        reader_.tail(parts_[chosen_[static_cast<std::size_t>(-1 - symbol)]].context);
      }
    }
    const double score = scores_[edge] + reader_.gain();
    double total = score;
    for (const NodeId part : chosen_) total += parts_[part].best;
    reader_.context(context_);
    const auto next = static_cast<std::uint32_t>(states_.size());
    const std::string_view bytes(reinterpret_cast<const char*>(context_.data()), context_.size() * sizeof(context_[0]));
    const std::uint32_t state =
        index_.intern(hash_bytes(bytes), next, [&](std::uint32_t i) { return states_[i].context == context_; });
    if (state == next) states_.push_back({context_, -std::numeric_limits<double>::infinity()});
    states_[state].best = std::max(states_[state].best, total);
    candidates_.push_back({state, edge, tails_of_candidates_.size(), score});
    tails_of_candidates_.insert(tails_of_candidates_.end(), chosen_.begin(), chosen_.end());
  }

  // The best states become parts of the node; ties go to the first.
  void keep(NodeId node) {
    std::vector<std::uint32_t> order(states_.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order,
                             [&](std::uint32_t a, std::uint32_t b) { return states_[a].best > states_[b].best; });
    if (beam_ != 0 && order.size() > beam_) order.resize(beam_);
    std::vector<NodeId> part_of(states_.size(), kNoNode);
    for (const std::uint32_t state : order) {
      part_of[state] = builder_.add_node();
      parts_.push_back(std::move(states_[state]));
      node_map_.push_back(node);
    }
    for (const Candidate& one : candidates_) {
      if (part_of[one.state] == kNoNode) continue;
      builder_.add_edge(part_of[one.state],
                        std::span(tails_of_candidates_).subspan(one.first_tail, graph_.tails(one.edge).size()));
      origins_.push_back(one.edge);
      gained_.push_back(one.score);
    }
  }

  const Hypergraph& graph_;
  std::span<const double> scores_;
  const Yields& yields_;
  std::uint32_t beam_;
  YieldReader reader_;
  std::vector<Part> parts_;         // of all nodes, one after another; numbered as the new graph's nodes
  std::vector<NodeId> first_part_;  // by node, one more than nodes done
  std::vector<NodeId> node_map_;
  std::vector<EdgeId> origins_;  // by new edge in the order of addition
  std::vector<double> gained_;
  Builder builder_;
  // Of the node at hand.
  std::vector<Part> states_;
  HashIndex index_;  // of states_
  std::vector<Candidate> candidates_;
  std::vector<NodeId> tails_of_candidates_, chosen_;
  std::vector<std::int32_t> context_;
};

void check_each_tail_once(const Hypergraph& graph, const Yields& yields) {
  std::vector<std::int32_t> seen;
  for (EdgeId edge = 0; edge < graph.edges(); ++edge) {
    seen.clear();
    for (const std::int32_t symbol : yields[edge])
      if (symbol < 0) seen.push_back(-1 - symbol);
    std::ranges::sort(seen);
    const bool each = std::ranges::adjacent_find(seen) == seen.end() && seen.size() == graph.tails(edge).size();
    if (!each)
      throw std::invalid_argument("edge " + std::to_string(edge) + " does not have every tail once in its yield");
  }
}

}  // namespace

NgramGains::NgramGains(double per_word, std::vector<double> by_order)
    : per_word_(per_word), by_order_(std::move(by_order)) {
  constexpr std::size_t kMostOrder = 16;
  if (by_order_.empty() || by_order_.size() > kMostOrder)
    throw std::invalid_argument("gains of " + std::to_string(by_order_.size()) + " orders; expected 1 to 16");
  for (const double gain : by_order_)
    if (!std::isfinite(gain)) throw std::invalid_argument("a gain is not finite; expected a number");
  if (!std::isfinite(per_word_)) throw std::invalid_argument("the gain of a word is not finite; expected a number");
}

std::uint64_t NgramGains::hash(const Ngram& ngram) {
  return hash_number(std::uint64_t{ngram.rest} << 32 | static_cast<std::uint32_t>(ngram.word));
}

// An n-gram is found from its last word on, so the ends of a text are found one after another.
void NgramGains::add(std::span<const std::int32_t> sentence, double share) {
  if (!(share >= 0 && share <= 1))
    throw std::invalid_argument("a share of " + std::to_string(share) + "; expected 0 to 1");
  ++sentences_;
  for (std::size_t end = 1; end <= sentence.size(); ++end) {
    std::uint32_t at = HashIndex::kNone;
    for (std::size_t n = 1; n <= std::min(order(), end); ++n) {
      const Ngram ngram{at, sentence[end - n]};
      const auto next = static_cast<std::uint32_t>(ngrams_.size());
      at = index_.intern(hash(ngram), next, [&](std::uint32_t i) { return ngrams_[i] == ngram; });
      if (at == next) {
        ngrams_.push_back(ngram);
        shares_.emplace_back();
      }
      Share& own = shares_[at];
      if (own.last != sentences_) own.value = std::min(1.0, own.value + share);
      own.last = sentences_;
    }
  }
}

NgramGains::Ending NgramGains::ending(std::span<const std::int32_t> words, std::size_t least) const {
  Ending out;
  std::uint32_t at = HashIndex::kNone;
  for (std::size_t n = 1; n <= std::min(order(), words.size()); ++n) {
    const Ngram ngram{at, words[words.size() - n]};
    at = index_.find(hash(ngram), [&](std::uint32_t i) { return ngrams_[i] == ngram; });
    if (at == HashIndex::kNone) break;
    out.words = n;
    if (n >= least) out.gain += by_order_[n - 1] * shares_[at].value;
  }
  return out;
}

GainedGraph with_gains(const Hypergraph& graph, std::span<const double> scores, const Yields& yields,
                       const NgramGains& gains, std::uint32_t beam) {
  check_scores(graph, scores);
  check_yields(graph, yields);
  check_each_tail_once(graph, yields);
  return Splitter(graph, scores, yields, gains, beam).split();
}

}  // namespace treeglot
