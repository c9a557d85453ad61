// Features of single rules beyond their probabilities (Chiang et al. 2009): the rule's shape, and pairs of frequent
// words that it links.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rules/table.h"

namespace treeglot {

// What the features are called: shape=w1w2→2w1 and pair=f→e.
std::string shape_name(std::span<const Symbol> source, std::span<const std::int32_t> target);
std::string pair_name(std::string_view source_word, std::string_view target_word);

struct ExpandedOptions {
  bool shapes = false;                             // shape=w1w2→2w1: runs of words, and variables in both orders
  std::vector<Symbol> source_words, target_words;  // pair=f→e: how often a rule links two of these
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
  bool shapes_;
  std::vector<bool> source_words_, target_words_;  // by number: whether it is frequent
  std::unordered_map<std::uint64_t, std::uint32_t> pairs_;
  std::unordered_map<std::string, std::uint32_t> shape_numbers_;
  std::string shape_;
};

}  // namespace treeglot
