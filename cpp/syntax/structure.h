// Dependency structures over spans: fixed, floating or ill-formed (the c2d page, "well-formed dependency fragments").
#pragma once

#include <cstdint>
#include <vector>

#include "base/span.h"
#include "syntax/dependency.h"
#include "syntax/dependency_checks.h"

namespace treeglot {

struct Structure {
  enum class Kind : std::uint8_t { ill_formed, fixed, floating };

  Kind kind = Kind::ill_formed;
  // For fixed, the word that it is fixed on. For floating, the head, outside the span, of all its roots (kRoot if they
  // are roots of the sentence). For ill-formed, kNoHead.
  std::int32_t head = Dependency::kNoHead;

  friend bool operator==(Structure, Structure) = default;
};

// Any head array can be asked, tree or not:
// - The head of a root and a missing head lie outside every span. Roots of the sentence have one and the same head.
//   Words whose head is missing have not, so two of these never float together.
// - A span that holds a whole cycle is ill-formed: its words hang from no root of the span.
//
// `strict` asks for the definitions of Shen et al. (2008) instead of those of the c2d page.
class Structures {
 public:
  explicit Structures(Heads heads, bool strict = false);  // O(words)

  std::size_t words() const { return heads_.size(); }
  Structure of(Span span) const;  // O(span); refuses a span that is empty or goes too far
  bool holds_cycle(Span span) const { return cycle_end_[span.begin] <= span.end; }  // a whole one

  // The word that the span is fixed on, or the two or more that float in it, or none.
  std::vector<std::uint32_t> roots(Span span) const { return roots(span, of(span)); }

  struct Rooted {
    Span span;
    std::vector<std::uint32_t> roots;
  };
  std::vector<Rooted> well_formed(std::size_t max_length) const;  // by begin, then end

 private:
  std::vector<std::uint32_t> roots(Span span, Structure structure) const;

  std::vector<std::int32_t> heads_;
  bool strict_;
  std::vector<std::uint32_t> first_, last_;  // by word: the first and last of itself and its dependents
  std::vector<std::uint32_t> cycle_end_;     // by begin: where the shortest span ends that holds a whole cycle
};

}  // namespace treeglot
