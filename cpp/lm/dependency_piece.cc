#include "lm/dependency_piece.h"

#include <stdexcept>
#include <string>
#include <utility>

#include "syntax/dependency.h"
#include "syntax/dependency_checks.h"

namespace treeglot {
namespace {

static_assert(kRuleRoot == Dependency::kRoot);

class PieceArcs {
 public:
  PieceArcs(std::span<const std::int32_t> heads, std::span<const DependencyPiece* const> items) : heads_(heads) {
    for (const DependencyPiece* const item : items) add(item == nullptr ? DependencyPiece::word() : *item);
  }

  std::size_t size() const { return items_.size(); }
  std::int32_t head(std::int32_t item) const { return heads_[static_cast<std::size_t>(item)]; }
  std::size_t roots(std::int32_t item) const { return roots_of(item).size(); }

  void settle(std::int32_t item) {
    hang(roots_of(item).subspan(1), roots_of(item).front());
    items_[static_cast<std::size_t>(item)].count = 1;
  }
  void attach_right(std::int32_t head, std::int32_t item) { hang(roots_of(item), roots_of(head).front()); }
  void attach_left(std::int32_t head, std::int32_t item) { hang(roots_of(item), roots_of(head).front()); }
  void keep(std::int32_t item) {
    const auto roots = roots_of(item);
    out_.roots.insert(out_.roots.end(), roots.begin(), roots.end());
  }

  DependencyPiece finish() { return std::move(out_); }

 private:
  struct Item {
    std::size_t begin, count;  // in roots_
  };

  void add(const DependencyPiece& piece) {
    const std::size_t begin = out_.heads.size();
    for (const std::int32_t head : piece.heads) {
      out_.heads.push_back(head < 0 ? head : head + static_cast<std::int32_t>(begin));
    }
    items_.push_back({roots_.size(), piece.roots.size()});
    for (const std::uint32_t root : piece.roots) roots_.push_back(root + static_cast<std::uint32_t>(begin));
  }
  std::span<const std::uint32_t> roots_of(std::int32_t item) const {
    const auto [begin, count] = items_[static_cast<std::size_t>(item)];
    return std::span(roots_).subspan(begin, count);
  }
  void hang(std::span<const std::uint32_t> words, std::uint32_t head) {
    for (const std::uint32_t word : words) out_.heads[word] = static_cast<std::int32_t>(head);
  }

  std::span<const std::int32_t> heads_;
  std::vector<Item> items_;
  std::vector<std::uint32_t> roots_;  // of all items
  DependencyPiece out_;
};

}  // namespace

void check_rule_heads(std::span<const std::int32_t> heads) {
  const auto fail = [&](std::size_t item, const std::string& problem) {
    throw std::invalid_argument("item " + std::to_string(item) + " of the rule " + problem);
  };
  for (std::size_t i = 0; i < heads.size(); ++i) {
    if (heads[i] < kRuleRoot || heads[i] >= static_cast<std::int32_t>(heads.size()))
      fail(i, "has the head " + std::to_string(heads[i]) + "; expected -1 or an item from 0 to " +
                  std::to_string(heads.size() - 1));
    if (heads[i] == static_cast<std::int32_t>(i)) fail(i, "is its own head");
  }
  if (const auto found = cycles(heads); !found.empty()) fail(found[0][0], "is on a cycle of heads");
  if (const auto found = nonprojective_arcs(heads); !found.empty()) fail(found[0], "has an arc that is not projective");
}

DependencyPiece join_pieces(std::span<const std::int32_t> heads, std::span<const DependencyPiece* const> items,
                            DependencyTally& tally) {
  if (heads.size() != items.size())
    throw std::invalid_argument("a rule has " + std::to_string(items.size()) + " items and " +
                                std::to_string(heads.size()) + " heads; expected one for each");
  check_rule_heads(heads);
  PieceArcs arcs(heads, items);
  tally = connect(arcs);
  return arcs.finish();
}

}  // namespace treeglot
