#include "parse/bracket_score.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string_view>
#include <tuple>

namespace treeglot {
namespace {

using Bracketed = std::tuple<std::uint32_t, std::uint32_t, std::string_view>;

// Labels and positions as the options have them.
class Counting {
 public:
  Counting(const Tree& gold, const BracketOptions& options) : options_(options) {
    for (std::size_t i = 0; i < gold.words(); ++i)
      places_.push_back(places_.back() + (is_left_out(gold.tag(i)) ? 0 : 1));
  }

  bool is_left_out(std::string_view label) const {
    return std::find(options_.left_out.begin(), options_.left_out.end(), label) != options_.left_out.end();
  }
  // Whether a node is a bracket, and which; spans without words are none.
  bool bracket(std::string_view label, Span span, Bracketed& out) const {
    if (is_left_out(label)) return false;
    for (const auto& [from, to] : options_.equal) {
      if (label == from) label = to;
    }
    out = {places_[span.begin], places_[span.end], label};
    return places_[span.begin] < places_[span.end];
  }
  // Which of the words that count are in a span.
  std::pair<std::uint32_t, std::uint32_t> words(Span span) const { return {places_[span.begin], places_[span.end]}; }
  bool is_counted(std::size_t word) const { return places_[word] < places_[word + 1]; }

  std::map<Bracketed, std::size_t> brackets(const Tree& tree, std::size_t& number) const {
    std::map<Bracketed, std::size_t> out;
    number = 0;
    Bracketed found;
    for (std::uint32_t node = 0; node < tree.size(); ++node) {
      const bool tag = tree.subtree_size(node) == 2;
      if (tree.is_word(node) || tag || !bracket(tree.label(node), tree.span(node), found)) continue;
      ++out[found];
      ++number;
    }
    return out;
  }

 private:
  const BracketOptions& options_;
  std::vector<std::uint32_t> places_ = {0};  // words that count before each
};

}  // namespace

BracketCounts& BracketCounts::operator+=(const BracketCounts& other) {
  matched += other.matched;
  gold += other.gold;
  test += other.test;
  exact += other.exact;
  sentences += other.sentences;
  right_tags += other.right_tags;
  words += other.words;
  missing += other.missing;
  return *this;
}

BracketCounts count_brackets(const Tree& gold, const Tree& test, const BracketOptions& options) {
  BracketCounts out;
  const Counting counting(gold, options);
  out.sentences = 1;
  const auto wanted = counting.brackets(gold, out.gold);
  for (std::size_t i = 0; i < gold.words(); ++i) out.words += counting.is_counted(i);
  if (test.empty()) {
    out.missing = 1;
    return out;
  }
  if (gold.words() != test.words())
    throw std::invalid_argument("a tree over " + std::to_string(test.words()) + " words; expected " +
                                std::to_string(gold.words()));
  for (const auto& [bracket, number] : counting.brackets(test, out.test)) {
    if (const auto found = wanted.find(bracket); found != wanted.end()) out.matched += std::min(number, found->second);
  }
  for (std::size_t i = 0; i < gold.words(); ++i) out.right_tags += counting.is_counted(i) && gold.tag(i) == test.tag(i);
  out.exact = out.matched == out.gold && out.matched == out.test;
  return out;
}

namespace {

// best[u][t]: the most brackets of the gold tree that a tree with t brackets has, or −1. Here u says which of the gold
// tree's brackets over the root's own words it has so far. A bracket counts as often as the gold tree has it. Brackets
// over the same words are one above the other, so u says enough.
using Matches = std::vector<std::vector<int>>;

void raise(std::vector<int>& to, const std::vector<int>& from) {
  if (to.size() < from.size()) to.resize(from.size(), -1);
  for (std::size_t t = 0; t < from.size(); ++t) to[t] = std::max(to[t], from[t]);
}

std::vector<int> joined(const std::vector<int>& a, const std::vector<int>& b) {
  if (a.empty() || b.empty()) return {};
  std::vector<int> out(a.size() + b.size() - 1, -1);
  for (std::size_t x = 0; x < a.size(); ++x) {
    if (a[x] < 0) continue;
    for (std::size_t y = 0; y < b.size(); ++y) {
      if (b[y] >= 0) out[x + y] = std::max(out[x + y], a[x] + b[y]);
    }
  }
  return out;
}

// The digits of u for one bracket: u / unit % (count + 1) of it were had.
struct Digit {
  std::size_t unit = 1, count = 0;
};

class Oracle {
 public:
  Oracle(const Tree& gold, const ParseForest& forest, const BracketOptions& options)
      : forest_(forest), counting_(gold, options), best_(forest.graph().nodes()) {
    std::size_t number = 0;
    for (const auto& [bracket, count] : counting_.brackets(gold, number)) {
      std::size_t& size = sizes_.try_emplace({std::get<0>(bracket), std::get<1>(bracket)}, 1).first->second;
      digits_[bracket] = {size, count};
      size *= count + 1;
    }
  }

  // By the number of a tree's brackets.
  std::vector<int> most_matches() {
    const Hypergraph& graph = forest_.graph();
    for (NodeId node = 0; node < graph.nodes(); ++node) {
      const auto size = sizes_.find(counting_.words(forest_.span(node)));
      best_[node].resize(size == sizes_.end() ? 1 : size->second);
      for (EdgeId edge = graph.edges_begin(node); edge < graph.edges_end(node); ++edge)
        add_edge(node, graph.tails(edge));
    }
    return best_of(graph.goal());
  }

 private:
  std::vector<int> best_of(NodeId node) const {
    std::vector<int> any;
    for (const std::vector<int>& one : best_[node]) raise(any, one);
    return any;
  }

  void add_edge(NodeId node, std::span<const NodeId> tails) {
    const auto words = counting_.words(forest_.span(node));
    Matches sum(best_[node].size());
    sum[0] = {0};
    std::vector<int> others = {0};
    for (const NodeId tail : tails) {
      if (counting_.words(forest_.span(tail)) == words && words.first < words.second) {
        sum = best_[tail];  // the others have no words that count
      } else {
        others = joined(others, best_of(tail));
      }
    }
    // A node may be tag by one edge and phrase by another: it is the edge that makes a bracket.
    Bracketed found;
    const bool tag = tails.size() == 1 && forest_.is_word(tails[0]);
    const bool counts =
        !forest_.is_word(node) && !tag && counting_.bracket(forest_.label(node), forest_.span(node), found);
    const auto digit = counts ? digits_.find(found) : digits_.end();
    for (std::size_t u = 0; u < sum.size(); ++u) {
      std::vector<int> one = joined(sum[u], others);
      if (one.empty()) continue;
      std::size_t to = u;
      if (counts) one.insert(one.begin(), -1);
      if (digit != digits_.end() && u / digit->second.unit % (digit->second.count + 1) < digit->second.count) {
        to += digit->second.unit;
        for (int& value : one) value += value >= 0;
      }
      raise(best_[node][to], one);
    }
  }

  const ParseForest& forest_;
  Counting counting_;
  std::map<Bracketed, Digit> digits_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> sizes_;  // of u, by words
  std::vector<Matches> best_;
};

}  // namespace

BracketCounts count_oracle(const Tree& gold, const ParseForest& forest, const BracketOptions& options) {
  BracketCounts out = count_brackets(gold, Tree(), options);
  if (!forest.parsed()) return out;
  if (gold.words() != forest.words())
    throw std::invalid_argument("a forest over " + std::to_string(forest.words()) + " words; expected " +
                                std::to_string(gold.words()));
  out.missing = 0;
  const std::vector<int> top = Oracle(gold, forest, options).most_matches();
  bool any = false;
  for (std::size_t t = 0; t < top.size(); ++t) {
    if (top[t] < 0) continue;
    const std::size_t matched = static_cast<std::size_t>(top[t]);
    // 2m / (g + t), compared without division; of equal ones the smallest tree, so that nothing may match nothing.
    if (!any || out.matched * (out.gold + t) < matched * (out.gold + out.test)) {
      any = true;
      out.matched = matched;
      out.test = t;
    }
  }
  out.exact = out.matched == out.gold && out.matched == out.test;
  return out;
}

}  // namespace treeglot
