#include "decode/cube.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>
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
    if (feature->prepares()) ++preparing_;
  }
}

float Scorer::estimate(const Application& application) const {
  float sum = 0;
  for (const auto& feature : features_) sum = finite(double{sum} + feature->estimate(application, all_weights()));
  return sum;
}

float Scorer::prepare(const Application& application, Prepared& out) const {
  const std::size_t begin = out.size(), offsets = preparing_ > 1 ? preparing_ : 0;
  out.add_words(offsets);
  std::size_t offset = begin;
  float sum = 0;
  for (const auto& feature : features_) {
    if (offsets > 0 && feature->prepares()) out[offset++] = out.size() - begin;
    sum = finite(double{sum} + feature->prepare(application, all_weights(), out));
  }
  if (out.size() == begin + offsets) out.cut(begin);
  return sum;
}

void Scorer::apply_each(const Application& application, const std::byte* const* tails, std::byte* out,
                        Sink& sink) const {
  const std::uint64_t* const prepared = application.target.prepared;
  Application own = application;
  std::size_t part = 0;
  for (std::size_t f = 0; f < features_.size(); ++f) {
    if (features_[f]->prepares()) own.target.prepared = prepared + prepared[part++];
    features_[f]->apply(own, tails, offsets_[f], out, sink);
  }
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

// All that an edge may become: its alternatives and the hypotheses of its tails.
struct Cube {
  std::span<const Alternative> alternatives;
  std::span<const NodeId> tails;
  EdgeId edge;
  std::uint8_t place;
  double value;  // the score of what the input gives the edge
};

// A point of a cube. Its 1 + arity coordinates are the alternative, then a rank in each tail's group.
struct Candidate {
  std::uint32_t cube;        // of the node
  std::uint32_t last_moved;  // the last coordinate that is not 0: see `replace_by_successors`
};

// Numbers in the order of the floats; 0 and −0 are the same.
std::uint64_t ordered(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);
  return bits ^ (bits >> 63 != 0 ? ~std::uint64_t{0} : std::uint64_t{1} << 63);
}
std::uint32_t ordered(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value + 0.0f);
  return bits ^ (bits >> 31 != 0 ? ~std::uint32_t{0} : std::uint32_t{1} << 31);
}

// A candidate or a hypothesis and its priority, as one number: the greatest comes first. On equal priority the one made
// first wins, for the same result always. Comparing floats first would be a jump that is hard to predict. The queue
// compares most. `Queued` has priorities in 32 bits: this is exact enough to choose what is popped next, and one
// instruction compares two keys.
class Queued {
 public:
  Queued(double priority, std::uint32_t number)
      : key_(std::uint64_t{ordered(finite(priority))} << 32 | static_cast<std::uint32_t>(~number)) {}
  std::uint32_t number() const { return ~static_cast<std::uint32_t>(key_); }
  friend bool operator<(const Queued& a, const Queued& b) { return a.key_ < b.key_; }

 private:
  std::uint64_t key_;
};

class Ranked {
 public:
  Ranked(double priority, std::uint32_t number) : high_(ordered(priority)), low_(~number) {}
  std::uint32_t number() const { return ~low_; }
  friend bool operator<(const Ranked& a, const Ranked& b) {
    return a.high_ < b.high_ || (a.high_ == b.high_ && a.low_ < b.low_);
  }

 private:
  std::uint64_t high_;
  std::uint32_t low_;
};

struct Found {  // what came of a candidate
  std::uint32_t candidate;
  std::uint32_t hypothesis;  // number within the node
  double step;
  double score;
};

// A hash of 8-byte words. Pairs of words do not wait for each other. They are copied, since features wrote them as
// values of other types.
std::uint64_t hash_words(const std::uint64_t* words, std::size_t size) {
  __extension__ using Wide = unsigned __int128;
  std::uint64_t state = size;
  const auto word = [&](std::size_t at) {
    std::uint64_t value = 0;
    std::memcpy(&value, words + at, sizeof value);
    return value;
  };
  const auto add = [&](std::uint64_t a, std::uint64_t b, std::size_t at) {
    const Wide product = static_cast<Wide>((a + at) ^ 0xa0761d6478bd642fu) * (b ^ 0xe7037ed1a0b428dbu);
    state ^= static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  };
  std::size_t at = 0;
  for (; at + 2 <= size; at += 2) add(word(at), word(at + 1), at);
  if (at < size) add(word(at), 0, at);
  return hash_number(state);
}

class CubeSearch {
 public:
  CubeSearch(const TranslationForest& forest, const Scorer& scorer, const SearchOptions& options)
      : forest_(forest),
        scorer_(scorer),
        options_(options),
        words_(scorer.state_bytes() / sizeof(std::uint64_t)),
        groups_(forest.graph.nodes()) {}

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
    queue_.clear();
    found_.clear();
    best_.clear();
    ahead_.clear();
    index_.clear();
    add_cubes(node);
    for (std::uint32_t cube = 0; cube < cubes_.size(); ++cube) {
      std::ranges::fill(add_candidate(cube, 0), 0);
      queue_.push_back(score());
    }
    std::make_heap(queue_.begin(), queue_.end());
    check_that_all_fit(node);
    for (std::size_t pops = 0, limit = pop_limit(node); pops < limit && !queue_.empty(); ++pops) {
      if (pops % 64 == 0 && time_is_up()) break;
      replace_by_successors(queue_.front().number());
    }
    keep(node);
  }

  void add_cubes(NodeId node) {
    cubes_.clear();
    stride_ = 1;
    for (EdgeId edge = forest_.graph.edges_begin(node); edge < forest_.graph.edges_end(node); ++edge) {
      const auto tails = forest_.graph.tails(edge);
      if (forest_.alternatives[edge].empty()) continue;
      if (std::ranges::any_of(tails, [&](NodeId tail) { return groups_[tail].size() == 0; })) continue;
      cubes_.push_back({forest_.alternatives[edge], tails, edge, forest_.place[edge], value_of(edge)});
      stride_ = std::max(stride_, 1 + tails.size());
    }
    tail_states_.resize(stride_);
  }

  double value_of(EdgeId edge) const {
    if (forest_.edge_value.empty()) return 0;
    return double{scorer_.weights()[forest_.edge_feature_of(edge)]} * forest_.edge_value[edge];
  }

  bool time_is_up() {
    if (deadline_ > 0 && !out_.late) out_.late = candidates_.size() > kMostCandidates || thread_seconds() > deadline_;
    return out_.late;
  }

  // An exact search scores every point of a node's cubes; one that cannot end is refused at once.
  void check_that_all_fit(NodeId node) const {
    if (options_.pop_limit != 0 || deadline_ > 0) return;
    double points = 0;
    for (const Cube& cube : cubes_) {
      auto product = static_cast<double>(cube.alternatives.size());
      for (const NodeId tail : cube.tails) product *= groups_[tail].size();
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

  // Adds a candidate; returns its coordinates, which the caller sets.
  std::span<std::uint32_t> add_candidate(std::uint32_t cube, std::uint32_t last_moved) {
    const std::size_t first = candidates_.size() * stride_;
    if (coordinates_.size() < first + stride_) coordinates_.resize((first + stride_) * 3 / 2);
    candidates_.push_back({cube, last_moved});
    return {coordinates_.data() + first, stride_};
  }
  const std::uint32_t* coordinates(std::size_t candidate) const { return coordinates_.data() + candidate * stride_; }

  // Each point of a cube has one predecessor: its last coordinate above 0 is one less. So no point is made twice, and
  // no set of seen points is needed (Gesmundo and Henderson 2010). The first successor takes the candidate's place at
  // the front of the queue: it often stays near the front.
  void replace_by_successors(std::uint32_t candidate) {
    const auto [number, last_moved] = candidates_[candidate];
    const Cube& cube = cubes_[number];
    bool replaced = false;
    for (std::uint32_t moved = last_moved; moved <= cube.tails.size(); ++moved) {
      const std::size_t size = moved == 0 ? cube.alternatives.size() : groups_[cube.tails[moved - 1]].size();
      if (coordinates(candidate)[moved] + 1 >= size) continue;
      std::uint32_t* const to = add_candidate(number, moved).data();
      const std::uint32_t* const from = coordinates(candidate);
      for (std::size_t i = 0; i < stride_; ++i) to[i] = from[i];
      ++to[moved];
      const Queued successor = score();
      if (replaced) {
        queue_.push_back(successor);
        std::push_heap(queue_.begin(), queue_.end());
      } else {
        replace_front(successor);
        replaced = true;
      }
    }
    if (replaced) return;
    const Queued last = queue_.back();
    queue_.pop_back();
    if (!queue_.empty()) replace_front(last);
  }

  void replace_front(const Queued by) {
    Queued* const queue = queue_.data();
    const std::size_t size = queue_.size();
    std::size_t at = 0;
    for (std::size_t child = 1; child < size; child = 2 * at + 1) {
      if (child + 1 < size) child += queue[child] < queue[child + 1] ? 1 : 0;
      if (!(by < queue[child])) break;
      queue[at] = queue[child];
      at = child;
    }
    queue[at] = by;
  }

  // Scores the newest candidate. What has been scored is kept even if its turn never comes: the work is done.
  Queued score() {
    const auto candidate = static_cast<std::uint32_t>(candidates_.size() - 1);
    const Cube& cube = cubes_[candidates_[candidate].cube];
    const std::uint32_t* at = coordinates(candidate);
    const Alternative& rule = cube.alternatives[at[0]];
    double sum = 0;
    const std::byte** tail_state = tail_states_.data();
    for (const NodeId tail : cube.tails) {
      const NodeId hypothesis = groups_[tail].begin + *++at;
      sum += out_.score[hypothesis];
      *tail_state++ = reinterpret_cast<const std::byte*>(states_.data() + hypothesis * words_);
    }
    const std::size_t first = best_.size() * words_;
    if (node_states_.size() < first + words_) node_states_.resize((first + words_) * 3 / 2);
    std::uint64_t* const state = node_states_.data() + first;
    std::fill_n(state, words_, std::uint64_t{0});
    Sink sink(scorer_.all_weights());
    scorer_.apply({rule.target, rule.rule, cube.place, cube.edge}, tail_states_.data(),
                  reinterpret_cast<std::byte*>(state), sink);
    const double step = static_cast<double>(rule.score) + (sink.sum() + cube.value);
    const auto next = static_cast<std::uint32_t>(best_.size());
    const std::uint32_t hypothesis = recombine(state, next, sum + step);
    const Found found = {candidate, hypothesis, step, sum + step};
    if (!options_.best_only || hypothesis == next) {
      found_.push_back(found);
    } else if (found.score > found_[hypothesis].score) {
      found_[hypothesis] = found;
    }
    return {sum + step + ahead_[hypothesis], candidate};
  }

  // The hypothesis with the state that was just written behind the others: an old one, or a new one with number `next`.
  std::uint32_t recombine(const std::uint64_t* state, std::uint32_t next, double score) {
    const std::uint32_t hypothesis = index_.intern(hash_words(state, words_), next, [&](std::uint32_t known) {
      return std::equal(state, state + words_, node_states_.data() + known * words_);
    });
    if (hypothesis == next) {
      best_.push_back(score);
      ahead_.push_back(scorer_.ahead(reinterpret_cast<const std::byte*>(state)));
    } else {
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
    std::sort(order_.begin(), order_.end(), [](const Ranked& a, const Ranked& b) { return b < a; });
    std::size_t kept = order_.size();
    if (options_.beam > 0) kept = std::min<std::size_t>(kept, options_.beam);
    if (options_.threshold > 0)
      while (kept > 1 && promise(order_[kept - 1].number()) < promise(order_[0].number()) - options_.threshold) --kept;

    const auto begin = static_cast<NodeId>(out_.score.size());
    states_.resize(states_.size() + kept * words_);
    std::uint64_t* to = states_.data() + begin * words_;
    for (std::uint32_t rank = 0; rank < kept; ++rank) {
      const std::uint32_t hypothesis = order_[rank].number();
      out_.score.push_back(best_[hypothesis]);
      to = std::copy_n(node_states_.data() + hypothesis * words_, words_, to);
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
    const Cube& cube = cubes_[candidates_[f.candidate].cube];
    const std::uint32_t* at = coordinates(f.candidate);
    out_.forest_edge.push_back(cube.edge);
    out_.alternative.push_back(at[0]);
    out_.step.push_back(f.step);
    for (const NodeId tail : cube.tails) out_.tails.push_back(groups_[tail].begin + *++at);
    out_.first_tail.push_back(static_cast<std::uint32_t>(out_.tails.size()));
  }

  static constexpr std::uint32_t kMostCandidates = 1u << 25;  // of a node: they take some 2 GB, and their states more

  const TranslationForest& forest_;
  const Scorer& scorer_;
  const SearchOptions& options_;
  const std::size_t words_;  // of a state, 8 bytes each
  double deadline_ = 0;
  SearchForest out_;
  std::vector<Group> groups_;          // by node of the translation forest
  std::vector<float> ranks_;           // by node of the translation forest
  std::vector<std::uint64_t> states_;  // by hypothesis

  // Of the node at hand; kept for their memory.
  std::vector<Cube> cubes_;
  std::vector<Candidate> candidates_;
  std::size_t stride_ = 1;                  // coordinates of a candidate: as many as any cube has
  std::vector<std::uint32_t> coordinates_;  // by candidate, with room for more
  std::vector<Queued> queue_;
  std::vector<Found> found_;
  std::vector<std::uint64_t> node_states_;  // by hypothesis, with room for more
  std::vector<double> best_, ahead_;        // by hypothesis
  HashIndex index_;                         // of hypotheses by their states
  std::vector<std::uint32_t> first_found_, next_, sorted_;
  std::vector<Ranked> order_;  // hypotheses, the most promising first
  std::vector<const std::byte*> tail_states_;
};

}  // namespace

SearchForest search(const TranslationForest& forest, const Scorer& scorer, const SearchOptions& options) {
  return CubeSearch(forest, scorer, options).run();
}

}  // namespace treeglot
