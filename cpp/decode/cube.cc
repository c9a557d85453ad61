#include "decode/cube.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/hash_index.h"
#include "base/symbols.h"
#include "decode/search_counts.h"
#include "graph/inside_outside.h"

namespace treeglot {

Scorer::Scorer(std::vector<std::unique_ptr<StatefulFeature>> features, std::vector<float> weights,
               const DynamicWeights* dynamic)
    : features_(std::move(features)), weights_(std::move(weights)), dynamic_(dynamic) {
  constexpr std::size_t kAlign = alignof(std::uint64_t);
  for (const auto& feature : features_) {
    offsets_.push_back(state_bytes_);
    state_bytes_ += (feature->state_bytes() + kAlign - 1) / kAlign * kAlign;
    if (feature->looks_ahead()) ahead_.push_back(offsets_.size() - 1);
  }
}

float Scorer::estimate(const Application& application) const {
  float sum = 0;
  for (const auto& feature : features_) sum = finite(double{sum} + feature->estimate(application, all_weights()));
  return sum;
}

Hypergraph graph_of(std::shared_ptr<const SearchForest> forest) {
  const SearchForest& f = *forest;
  return Hypergraph(f.first_edge, f.first_tail, f.tails, f.goal, std::move(forest));
}

namespace {

// The hypotheses of one node of the translation forest: numbers [begin, end) in the search forest, best first.
struct Group {
  NodeId begin = 0;
  NodeId end = 0;
  std::uint32_t size() const { return end - begin; }
};

// A point of a cube: an edge, one of its alternatives, one hypothesis for each tail.
struct Candidate {
  EdgeId edge;
  std::uint32_t first_position;  // of 1 + arity coordinates: the alternative, then a rank in each tail's group
  std::uint32_t last_moved;      // the last coordinate that is not 0: see `push_successors`
};

// A candidate or a hypothesis and its priority, as one number: the greatest comes first. On equal priority the one made
// first wins, for the same result always. Comparing floats first would be a jump that is hard to predict.
class Ranked {
 public:
  Ranked(double priority, std::uint32_t number) : high_(ordered(priority)), low_(~number) {}
  std::uint32_t number() const { return ~low_; }
  friend bool operator<(const Ranked& a, const Ranked& b) { return a.key() < b.key(); }

 private:
  __extension__ using Key = unsigned __int128;
  Key key() const { return static_cast<Key>(high_) << 32 | low_; }
  // Numbers in the order of the floats; 0 and −0 are the same.
  static std::uint64_t ordered(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);
    return bits ^ (bits >> 63 != 0 ? ~std::uint64_t{0} : std::uint64_t{1} << 63);
  }

  std::uint64_t high_;
  std::uint32_t low_;
};

struct Found {  // what came of a candidate
  std::uint32_t candidate;
  std::uint32_t hypothesis;  // number within the node
  double step;
  double score;
};

// A hash of `size` bytes, a multiple of 8. Pairs of words do not wait for each other.
std::uint64_t hash_words(const std::byte* bytes, std::size_t size) {
  __extension__ using Wide = unsigned __int128;
  const auto word = [&](std::size_t at) {
    std::uint64_t value = 0;
    if (at < size) std::memcpy(&value, bytes + at, sizeof value);
    return value;
  };
  std::uint64_t state = size;
  for (std::size_t at = 0; at < size; at += 16) {
    const Wide product =
        static_cast<Wide>((word(at) + at) ^ 0xa0761d6478bd642fu) * (word(at + 8) ^ 0xe7037ed1a0b428dbu);
    state ^= static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  }
  return hash_number(state);
}

class CubeSearch {
 public:
  CubeSearch(const TranslationForest& forest, const Scorer& scorer, const SearchOptions& options)
      : forest_(forest), scorer_(scorer), options_(options), groups_(forest.graph.nodes()) {}

  SearchForest run() {
    count_search(SearchCount::searches, 1);
    if (options_.time_limit > 0) deadline_ = thread_seconds() + options_.time_limit;
    if (options_.pop_limit > 0) rank_nodes();
    for (NodeId node = 0; node < forest_.graph.nodes(); ++node) expand(node);
    if (forest_.graph.goal() != kNoNode && groups_[forest_.graph.goal()].size() > 0)
      out_.goal = groups_[forest_.graph.goal()].begin;
    return std::move(out_);
  }

 private:
  void expand(NodeId node) {
    candidates_.clear();
    coordinates_.clear();
    queue_.clear();
    found_.clear();
    node_states_.clear();
    best_.clear();
    ahead_.clear();
    index_.clear();

    for (EdgeId edge = forest_.graph.edges_begin(node); edge < forest_.graph.edges_end(node); ++edge) {
      const auto tails = forest_.graph.tails(edge);
      if (forest_.alternatives[edge].empty()) continue;
      if (std::ranges::any_of(tails, [&](NodeId tail) { return groups_[tail].size() == 0; })) continue;
      const auto first = static_cast<std::uint32_t>(coordinates_.size());
      coordinates_.resize(coordinates_.size() + 1 + tails.size(), 0);
      candidates_.push_back({edge, first, 0});
      queue_.push_back({score(), static_cast<std::uint32_t>(candidates_.size() - 1)});
    }
    std::make_heap(queue_.begin(), queue_.end());
    check_that_all_fit(node);
    for (std::size_t pops = 0, limit = pop_limit(node); pops < limit && !queue_.empty(); ++pops) {
      if (pops % 64 == 0 && time_is_up()) break;
      std::pop_heap(queue_.begin(), queue_.end());
      const std::uint32_t candidate = queue_.back().number();
      queue_.pop_back();
      push_successors(candidate);
    }
    keep(node);
  }

  bool time_is_up() {
    if (deadline_ > 0 && !out_.late) out_.late = candidates_.size() > kMostCandidates || thread_seconds() > deadline_;
    return out_.late;
  }

  // An exact search scores every point of a node's cubes; one that cannot end is refused at once.
  void check_that_all_fit(NodeId node) const {
    if (options_.pop_limit != 0 || deadline_ > 0) return;
    double points = 0;
    for (const Ranked& queued : queue_) {
      const EdgeId edge = candidates_[queued.number()].edge;
      auto product = static_cast<double>(forest_.alternatives[edge].size());
      for (const NodeId tail : forest_.graph.tails(edge)) product *= groups_[tail].size();
      points += product;
    }
    if (points > kMostCandidates) {
      char text[160];
      std::snprintf(
          text, sizeof text,
          "an exact search does not finish: it has %.1e hypotheses of node %u; expected a pop limit or a time limit",
          points, node);
      throw std::runtime_error(text);
    }
  }

  // Ranks the nodes by the best derivation that they are in, if every edge scored what its best rule is expected to.
  void rank_nodes() {
    std::vector<double> expected;
    expected.reserve(forest_.graph.edges());
    for (EdgeId edge = 0; edge < forest_.graph.edges(); ++edge) {
      const auto alternatives = forest_.alternatives[edge];
      double score = alternatives.empty() ? kMinusInfinity : alternatives.front().priority();
      if (!forest_.edge_value.empty())
        score += double{scorer_.weights()[forest_.edge_feature_of(edge)]} * finite(forest_.edge_value[edge]);
      expected.push_back(score);
    }
    ranks_ = node_ranks(forest_.graph, expected);
  }

  // The most promising node gets twice the pops, one in the middle 0.7 times, and the last one a quarter. Where a span
  // has several nodes that a matcher ranked, the second gets half of this, the third a third.
  std::size_t pop_limit(NodeId node) const {
    if (options_.pop_limit == 0) return std::numeric_limits<std::size_t>::max();
    const std::size_t rank = node < forest_.rank.size() ? forest_.rank[node] : 0;
    const double pops = 2.0 * options_.pop_limit * std::exp(-2.0 * ranks_[node]);
    return static_cast<std::size_t>(std::ceil(pops / static_cast<double>(rank + 1)));
  }

  // Each point of a cube has one predecessor: its last coordinate above 0 is one less. So no point is made twice, and
  // no set of seen points is needed (Gesmundo and Henderson 2010).
  void push_successors(std::uint32_t candidate) {
    const Candidate from = candidates_[candidate];
    const auto tails = forest_.graph.tails(from.edge);
    for (std::uint32_t moved = from.last_moved; moved <= tails.size(); ++moved) {
      const std::size_t size = moved == 0 ? forest_.alternatives[from.edge].size() : groups_[tails[moved - 1]].size();
      if (coordinates_[from.first_position + moved] + 1 >= size) continue;
      const auto first = static_cast<std::uint32_t>(coordinates_.size());
      coordinates_.resize(first + 1 + tails.size());
      std::copy_n(coordinates_.begin() + from.first_position, 1 + tails.size(), coordinates_.begin() + first);
      ++coordinates_[first + moved];
      candidates_.push_back({from.edge, first, moved});
      queue_.push_back({score(), static_cast<std::uint32_t>(candidates_.size() - 1)});
      std::push_heap(queue_.begin(), queue_.end());
    }
  }

  // Scores the newest candidate. What has been scored is kept even if its turn never comes: the work is done.
  double score() {
    const Candidate& c = candidates_.back();
    const std::uint32_t* at = coordinates_.data() + c.first_position;
    const Alternative& rule = forest_.alternatives[c.edge][at[0]];
    const std::size_t bytes = scorer_.state_bytes();
    double sum = 0;
    tail_states_.clear();
    for (const NodeId tail : forest_.graph.tails(c.edge)) {
      const NodeId hypothesis = groups_[tail].begin + *++at;
      sum += out_.score[hypothesis];
      tail_states_.push_back(states_.data() + hypothesis * bytes);
    }
    const std::size_t state_begin = node_states_.size();
    node_states_.resize(state_begin + bytes);
    Sink sink(scorer_.all_weights());
    scorer_.apply({rule.target, rule.rule, forest_.place[c.edge], c.edge}, tail_states_.data(),
                  node_states_.data() + state_begin, sink);
    if (!forest_.edge_value.empty()) sink.add(forest_.edge_feature_of(c.edge), forest_.edge_value[c.edge]);
    const double step = static_cast<double>(rule.score) + sink.sum();
    const auto candidate = static_cast<std::uint32_t>(candidates_.size() - 1);
    const std::uint32_t hypothesis = recombine(state_begin, sum + step);
    const Found found = {candidate, hypothesis, step, sum + step};
    if (!options_.best_only || hypothesis == found_.size()) {
      found_.push_back(found);
    } else if (found.score > found_[hypothesis].score) {
      found_[hypothesis] = found;
    }
    return sum + step + ahead_[hypothesis];
  }

  // The hypothesis with the state that was just written at the end of node_states_: an old one, or a new one.
  std::uint32_t recombine(std::size_t state_begin, double score) {
    const std::size_t bytes = scorer_.state_bytes();
    const auto view = [&](std::size_t begin) {
      return std::string_view(reinterpret_cast<const char*>(node_states_.data()) + begin, bytes);
    };
    const auto next = static_cast<std::uint32_t>(best_.size());
    const std::uint32_t hypothesis =
        index_.intern(hash_words(node_states_.data() + state_begin, bytes), next,
                      [&](std::uint32_t known) { return view(known * bytes) == view(state_begin); });
    if (hypothesis == next) {
      best_.push_back(score);
      ahead_.push_back(scorer_.ahead(node_states_.data() + state_begin));
    } else {
      node_states_.resize(state_begin);
      best_[hypothesis] = std::max(best_[hypothesis], score);
    }
    return hypothesis;
  }

  double promise(std::uint32_t hypothesis) const { return best_[hypothesis] + ahead_[hypothesis]; }

  // Moves the node's hypotheses into the search forest: best first, those outside the beam dropped.
  void keep(NodeId node) {
    order_.clear();
    for (std::uint32_t hypothesis = 0; hypothesis < best_.size(); ++hypothesis)
      order_.emplace_back(promise(hypothesis), hypothesis);
    std::sort(order_.rbegin(), order_.rend());
    std::size_t kept = order_.size();
    if (options_.beam > 0) kept = std::min<std::size_t>(kept, options_.beam);
    if (options_.threshold > 0)
      while (kept > 1 && promise(order_[kept - 1].number()) < promise(order_[0].number()) - options_.threshold) --kept;

    const std::size_t bytes = scorer_.state_bytes();
    const auto begin = static_cast<NodeId>(out_.score.size());
    for (std::uint32_t rank = 0; rank < kept; ++rank) {
      const std::uint32_t hypothesis = order_[rank].number();
      out_.score.push_back(best_[hypothesis]);
      const auto state = node_states_.begin() + static_cast<std::ptrdiff_t>(hypothesis * bytes);
      states_.insert(states_.end(), state, state + static_cast<std::ptrdiff_t>(bytes));
    }
    groups_[node] = {begin, begin + static_cast<NodeId>(kept)};
    count_search(SearchCount::candidates, candidates_.size());
    count_search(SearchCount::states, kept);
    if (!options_.best_only) sort_found();
    for (std::uint32_t rank = 0; rank < kept; ++rank) {
      const std::uint32_t hypothesis = order_[rank].number();
      if (options_.best_only) {
        add_edge(found_[hypothesis]);
      } else {
        for (std::uint32_t i = first_found_[hypothesis]; i < first_found_[hypothesis + 1]; ++i)
          add_edge(found_[sorted_[i]]);
      }
      out_.first_edge.push_back(static_cast<std::uint32_t>(out_.forest_edge.size()));
    }
  }

  // Lists what was found by hypothesis, best first: sorted_[first_found_[h]] and so on.
  void sort_found() {
    first_found_.assign(best_.size() + 1, 0);
    for (const Found& f : found_) ++first_found_[f.hypothesis + 1];
    std::partial_sum(first_found_.begin(), first_found_.end(), first_found_.begin());
    next_.assign(first_found_.begin(), first_found_.end());
    sorted_.resize(found_.size());
    for (std::uint32_t i = 0; i < found_.size(); ++i) {
      const std::uint32_t begin = first_found_[found_[i].hypothesis];
      std::uint32_t at = next_[found_[i].hypothesis]++;  // few share a hypothesis: insertion is enough
      for (; at > begin && found_[sorted_[at - 1]].score < found_[i].score; --at) sorted_[at] = sorted_[at - 1];
      sorted_[at] = i;
    }
  }

  void add_edge(const Found& f) {
    const Candidate& c = candidates_[f.candidate];
    const std::uint32_t* at = coordinates_.data() + c.first_position;
    out_.forest_edge.push_back(c.edge);
    out_.alternative.push_back(at[0]);
    out_.step.push_back(f.step);
    for (const NodeId tail : forest_.graph.tails(c.edge)) out_.tails.push_back(groups_[tail].begin + *++at);
    out_.first_tail.push_back(static_cast<std::uint32_t>(out_.tails.size()));
  }

  static constexpr std::uint32_t kMostCandidates = 1u << 25;  // of a node: they take some 2 GB

  const TranslationForest& forest_;
  const Scorer& scorer_;
  const SearchOptions& options_;
  double deadline_ = 0;
  SearchForest out_;
  std::vector<Group> groups_;      // by node of the translation forest
  std::vector<float> ranks_;       // by node of the translation forest
  std::vector<std::byte> states_;  // by hypothesis

  // Of the node at hand; kept for their memory.
  std::vector<Candidate> candidates_;
  std::vector<std::uint32_t> coordinates_;
  std::vector<Ranked> queue_;
  std::vector<Found> found_;
  std::vector<std::byte> node_states_;
  std::vector<double> best_, ahead_;  // by hypothesis
  HashIndex index_;                   // of hypotheses by their states
  std::vector<std::uint32_t> first_found_, next_, sorted_;
  std::vector<Ranked> order_;  // hypotheses, the most promising first
  std::vector<const std::byte*> tail_states_;
};

}  // namespace

SearchForest search(const TranslationForest& forest, const Scorer& scorer, const SearchOptions& options) {
  return CubeSearch(forest, scorer, options).run();
}

}  // namespace treeglot
