#include "rules/rule_record.h"

#include <stdexcept>

namespace treeglot {
namespace {

// A record begins with the left-hand side and a word of sizes. That word has 8 bits for the target side. A bit for each
// further kind of list says whether it has values. The number of links takes the rest. The sizes of the further lists
// follow. Then come the values: target side, features, lists, links.
constexpr unsigned kKindBits = 8, kLinkBits = 12;
constexpr std::size_t kMostLinks = (1u << (32 - kLinkBits)) - 1;
constexpr RuleListKind kFurther[] = {kSparseList, kLabelList, kStructureList};

std::uint32_t bit(RuleListKind kind) { return 1u << (kKindBits + kind - 1); }
static_assert(kKindBits + kStructureList <= kLinkBits);

std::size_t words(std::size_t bytes) { return (bytes + sizeof(std::uint32_t) - 1) / sizeof(std::uint32_t); }

}  // namespace

void make_record(Symbol lhs, std::span<const std::int32_t> target, std::span<const float> features,
                 const RuleNotes& notes, std::vector<std::uint32_t>& out) {
  if (target.size() > kLongestSide) throw std::invalid_argument("a target side is longer than a rule's can be");
  if (notes.alignment.size() > kMostLinks)
    throw std::invalid_argument("a rule has " + std::to_string(notes.alignment.size()) + " links; expected at most " +
                                std::to_string(kMostLinks));
  const std::span<const std::byte> lists[kRuleLists] = {std::as_bytes(target), std::as_bytes(notes.sparse),
                                                        std::as_bytes(notes.alignment), std::as_bytes(notes.labels),
                                                        std::as_bytes(notes.structure)};
  auto sizes = static_cast<std::uint32_t>(target.size() | notes.alignment.size() << kLinkBits);
  for (const RuleListKind kind : kFurther) sizes |= lists[kind].empty() ? 0 : bit(kind);
  out.assign({lhs, sizes});
  for (const RuleListKind kind : kFurther)
    if (!lists[kind].empty()) out.push_back(static_cast<std::uint32_t>(lists[kind].size() / kListValueSizes[kind]));
  const auto append = [&](std::span<const std::byte> bytes) {
    const std::size_t begin = out.size();
    out.resize(begin + words(bytes.size()), 0);
    std::ranges::copy(bytes, std::as_writable_bytes(std::span(out)).subspan(begin * sizeof(std::uint32_t)).begin());
  };
  append(lists[kTargetList]);
  append(std::as_bytes(features));
  for (const RuleListKind kind : kFurther) append(lists[kind]);
  append(lists[kLinkList]);
}

RuleRecord take_record(const std::uint32_t*& at, std::size_t dense) {
  RuleRecord out;
  out.lhs = *at++;
  const std::uint32_t sizes = *at++;
  std::size_t lengths[kRuleLists] = {};
  for (const RuleListKind kind : kFurther)
    if ((sizes & bit(kind)) != 0) lengths[kind] = *at++ * kListValueSizes[kind];
  const auto take = [&](std::size_t bytes) {
    const std::uint32_t* const begin = at;
    at += words(bytes);
    return std::as_bytes(std::span(begin, at)).first(bytes);
  };
  out.lists[kTargetList] = take((sizes & kLongestSide) * kListValueSizes[kTargetList]);
  out.features = take(dense * sizeof(float));
  for (const RuleListKind kind : kFurther) out.lists[kind] = take(lengths[kind]);
  out.lists[kLinkList] = take((sizes >> kLinkBits) * kListValueSizes[kLinkList]);
  return out;
}

}  // namespace treeglot
