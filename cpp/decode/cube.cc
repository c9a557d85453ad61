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
#include "decode/text_key.h"
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
    of_text_ = (of_text_ || offsets_.size() == 1) && feature->is_of_text();
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

// A hypothesis as the search keeps it. The bytes of its state follow.
struct Hypothesis {
  double score;     // of its best derivation
  double stateful;  // what stateful features contribute to it
  TextKey text;     // of this derivation's output
};
constexpr std::size_t kHead = sizeof(Hypothesis) / sizeof(std::uint64_t);

// An output of a node whose stateful score is known.
struct KnownText {
  std::uint64_t number;
  double stateful;
  std::uint32_t hypothesis;
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

// Copied, since features write their states as values of other types.
std::uint64_t word_at(const std::uint64_t* words, std::size_t at) {
  std::uint64_t value = 0;
  std::memcpy(&value, words + at, sizeof value);
  return value;
}

bool same_words(const std::uint64_t* a, const std::uint64_t* b, std::size_t size) {
  std::uint64_t different = 0;  // without jumps: they are nearly always the same
  for (std::size_t at = 0; at < size; ++at) different |= word_at(a, at) ^ word_at(b, at);
  return different == 0;
}

// A hash of 8-byte words. Pairs of words do not wait for each other.
std::uint64_t hash_words(const std::uint64_t* words, std::size_t size) {
  __extension__ using Wide = unsigned __int128;
  std::uint64_t state = size;
  const auto word = [&](std::size_t at) { return word_at(words, at); };
  const auto add = [&](std::uint64_t a, std::uint64_t b, std::size_t at) {
    const Wide product = static_cast<Wide>((a + at) ^ 0xa0761d6478bd642fu) * (b ^ 0xe7037ed1a0b428dbu);
    state ^= static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  };
  std::size_t at = 0;
  for (; at + 2 <= size; at += 2) add(word(at), word(at + 1), at);
  if (at < size) add(word(at), 0, at);
  return hash_number(state);
}

}  // namespace

// One search. Its vectors keep their memory for the next one.
class CubeSearch::Sentence {
 public:
  explicit Sentence(const Scorer& scorer)
      : scorer_(scorer),
        words_(scorer.state_bytes() / sizeof(std::uint64_t)),
        record_(kHead + words_),
        of_text_(scorer.is_of_text()) {}

  SearchForest run(const TranslationForest& forest, const SearchOptions& options) {
    forest_ = &forest;
    options_ = options;
    deadline_ = 0;
    out_ = {};
    groups_.assign(forest.graph.nodes(), {});
    count_search(SearchCount::searches, 1);
    if (options_.time_limit > 0) deadline_ = thread_seconds() + options_.time_limit;
    if (options_.pop_limit > 0) rank_nodes();
    for (NodeId node = 0; node < forest_->graph.nodes(); ++node) expand(node);
    if (forest_->graph.goal() != kNoNode && groups_[forest_->graph.goal()].size() > 0)
      out_.goal = groups_[forest_->graph.goal()].begin;
    return std::move(out_);
  }

  // What it holds between sentences; the other vectors are smaller than these.
  std::size_t bytes() const {
    return (kept_.capacity() + node_.capacity()) * sizeof(std::uint64_t) + points_.capacity() * sizeof(std::uint32_t) +
           found_.capacity() * sizeof(Found) + texts_.capacity() * sizeof(KnownText) + index_.bytes() +
           text_index_.bytes();
  }

 private:
  void expand(NodeId node) {
    candidates_ = made_ = 0;
    queue_.clear();
    found_.clear();
    ahead_.clear();
    index_.clear();
    texts_.clear();
    text_index_.clear();
    add_cubes(node);
    for (std::uint32_t cube = 0; cube < cubes_.size(); ++cube) {
      std::uint32_t* const point = add_candidate();
      for (std::size_t at = 0; at < stride_; ++at) point[at] = 0;
      point[kCube] = cube;
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
    stride_ = kRanks;
    for (EdgeId edge = forest_->graph.edges_begin(node); edge < forest_->graph.edges_end(node); ++edge) {
      const auto tails = forest_->graph.tails(edge);
      if (forest_->alternatives[edge].empty()) continue;
      if (std::ranges::any_of(tails, [&](NodeId tail) { return groups_[tail].size() == 0; })) continue;
      cubes_.push_back({forest_->alternatives[edge], tails, edge, forest_->place[edge], value_of(edge)});
      stride_ = std::max(stride_, kRanks + tails.size());
    }
    tail_states_.resize(stride_ - kRanks);
    tails_.resize(stride_ - kRanks);
    stride_ = (stride_ + kBlock - 1) / kBlock * kBlock;
  }

  double value_of(EdgeId edge) const {
    if (forest_->edge_value.empty()) return 0;
    return double{scorer_.weights()[forest_->edge_feature_of(edge)]} * forest_->edge_value[edge];
  }

  bool time_is_up() {
    if (deadline_ > 0 && !out_.late) out_.late = candidates_ > kMostCandidates || thread_seconds() > deadline_;
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
    expected.reserve(forest_->graph.edges());
    for (EdgeId edge = 0; edge < forest_->graph.edges(); ++edge) {
      const auto alternatives = forest_->alternatives[edge];
      double score = alternatives.empty() ? kMinusInfinity : alternatives.front().priority();
      if (!forest_->edge_value.empty())
        score += double{scorer_.weights()[forest_->edge_feature_of(edge)]} * finite(forest_->edge_value[edge]);
      expected.push_back(score);
    }
    ranks_ = node_ranks(forest_->graph, expected);
  }

  // The most promising node gets twice the pops, one in the middle 0.7 times, and the last one a quarter. Where a span
  // has several nodes that a matcher ranked, the second gets half of this, the third a third.
  std::size_t pop_limit(NodeId node) const {
    if (options_.pop_limit == 0) return std::numeric_limits<std::size_t>::max();
    const std::size_t rank = node < forest_->rank.size() ? forest_->rank[node] : 0;
    const double pops = 2.0 * options_.pop_limit * std::exp(-2.0 * ranks_[node]);
    return static_cast<std::size_t>(std::ceil(pops / static_cast<double>(rank + 1)));
  }

  // Adds a candidate; returns its point, which the caller sets.
  std::uint32_t* add_candidate() {
    const std::size_t first = candidates_++ * stride_;
    if (points_.size() < first + stride_) points_.resize((first + stride_) * 3 / 2);
    return points_.data() + first;
  }
  const std::uint32_t* point(std::size_t candidate) const { return points_.data() + candidate * stride_; }

  // Each point of a cube has one predecessor: its last coordinate above 0 is one less. So no point is made twice, and
  // no set of seen points is needed (Gesmundo and Henderson 2010). The first successor takes the candidate's place at
  // the front of the queue: it often stays near the front.
  void replace_by_successors(std::uint32_t candidate) {
    const Cube& cube = cubes_[point(candidate)[kCube]];
    bool replaced = false;
    for (std::uint32_t moved = point(candidate)[kLastMoved]; moved <= cube.tails.size(); ++moved) {
      const std::size_t size = moved == 0 ? cube.alternatives.size() : groups_[cube.tails[moved - 1]].size();
      if (point(candidate)[kAlternative + moved] + 1 >= size) continue;
      std::uint32_t* const to = add_candidate();
      for (std::size_t at = 0; at < stride_; at += kBlock)
        std::memcpy(to + at, point(candidate) + at, kBlock * sizeof *to);
      to[kLastMoved] = moved;
      ++to[kAlternative + moved];
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
    const auto candidate = static_cast<std::uint32_t>(candidates_ - 1);
    const std::uint32_t* const at = point(candidate);
    const Cube& cube = cubes_[at[kCube]];
    const Alternative& rule = cube.alternatives[at[kAlternative]];
    double below = 0, stateful_below = 0;
    for (std::size_t k = 0; k < cube.tails.size(); ++k) {
      const std::uint64_t* const tail = kept(groups_[cube.tails[k]].begin + at[kRanks + k]);
      tails_[k] = reinterpret_cast<const Hypothesis*>(tail);
      tail_states_[k] = reinterpret_cast<const std::byte*>(tail + kHead);
      below += tails_[k]->score;
      stateful_below += tails_[k]->stateful;
    }
    const Outcome outcome = of_text_ ? look_up(rule, cube, stateful_below) : apply(rule, cube);
    const double step = static_cast<double>(rule.score) + cube.value + outcome.stateful, total = below + step;
    const std::uint32_t hypothesis = outcome.hypothesis;
    const bool is_new = hypothesis == made_;
    Hypothesis& head = made(hypothesis);
    if (is_new) {
      ++made_;
      ahead_.push_back(scorer_.ahead(reinterpret_cast<const std::byte*>(&head + 1)));
    }
    if (is_new || total > head.score)
      std::construct_at(&head, Hypothesis{total, stateful_below + outcome.stateful, outcome.text});
    const Found found = {candidate, hypothesis, step, total};
    if (!options_.best_only || is_new) {
      found_.push_back(found);
    } else if (found.score > found_[hypothesis].score) {
      found_[hypothesis] = found;
    }
    return {total + ahead_[hypothesis], candidate};
  }

  // What the stateful features make of a candidate, whose tails are at hand.
  struct Outcome {
    double stateful;           // what they add to the scores of the tails
    std::uint32_t hypothesis;  // the one with this state; made_: the next one, whose state was written
    TextKey text;
  };

  Outcome apply(const Alternative& rule, const Cube& cube) {
    const std::size_t first = made_ * record_;
    if (node_.size() < first + record_) node_.resize((first + record_) * 3 / 2);
    std::uint64_t* const state = node_.data() + first + kHead;
    Sink sink(scorer_.all_weights());
    scorer_.apply({rule.target, rule.rule, cube.place, cube.edge}, tail_states_.data(),
                  reinterpret_cast<std::byte*>(state), sink);
    const std::uint32_t hypothesis = index_.intern(hash_words(state, words_), made_, [&](std::uint32_t known) {
      return same_words(state, node_.data() + known * record_ + kHead, words_);
    });
    return {sink.sum(), hypothesis, {}};
  }

  // The same where features are of text. Many candidates of a node have the output of an earlier one. So they also have
  // its state, and the same sum of stateful scores.
  Outcome look_up(const Alternative& rule, const Cube& cube, double stateful_below) {
    const TextKey text = text_of(rule.target, cube.place);
    const auto next = static_cast<std::uint32_t>(texts_.size());
    const std::uint32_t known =
        text_index_.intern(text.number, next, [&](std::uint32_t other) { return texts_[other].number == text.number; });
    if (known != next) return {texts_[known].stateful - stateful_below, texts_[known].hypothesis, text};
    Outcome outcome = apply(rule, cube);
    outcome.text = text;
    texts_.push_back({text.number, stateful_below + outcome.stateful, outcome.hypothesis});
    return outcome;
  }

  // The output of a rule with the tails at hand. Marks stand for the begin and the end of the sentence.
  TextKey text_of(const TargetSide& target, std::uint8_t place) const {
    TextKey text;
    if ((place & kBegins) != 0) text.append(std::int64_t{-2});
    for (const std::int32_t symbol : target) {
      if (symbol < 0) {
        text.append(tails_[static_cast<std::size_t>(-1 - symbol)]->text);
      } else {
        text.append(std::int64_t{symbol});
      }
    }
    if ((place & kEnds) != 0) text.append(std::int64_t{-3});
    return text;
  }

  Hypothesis& made(std::uint32_t hypothesis) {
    return *reinterpret_cast<Hypothesis*>(node_.data() + hypothesis * record_);
  }
  const std::uint64_t* kept(NodeId hypothesis) const { return kept_.data() + hypothesis * record_; }

  double promise(std::uint32_t hypothesis) { return made(hypothesis).score + ahead_[hypothesis]; }

  // Moves the node's hypotheses into the search forest: best first, those outside the beam dropped.
  void keep(NodeId node) {
    order_.clear();
    for (std::uint32_t hypothesis = 0; hypothesis < made_; ++hypothesis)
      order_.emplace_back(promise(hypothesis), hypothesis);
    std::sort(order_.begin(), order_.end(), [](const Ranked& a, const Ranked& b) { return b < a; });
    std::size_t size = order_.size();
    if (options_.beam > 0) size = std::min<std::size_t>(size, options_.beam);
    if (options_.threshold > 0)
      while (size > 1 && promise(order_[size - 1].number()) < promise(order_[0].number()) - options_.threshold) --size;

    const auto begin = static_cast<NodeId>(out_.score.size());
    if (kept_.size() < (begin + size) * record_) kept_.resize((begin + size) * record_ * 3 / 2);
    std::uint64_t* to = kept_.data() + begin * record_;
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      const std::uint32_t hypothesis = order_[rank].number();
      out_.score.push_back(made(hypothesis).score);
      std::memcpy(to, &made(hypothesis), record_ * sizeof *to);
      to += record_;
    }
    groups_[node] = {begin, begin + static_cast<NodeId>(size)};
    count_search(SearchCount::candidates, candidates_);
    count_search(SearchCount::states, size);
    if (!options_.best_only) sort_found();
    for (std::uint32_t rank = 0; rank < size; ++rank) {
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
    first_found_.assign(made_ + 1, 0);
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
    const std::uint32_t* const at = point(f.candidate);
    const Cube& cube = cubes_[at[kCube]];
    out_.forest_edge.push_back(cube.edge);
    out_.alternative.push_back(at[kAlternative]);
    out_.step.push_back(f.step);
    for (std::size_t k = 0; k < cube.tails.size(); ++k)
      out_.tails.push_back(groups_[cube.tails[k]].begin + at[kRanks + k]);
    out_.first_tail.push_back(static_cast<std::uint32_t>(out_.tails.size()));
  }

  static constexpr std::uint32_t kMostCandidates = 1u << 25;  // of a node: they take some 2 GB, and their states more
  // A candidate is a point of a cube. Its numbers are the cube, the last coordinate that is not 0
  // (`replace_by_successors`), and the coordinates: the alternative, then a rank in each tail's group.
  static constexpr std::size_t kCube = 0, kLastMoved = 1, kAlternative = 2, kRanks = 3;
  static constexpr std::size_t kBlock = 8;  // they are copied in blocks of this size

  const Scorer& scorer_;
  const std::size_t words_;   // of a state, 8 bytes each
  const std::size_t record_;  // of a hypothesis with its state
  const bool of_text_;

  // Of the sentence at hand.
  const TranslationForest* forest_ = nullptr;
  SearchOptions options_;
  double deadline_ = 0;
  SearchForest out_;
  std::vector<Group> groups_;        // by node of the translation forest
  std::vector<float> ranks_;         // by node of the translation forest
  std::vector<std::uint64_t> kept_;  // a record for each hypothesis, with room for more

  // Of the node at hand; kept for their memory.
  std::vector<Cube> cubes_;
  std::size_t candidates_ = 0;
  std::size_t stride_ = 0;             // of candidates: as many coordinates as any cube has, in blocks
  std::vector<std::uint32_t> points_;  // of candidates, with room for more
  std::vector<Queued> queue_;
  std::vector<Found> found_;
  std::uint32_t made_ = 0;           // hypotheses
  std::vector<std::uint64_t> node_;  // their records, with room for more
  std::vector<double> ahead_;        // by hypothesis
  HashIndex index_;                  // of hypotheses by their states
  std::vector<KnownText> texts_;     // where features are of text
  HashIndex text_index_;
  std::vector<std::uint32_t> first_found_, next_, sorted_;
  std::vector<Ranked> order_;  // hypotheses, the most promising first
  // Of the candidate at hand.
  std::vector<const Hypothesis*> tails_;
  std::vector<const std::byte*> tail_states_;
};

CubeSearch::CubeSearch(const Scorer& scorer) : scorer_(scorer), sentence_(std::make_unique<Sentence>(scorer)) {}
CubeSearch::~CubeSearch() = default;

SearchForest CubeSearch::run(const TranslationForest& forest, const SearchOptions& options) {
  constexpr std::size_t kMostKept = 1u << 26;  // bytes
  try {
    SearchForest found = sentence_->run(forest, options);
    if (sentence_->bytes() > kMostKept) sentence_ = std::make_unique<Sentence>(scorer_);
    return found;
  } catch (...) {  // a refused search may hold much, too
    sentence_ = std::make_unique<Sentence>(scorer_);
    throw;
  }
}

}  // namespace treeglot
