// The n-grams of references and how often each is there, as paths from the root of a text: an n-gram's key is its
// prefix's node and its last symbol, so keys are exact for any order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace treeglot {

class Ngrams {
 public:
  using Node = std::uint32_t;
  static constexpr Node kNone = 0xffffffffu;

  Node add_root();
  // Counts the n-grams of a text, up to an order; an n-gram counts as often as it is in that text which has it most.
  void add(Node root, std::span<const std::uint32_t> symbols, std::size_t order);

  // How many n-grams of a text are there, for each n up to matches.size(): each at most as often as it counts.
  void match(Node root, std::span<const std::uint32_t> symbols, std::span<double> matches) const;

 private:
  struct Slot {
    Node parent = kNone;
    std::uint32_t symbol = 0;
    Node node = kNone;
  };

  std::size_t slot(Node parent, std::uint32_t symbol) const;
  Node child(Node parent, std::uint32_t symbol) const;
  Node intern(Node parent, std::uint32_t symbol);
  void grow();

  std::vector<std::uint32_t> count_;  // by node
  std::vector<Slot> slots_;           // open addressing, a power of two
  std::size_t edges_ = 0;
};

}  // namespace treeglot
