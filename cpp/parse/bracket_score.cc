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
    if (const auto found = wanted.find(bracket); found != wanted.end())
      out.matched += std::min(number, found->second);
  }
  for (std::size_t i = 0; i < gold.words(); ++i)
    out.right_tags += counting.is_counted(i) && gold.tag(i) == test.tag(i);
  out.exact = out.matched == out.gold && out.matched == out.test;
  return out;
}

// best[v][t]: the most brackets of `gold` that a tree of v with t brackets has, or −1.
BracketCounts count_oracle(const Tree& gold, const ParseForest& forest, const BracketOptions& options) {
  BracketCounts out = count_brackets(gold, Tree(), options);
  if (!forest.parsed()) return out;
  if (gold.words() != forest.words())
    throw std::invalid_argument("a forest over " + std::to_string(forest.words()) + " words; expected " +
                                std::to_string(gold.words()));
  out.missing = 0;
  const Counting counting(gold, options);
  std::size_t number = 0;
  const auto wanted = counting.brackets(gold, number);
  const Hypergraph& graph = forest.graph();
  std::vector<std::vector<int>> best(graph.nodes());
  std::vector<int> sum, next;
  for (NodeId node = 0; node < graph.nodes(); ++node) {
    for (EdgeId edge = graph.edges_begin(node); edge < graph.edges_end(node); ++edge) {
      const auto tails = graph.tails(edge);
      sum.assign(1, 0);
      for (const NodeId tail : tails) {
        const std::vector<int>& below = best[tail];
        next.assign(sum.size() + below.size() - 1, -1);
        for (std::size_t a = 0; a < sum.size(); ++a) {
          if (sum[a] < 0) continue;
          for (std::size_t b = 0; b < below.size(); ++b) {
            if (below[b] >= 0) next[a + b] = std::max(next[a + b], sum[a] + below[b]);
          }
        }
        sum.swap(next);
      }
      // A node may be tag by one edge and phrase by another: it is the edge that makes a bracket.
      Bracketed found;
      const bool tag = tails.size() == 1 && forest.is_word(tails[0]);
      if (!forest.is_word(node) && !tag && counting.bracket(forest.label(node), forest.span(node), found)) {
        const int match = wanted.contains(found) ? 1 : 0;
        sum.insert(sum.begin(), -1);
        for (int& value : sum) {
          if (value >= 0) value += match;
        }
      }
      if (best[node].size() < sum.size()) best[node].resize(sum.size(), -1);
      for (std::size_t t = 0; t < sum.size(); ++t) best[node][t] = std::max(best[node][t], sum[t]);
    }
  }
  const std::vector<int>& top = best[graph.goal()];
  for (std::size_t t = 0; t < top.size(); ++t) {
    if (top[t] < 0) continue;
    const std::size_t matched = static_cast<std::size_t>(top[t]);
    // 2m / (g + t), compared without division.
    if (out.matched * (out.gold + t) <= matched * (out.gold + out.test)) {
      out.matched = matched;
      out.test = t;
    }
  }
  out.exact = out.matched == out.gold && out.matched == out.test;
  return out;
}

}  // namespace treeglot
