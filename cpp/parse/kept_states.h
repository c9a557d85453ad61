// What a pass of coarse-to-fine parsing leaves to the next: the states that may stand over each span.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

namespace treeglot {

class KeptStates {
 public:
  explicit KeptStates(std::size_t words) : words_(words), begin_(words * (words + 1), 0), end_(begin_) {}

  std::size_t words() const { return words_; }
  // Ascending numbers. Every span is set at most once.
  void set(std::size_t i, std::size_t j, std::span<const std::uint32_t> states) {
    begin_[at(i, j)] = states_.size();
    states_.insert(states_.end(), states.begin(), states.end());
    end_[at(i, j)] = states_.size();
  }
  std::span<const std::uint32_t> operator()(std::size_t i, std::size_t j) const {
    return std::span<const std::uint32_t>(states_).subspan(begin_[at(i, j)], end_[at(i, j)] - begin_[at(i, j)]);
  }

 private:
  std::size_t at(std::size_t i, std::size_t j) const { return i * words_ + j - 1; }

  std::size_t words_;
  std::vector<std::size_t> begin_, end_;
  std::vector<std::uint32_t> states_;
};

// When to give up on a sentence; 0 is no limit.
class Limits {
 public:
  explicit Limits(double seconds = 0.0, std::size_t bytes = 0) : limited_(seconds > 0.0), bytes_(bytes) {
    constexpr double kMost = 1e9;  // some thirty years: clocks have no more
    if (limited_)
      end_ = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                    std::chrono::duration<double>(std::min(seconds, kMost)));
  }
  bool late() const { return limited_ && std::chrono::steady_clock::now() > end_; }
  bool too_large(std::size_t bytes) const { return bytes_ > 0 && bytes > bytes_; }  // a chart of so many
  // The same for what comes beside something of so many bytes.
  Limits beside(std::size_t bytes) const {
    Limits out = *this;
    if (bytes_ > 0) out.bytes_ = bytes_ > bytes ? bytes_ - bytes : 1;
    return out;
  }

 private:
  bool limited_;
  std::size_t bytes_;
  std::chrono::steady_clock::time_point end_;
};

enum class Outcome : std::uint8_t { parsed, no_parse, late, too_large };

}  // namespace treeglot
