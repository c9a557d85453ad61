// Word alignment of a sentence pair: a set of links, sorted by source, then target.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace treeglot {

struct Link {
  std::uint32_t source = 0;
  std::uint32_t target = 0;
  friend auto operator<=>(Link, Link) = default;
};

class Alignment {
 public:
  explicit Alignment(std::vector<Link> links = {});  // sorted here, doubles dropped

  std::span<const Link> links() const { return links_; }
  std::size_t size() const { return links_.size(); }
  bool contains(Link link) const;
  Alignment transpose() const;  // source and target exchanged

  // Refuses a link outside a pair of these lengths: "link 3-9: the target sentence has 7 words".
  void check(std::size_t source_length, std::size_t target_length) const;

  friend bool operator==(const Alignment&, const Alignment&) = default;

 private:
  std::vector<Link> links_;
};

}  // namespace treeglot
