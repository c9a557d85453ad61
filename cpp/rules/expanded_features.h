// Features of single rules beyond their probabilities (Chiang et al. 2009). These are the rule's shape, pairs of
// frequent words that it links, and words that it leaves without a link.
#pragma once

#include <bitset>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rules/table.h"

namespace treeglot {

// The names of the features: shape=w1w2→2w1, pair=f→e, delete=f and insert=e.
std::string shape_name(std::span<const Symbol> source, std::span<const std::int32_t> target);
std::string pair_name(std::string_view source_word, std::string_view target_word);
std::string deletion_name(std::string_view source_word);
std::string insertion_name(std::string_view target_word);
// Words beyond the frequent ones share these.
inline constexpr std::string_view kDeletion = "delete", kInsertion = "insert";

// Calls source(word) and target(word) for the words of a rule that have no link. Ignores links outside the rule.
template <class Source, class Target>
void for_each_unlinked(std::span<const Symbol> source_side, std::span<const std::int32_t> target_side,
                       std::span<const RuleLink> links, const Source& source, const Target& target) {
  std::bitset<256> linked_source, linked_target;  // a link tells no more
  for (const RuleLink link : links) {
    linked_source.set(link.source);
    linked_target.set(link.target);
  }
  for (std::size_t s = 0; s < source_side.size() && s < linked_source.size(); ++s)
    if (!linked_source[s] && !is_nonterminal(source_side[s])) source(source_side[s]);
  for (std::size_t t = 0; t < target_side.size() && t < linked_target.size(); ++t)
    if (!linked_target[t] && target_side[t] >= 0) target(static_cast<Symbol>(target_side[t]));
}

struct ExpandedOptions {
  bool shapes = false;                             // shape=w1w2→2w1: runs of words, and variables in both orders
  std::vector<Symbol> source_words, target_words;  // pair=f→e: how often a rule links two of these
  bool unlinked = false;                           // words without a link: delete=f and insert=e for these,
  std::vector<Symbol> deleted, inserted;           // delete and insert for all others
};

class ExpandedFeatures {
 public:
  // Texts of words, and the numbers of features by name.
  struct Names {
    std::function<std::string_view(Symbol)> source_word, target_word;
    std::function<std::uint32_t(std::string_view)> feature;
  };
  explicit ExpandedFeatures(const ExpandedOptions& options);

  void append(std::span<const Symbol> source, std::span<const std::int32_t> target, std::span<const RuleLink> links,
              const Names& names, std::vector<SparseFeature>& out);

 private:
  static constexpr std::uint32_t kUnseen = 0xffffffffu, kNone = 0xfffffffeu;
  // The features of words without a link, by word. Their numbers are looked up when they are first needed.
  struct Unlinked {
    std::vector<bool> frequent;
    std::vector<std::uint32_t> numbers;
  };
  void append_pairs(std::span<const Symbol> source, std::span<const std::int32_t> target,
                    std::span<const RuleLink> links, const Names& names, std::vector<SparseFeature>& out);

  bool shapes_, unlinked_;
  Unlinked deleted_, inserted_;
  std::vector<bool> source_words_, target_words_;  // by number: whether it is frequent
  std::unordered_map<std::uint64_t, std::uint32_t> pairs_;
  std::unordered_map<std::string, std::uint32_t> shape_numbers_;
  std::string shape_;
};

}  // namespace treeglot
