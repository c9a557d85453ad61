// Measurements of searches, in builds with TREEGLOT_COUNT.
#ifdef TREEGLOT_COUNT

#include "bind/core.h"
#include "decode/search_counts.h"
#include "lm/ngram.h"
#include "lm/query_log.h"

namespace treeglot {

void bind_counts(nb::module_& m) {
  m.def(
      "search_counts",
      [] {
        std::map<std::string, std::uint64_t> out;
        out["searches"] = search_count(SearchCount::searches);
        out["candidates"] = search_count(SearchCount::candidates);
        out["states"] = search_count(SearchCount::states);
        out["misses"] = search_count(SearchCount::misses);
        return out;
      },
      "What all searches of this process have counted.");
  m.def(
      "record_queries", [](bool on) { records_queries() = on; }, "on"_a,
      "Let translators that are made from now on record their n-gram queries. One thread may translate at a time.");
  m.def(
      "replay_queries",
      [](const NgramModel& model) {
        const Replay found = model.with_search([](const auto& search) { return replay_queries(search); });
        return std::tuple(found.queries, found.seconds, found.log10);
      },
      "model"_a, "Ask all recorded queries again: how many they are, CPU seconds, and the sum of the answers.");
  m.def(
      "forget_queries",
      [](const NgramModel& model) {
        model.with_search([](const auto& search) { query_log<std::decay_t<decltype(search)>>().clear(); });
      },
      "model"_a, "Forget the recorded queries.");
}

}  // namespace treeglot

#endif
