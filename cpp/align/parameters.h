// What alignment models of one direction count, and the distributions that follow from it.
//
// A word is linked to one of the given words, or to none. The model is a product of three: p(word | given word),
// p(jump) and p(fertility | given word). A jump leads from the given word of the last linked word to that of the next.
// A fertility is the number of words linked to it. The first jump starts before the sentence and the last one ends
// behind it.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace treeglot {

constexpr int kFarthestJump = 100;  // those beyond count as this one
constexpr std::size_t kJumps = 2 * kFarthestJump + 1;
constexpr std::size_t kFertilities = 8;  // the last stands for itself and all above

// How much of the model is used: p(word | given word) alone, with jumps, or with jumps and fertilities.
enum class AlignLevel : std::uint32_t { words = 1, jumps = 2, fertilities = 3 };

inline std::size_t jump_index(std::ptrdiff_t jump) {
  return static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(jump, -kFarthestJump, kFarthestJump) + kFarthestJump);
}
inline std::size_t fertility_index(std::size_t fertility) { return std::min(fertility, kFertilities - 1); }

// Dirichlet priors of the distributions; `null` is the probability that a word has no link.
struct AlignPriors {
  float lexical = 0.001f, null_lexical = 0.001f, jump = 0.5f, fertility = 0.5f, null = 0.2f;

  // Short jumps are likelier from the start. Otherwise every link would cost too much in a small corpus.
  float of_jump(std::size_t index) const {
    const int beside = std::abs(static_cast<int>(index) - kFarthestJump - 1);
    return jump * (1.0f + std::ldexp(256.0f, -beside));
  }
};

// Expected counts of one direction.
struct DirectionCounts {
  std::vector<float> pairs;        // links, by the number of the word pair
  std::vector<float> given;        // links of each given word, to word pairs without number too
  std::vector<float> null;         // times that each word has no link
  std::vector<float> jumps;        // kJumps
  std::vector<float> fertilities;  // kFertilities of each given word
};

// p(jump) for every two positions of a sentence, of up to `longest` words, so that no index needs a check.
class JumpTable {
 public:
  explicit JumpTable(std::size_t longest) : reach_(longest + 2), up_(2 * reach_ + 1, 1.0f), down_(up_) {}

  void set(const std::array<float, kJumps>& probabilities) {
    const auto reach = static_cast<std::ptrdiff_t>(reach_);
    for (std::ptrdiff_t jump = -reach; jump <= reach; ++jump) {
      up_[static_cast<std::size_t>(jump + reach)] = probabilities[jump_index(jump)];
      down_[static_cast<std::size_t>(reach - jump)] = probabilities[jump_index(jump)];
    }
  }
  // from(p)[i] is the probability of jumping from p to i, to(n)[i] that of jumping from i to n; p may be -1.
  const float* from(std::ptrdiff_t position) const {
    return up_.data() + static_cast<std::ptrdiff_t>(reach_) - position;
  }
  const float* to(std::ptrdiff_t position) const {
    return down_.data() + static_cast<std::ptrdiff_t>(reach_) - position;
  }

 private:
  std::size_t reach_;
  std::vector<float> up_, down_;
};

}  // namespace treeglot
