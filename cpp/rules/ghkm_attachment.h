// Which rules take the unaligned target words around and within them (Galley et al. 2006; the c2d page, "unaligned
// target words").
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/span.h"
#include "rules/frontier.h"
#include "syntax/structure.h"

namespace treeglot {

// What a rule's root and its variables stand for, in one way of attaching.
struct Attachment {
  Span target;
  std::vector<Span> holes;
};

class Attachments {
 public:
  // `structures` is null for rules that need no well-formed ones. Both must outlive the object.
  Attachments(const Frontier& links, const Structures* structures) : links_(links), structures_(structures) {}

  // Every way to give each run of unaligned words in and around a rule to one owner. An owner is the rule's own words
  // or a variable beside the run. A run before or after all of the rule may also have no owner here. All results are
  // well-formed, if structures are asked for. The first is the simple policy, the highest node. `whole`: the rule
  // stands for the whole sentence, and must have all runs. More than `most` ways: only the first, and true is returned.
  bool find(Span target, bool whole, std::span<const Span> holes, std::size_t most, std::vector<Attachment>& out);

 private:
  enum class Taker : std::uint8_t { rule, left, right, nobody };
  struct Run {
    Span words;
    std::vector<Taker> takers;
    std::uint32_t left = 0, right = 0;  // holes beside it
  };

  void find_runs(Span target, bool whole, std::span<const Span> holes);
  bool well_formed(Span span) const;

  const Frontier& links_;
  const Structures* structures_;
  std::vector<Run> runs_;
  std::vector<std::size_t> chosen_;
};

}  // namespace treeglot
