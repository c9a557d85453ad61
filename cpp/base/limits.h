// Numbers from callers that would take all memory or time are refused before anything is made.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace treeglot {

inline constexpr std::size_t kMostNodes = std::size_t{1} << 27;  // of a graph, where they are asked for by number
inline constexpr std::size_t kMostSamples = 10'000'000;

// "the number of samples is 18446744073709551615; expected at most 10000000"
inline void check_at_most(std::string_view what, std::size_t found, std::size_t most) {
  if (found > most) {
    throw std::invalid_argument(std::string(what) + " is " + std::to_string(found) + "; expected at most " +
                                std::to_string(most));
  }
}

}  // namespace treeglot
