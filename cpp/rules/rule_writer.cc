#include "rules/rule_writer.h"

#include <algorithm>
#include <optional>

#include "syntax/dependency.h"

namespace treeglot {
namespace {

bool in(Span span, std::int32_t word) {
  return word >= 0 && static_cast<std::uint32_t>(word) >= span.begin && static_cast<std::uint32_t>(word) < span.end;
}

std::int32_t head_of(Span hole, Heads heads) {
  std::optional<std::int32_t> found;
  for (std::uint32_t word = hole.begin; word < hole.end; ++word) {
    if (in(hole, heads[word])) continue;
    if (found && *found != heads[word]) return Dependency::kNoHead;
    found = heads[word];
  }
  return found.value_or(Dependency::kNoHead);
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

void RuleWriter::assign(const RulePair& pair) {
  pair_ = pair;
  source_words_.assign(pair.source);
  target_words_.assign(pair.target);
  places_.resize(pair.target.size());
}

void RuleWriter::write(Symbol lhs, const PhrasePair& phrase, std::span<const RuleVariable> variables) {
  start_source();
  if (lhs != 0) left_hand_side(lhs);
  std::uint32_t at = phrase.source.begin, index = 0;
  for (const RuleVariable& variable : variables) {
    source_words({at, variable.source.begin});
    source_variable(index++, variable.label);
    at = variable.source.end;
  }
  source_words({at, phrase.source.end});
  write_target(phrase.target, variables);
}

void RuleWriter::write_target(Span target, std::span<const RuleVariable> variables) {
  order_.resize(variables.size());
  for (std::uint32_t i = 0; i < order_.size(); ++i) order_[i] = i;
  std::ranges::sort(order_, {}, [&](std::uint32_t i) { return variables[i].target.begin; });
  start_target();
  std::uint32_t at = target.begin;
  for (const std::uint32_t i : order_) {
    target_words({at, variables[i].target.begin});
    target_variable(i, variables[i].label);
    at = variables[i].target.end;
  }
  target_words({at, target.end});
  if (pair_.heads.empty()) return;
  holes_.clear();
  for (const std::uint32_t i : order_) holes_.push_back(variables[i].target);
  append_structure(target_, target, holes_, pair_.heads);
}

CodedRule RuleWriter::rule() {
  alignment_.clear();
  double weight = 1.0;
  for (const LinkedWords& linked : linked_) {
    const std::uint32_t first = pair_.frontier->source_links({0, linked.words.begin});
    const std::uint32_t count = pair_.frontier->source_links(linked.words);
    for (const Link link : pair_.links.subspan(first, count))
      append(alignment_, linked.place + link.source - linked.words.begin, places_[link.target]);
    if (pair_.weights.empty()) continue;
    for (const float link : pair_.weights.subspan(first, count)) weight *= link;
  }
  return {source_, target_, alignment_, notes_, weight, pair_.share};
}

}  // namespace treeglot
