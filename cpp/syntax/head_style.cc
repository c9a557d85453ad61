#include "syntax/head_style.h"

#include <algorithm>
#include <array>
#include <span>

namespace treeglot {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

template <std::size_t N>
bool one_of(std::string_view label, const std::array<std::string_view, N>& labels) {
  return std::ranges::find(labels, label) != labels.end();
}

constexpr std::array<std::string_view, 2> kPrepositional = {"PP", "WHPP"};
constexpr std::array<std::string_view, 3> kPrepositions = {"IN", "TO", "P"};
constexpr std::array<std::string_view, 5> kVerbal = {"VP", "SINV", "SQ", "S", "FRAG"};
constexpr std::array<std::string_view, 9> kVerbs = {"MD", "VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "AUX", "AUXG"};
constexpr std::array<std::string_view, 2> kSubordinate = {"SBAR", "SBARQ"};
constexpr std::array<std::string_view, 3> kSubordinators = {"IN", "DT", "TO"};
constexpr std::array<std::string_view, 6> kClauses = {"S", "SINV", "SQ", "SBAR", "SBARQ", "VP"};

// The first child after `at` that `wanted` holds of.
template <class Wanted>
std::size_t after(const Constituent& node, std::size_t at, const Wanted& wanted) {
  for (std::size_t child = at + 1; child < node.children.size(); ++child)
    if (wanted(child)) return child;
  return kNone;
}

}  // namespace

std::size_t head_of(const Constituent& node, const HeadTable& table, const HeadStyle& style) {
  const std::size_t head = table.head_child(node.label, node.children);
  const std::string_view base = node.bases[head];
  const bool tag = node.tags[head] != 0;
  const auto clause = [&](std::size_t child) { return one_of(node.bases[child], kClauses); };
  std::size_t other = kNone;
  if (style.preposition_object && tag && one_of(node.base, kPrepositional) && one_of(base, kPrepositions)) {
    other = after(node, head, [&](std::size_t child) { return !table.passed_over(node.children[child]); });
  } else if (tag && one_of(node.base, kVerbal) &&
             ((style.main_verb && one_of(base, kVerbs)) || (style.infinitive_verb && base == "TO"))) {
    other = after(node, head, [&](std::size_t child) { return node.bases[child] == "VP"; });
  } else if (style.subordinate_clause && tag && one_of(node.base, kSubordinate) && one_of(base, kSubordinators)) {
    other = after(node, head, clause);
  } else if (style.question_clause && one_of(node.base, kSubordinate) && base.starts_with("W")) {
    other = after(node, head, clause);
  } else if (style.possessive_noun && tag && base == "POS" && head > 0) {
    other = table.head_child(node.label, std::span(node.children).first(head));
  }
  return other == kNone ? head : other;
}

std::vector<std::size_t> coordinate(const Constituent& node, const HeadTable& table, const HeadStyle& style) {
  const std::size_t size = node.children.size();
  const auto joins = [&](std::size_t child) { return table.conjunction(node.children[child]); };
  const auto passed = [&](std::size_t child) { return table.passed_over(node.children[child]); };
  std::size_t last = kNone;  // conjunction
  for (std::size_t child = 0; child < size; ++child)
    if (joins(child)) last = child;
  if (last == kNone) return {};

  const auto parts = [&](std::size_t child) {
    if (joins(child)) return true;
    if (!passed(child) || child > last) return false;
    std::size_t before = child, next = child + 1;
    while (before > 0 && passed(before - 1)) --before;
    while (next < size && passed(next)) ++next;
    return before > 0 && next < size && !joins(next) && !joins(before - 1) &&
           node.bases[before - 1] == node.bases[next];
  };

  struct Conjunct {
    std::size_t head;
    std::size_t before;  // what parts it from the conjunct before, if that is a conjunction
  };
  std::vector<Conjunct> conjuncts;
  std::vector<std::size_t> hangs(size, kNone);
  std::size_t joined = kNone;
  for (std::size_t begin = 0; begin < size;) {
    if (parts(begin)) {
      if (joins(begin)) joined = begin;
      ++begin;
      continue;
    }
    std::size_t end = begin;
    bool words = false;
    while (end < size && !parts(end)) words = !passed(end++) || words;
    if (words) {
      Constituent part{node.label, node.base, {}, {}, {}};
      part.children.assign(node.children.begin() + static_cast<std::ptrdiff_t>(begin),
                           node.children.begin() + static_cast<std::ptrdiff_t>(end));
      part.bases.assign(node.bases.begin() + static_cast<std::ptrdiff_t>(begin),
                        node.bases.begin() + static_cast<std::ptrdiff_t>(end));
      part.tags.assign(node.tags.begin() + static_cast<std::ptrdiff_t>(begin),
                       node.tags.begin() + static_cast<std::ptrdiff_t>(end));
      const std::size_t head = begin + head_of(part, table, style);
      for (std::size_t child = begin; child < end; ++child) hangs[child] = head;
      conjuncts.push_back({head, joined});
      joined = kNone;
    }
    begin = end;
  }
  if (conjuncts.size() < 2 || std::ranges::all_of(conjuncts, [](const Conjunct& c) { return c.before == kNone; }))
    return {};

  const bool chain = style.coordination == HeadStyle::Coordination::chain;
  std::size_t top = conjuncts.front().head;
  if (!chain) {
    for (const Conjunct& conjunct : conjuncts)
      if (conjunct.before != kNone) top = conjunct.before;
  }
  for (std::size_t i = 0; i < conjuncts.size(); ++i) {
    const Conjunct& conjunct = conjuncts[i];
    if (!chain) {
      hangs[conjunct.head] = top;
    } else if (i == 0) {
      hangs[conjunct.head] = conjunct.head;
    } else {
      const std::size_t above = conjuncts[i - 1].head;
      if (conjunct.before != kNone) hangs[conjunct.before] = above;
      hangs[conjunct.head] = conjunct.before == kNone ? above : conjunct.before;
    }
  }
  hangs[top] = top;
  for (std::size_t child = size; child-- > 0 && passed(child);) hangs[child] = top;  // ends the whole, not a conjunct
  // What is left, punctuation and conjunctions without a conjunct of their own, hangs from the conjunct before it;
  // where the conjunction is the head, from that.
  for (std::size_t child = 0; child < size; ++child) {
    if (hangs[child] != kNone) continue;
    hangs[child] = top;
    if (!chain) continue;
    for (const Conjunct& conjunct : conjuncts)
      if (conjunct.head < child) hangs[child] = conjunct.head;
  }
  return hangs;
}

}  // namespace treeglot
