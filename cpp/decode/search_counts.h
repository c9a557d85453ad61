// What searches do, counted for measurements. Only builds with TREEGLOT_COUNT count; in others this costs nothing.
#pragma once

#include <cstdint>

#ifdef TREEGLOT_COUNT
#include <atomic>
#endif

namespace treeglot {

enum class SearchCount {
  searches,    // of sentences
  candidates,  // points of cubes that were scored
  states,      // hypotheses with different states that were kept
  misses,      // source sides that the rule cache did not have
};

#ifdef TREEGLOT_COUNT

inline constexpr std::size_t kSearchCounts = 4;

// Of all threads since the process began.
inline std::atomic<std::uint64_t>& search_count(SearchCount what) {
  static std::atomic<std::uint64_t> counts[kSearchCounts];
  return counts[static_cast<std::size_t>(what)];
}
inline void count_search(SearchCount what, std::uint64_t number) {
  search_count(what).fetch_add(number, std::memory_order_relaxed);
}

#else

inline void count_search(SearchCount /*what*/, std::uint64_t /*number*/) {}

#endif

}  // namespace treeglot
