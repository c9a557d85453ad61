#include "rules/bitext.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

namespace treeglot {
namespace {

// Renumbers by frequency: few bytes for frequent words, and numbers that do not depend on the order of the pairs.
Strings rank(const Symbols& symbols, std::vector<Symbol>& tokens) {
  std::vector<std::uint64_t> counts(symbols.size(), 0);
  for (const Symbol token : tokens) ++counts[token];
  std::vector<Symbol> order(symbols.size());
  std::iota(order.begin(), order.end(), Symbol{0});
  std::ranges::sort(order, [&](Symbol a, Symbol b) {
    return counts[a] != counts[b] ? counts[a] > counts[b] : symbols.text(a) < symbols.text(b);
  });
  std::vector<Symbol> number(symbols.size());
  Strings texts;
  for (std::size_t i = 0; i < order.size(); ++i) {
    number[order[i]] = static_cast<Symbol>(i);
    texts.append(symbols.text(order[i]));
  }
  for (Symbol& token : tokens) token = number[token];
  return texts;
}

}  // namespace

void Bitext::check_size(std::size_t found, std::string_view what) const {
  if (found == size()) return;
  throw std::invalid_argument("there are " + std::to_string(found) + " " + std::string(what) + " for " +
                              std::to_string(size()) + " sentence pairs");
}

void BitextBuilder::append(std::span<const std::string_view> source, std::span<const std::string_view> target,
                           const Alignment& alignment, std::span<const float> weights) {
  alignment.check(source.size(), target.size());
  if (!weights.empty()) {
    if (weights.size() != alignment.size())
      throw std::invalid_argument("there are " + std::to_string(weights.size()) + " weights for " +
                                  std::to_string(alignment.size()) + " links");
    if (!std::ranges::all_of(weights, [](float weight) { return weight > 0 && weight <= 1; }))
      throw std::invalid_argument("a weight of a link is not above 0 and at most 1");
    bitext_.weights_.resize(bitext_.links_.size(), 1.0f);
    bitext_.weights_.insert(bitext_.weights_.end(), weights.begin(), weights.end());
  }
  for (const std::string_view word : source) bitext_.source_.push_back(source_symbols_.intern(word));
  for (const std::string_view word : target) bitext_.target_.push_back(target_symbols_.intern(word));
  bitext_.links_.insert(bitext_.links_.end(), alignment.links().begin(), alignment.links().end());
  bitext_.source_ends_.push_back(bitext_.source_.size());
  bitext_.target_ends_.push_back(bitext_.target_.size());
  bitext_.link_ends_.push_back(bitext_.links_.size());
}

Bitext BitextBuilder::finish() {
  Bitext out = std::exchange(bitext_, {});
  if (!out.weights_.empty()) out.weights_.resize(out.links_.size(), 1.0f);
  out.source_words_ = rank(std::exchange(source_symbols_, {}), out.source_);
  out.target_words_ = rank(std::exchange(target_symbols_, {}), out.target_);
  return out;
}

}  // namespace treeglot
