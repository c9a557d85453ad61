#include "rules/target_structure.h"

#include <cstdint>

#include "rules/code.h"

namespace treeglot {
namespace {

bool in(Span span, std::int32_t word) {
  return word >= 0 && static_cast<std::uint32_t>(word) >= span.begin && static_cast<std::uint32_t>(word) < span.end;
}

std::int32_t head_of(Span hole, Heads heads) {
  for (std::uint32_t word = hole.begin; word < hole.end; ++word)
    if (!in(hole, heads[word])) return heads[word];
  return heads[hole.begin];  // a cycle: not well-formed
}

}  // namespace

void append_structure(std::string& code, Span target, std::span<const Span> holes, Heads heads) {
  const auto place = [&](std::uint32_t word) {
    std::uint32_t covered = 0;  // words before it that holes have taken from the side, but one for each variable
    for (const Span hole : holes) {
      if (word < hole.begin) break;
      covered += (word < hole.end ? word : hole.end - 1) - hole.begin;
    }
    return word - target.begin - covered;
  };
  const auto put = [&](std::int32_t head) {
    code::append(code, in(target, head) ? place(static_cast<std::uint32_t>(head)) + 1 : 0);
  };
  code::append(code, code::kStructure);
  auto hole = holes.begin();
  for (std::uint32_t word = target.begin; word < target.end;) {
    if (hole != holes.end() && hole->begin == word) {
      put(head_of(*hole, heads));
      word = (hole++)->end;
    } else {
      put(heads[word++]);
    }
  }
}

}  // namespace treeglot
