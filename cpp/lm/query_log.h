// The n-gram queries of searches, kept and asked again without the search: the least time that a search can take. Only
// builds with TREEGLOT_COUNT use it. One thread records at a time.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "lm/ngram_search.h"

namespace treeglot {

// Whether searches that are made from now on record their queries.
inline std::atomic<bool>& records_queries() {
  static std::atomic<bool> on = false;
  return on;
}

template <class Search>
struct NgramQuery {
  typename Search::State context;
  std::array<WordId, Search::kContext> left{};  // words that the context extends, or the word that follows it
  float known = 0;                              // the log10 probability of those words
  std::uint32_t length = 0;                     // how many they are; 0: one word follows the context
};

// Of all models with such a search.
template <class Search>
std::vector<NgramQuery<Search>>& query_log() {
  static std::vector<NgramQuery<Search>> queries;
  return queries;
}

// A search that records what it is asked.
template <class Search>
class RecordedSearch : public Search {
 public:
  using State = typename Search::State;
  explicit RecordedSearch(const Search& search) : Search(search) {}

  WordScore score(const State& in, WordId word, State& out) const {
    query_log<Search>().push_back({in, {word}});
    return Search::score(in, word, out);
  }

  WordScore extend_left(const WordId* left, unsigned length, float known, const WordId* context,
                        const FloatBits* charge, FloatBits* backoff, unsigned& use) const {
    NgramQuery<Search> query;
    query.context.length = use;
    std::copy_n(context, use, query.context.words.begin());
    std::copy_n(charge, use, query.context.backoff.begin());
    std::copy_n(left, length, query.left.begin());
    query.known = known;
    query.length = length;
    query_log<Search>().push_back(query);
    return Search::extend_left(left, length, known, context, charge, backoff, use);
  }
};

struct Replay {
  std::uint64_t queries = 0;
  double seconds = 0;  // of CPU
  double log10 = 0;    // the sum of the answers
};

// Asks all queries that were recorded again, in a bare loop.
template <class Search>
Replay replay_queries(const Search& search) {
  const auto& queries = query_log<Search>();
  Replay out;
  out.queries = queries.size();
  const double begin = thread_seconds();
  typename Search::State state;
  FloatBits backoff[Search::kContext];
  for (const NgramQuery<Search>& query : queries) {
    if (query.length == 0) {
      out.log10 += search.score(query.context, query.left[0], state).log10;
      __asm__ volatile("" : : "r"(&state) : "memory");  // the state is made, too
    } else {
      unsigned use = query.context.length;
      out.log10 += search
                       .extend_left(query.left.data(), query.length, query.known, query.context.words.data(),
                                    query.context.backoff.data(), backoff, use)
                       .log10;
      __asm__ volatile("" : : "r"(backoff), "r"(use) : "memory");
    }
  }
  out.seconds = thread_seconds() - begin;
  return out;
}

}  // namespace treeglot
