#include "rules/bitext.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/symbol_lists.h"

namespace treeglot {
namespace {

Strings rank(const Symbols& symbols, std::vector<Symbol>& tokens) {
  std::vector<std::uint64_t> counts(symbols.size(), 0);
  for (const Symbol token : tokens) ++counts[token];
  Ranking ranking = rank_by_frequency(symbols, counts);
  for (Symbol& token : tokens) token = ranking.number[token];
  return std::move(ranking.texts);
}

Symbols symbols_of(const Strings& words) {
  Symbols out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (out.intern(words[i]) != i)
      throw std::invalid_argument("the word '" + std::string(words[i]) + "' is in the vocabulary twice");
  }
  return out;
}

}  // namespace

Ranking rank_by_frequency(const Symbols& symbols, std::span<const std::uint64_t> counts) {
  std::vector<Symbol> order(symbols.size());
  std::iota(order.begin(), order.end(), Symbol{0});
  std::ranges::sort(order, [&](Symbol a, Symbol b) {
    return counts[a] != counts[b] ? counts[a] > counts[b] : symbols.text(a) < symbols.text(b);
  });
  Ranking out;
  out.number.resize(symbols.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    out.number[order[i]] = static_cast<Symbol>(i);
    out.texts.append(symbols.text(order[i]));
  }
  return out;
}

BitextBuilder::BitextBuilder(const Strings& source_words, const Strings& target_words)
    : source_symbols_(symbols_of(source_words)), target_symbols_(symbols_of(target_words)), numbered_(true) {}

void Bitext::check_size(std::size_t found, std::string_view what) const {
  if (found == size()) return;
  throw std::invalid_argument("there are " + std::to_string(found) + " " + std::string(what) + " for " +
                              std::to_string(size()) + " sentence pairs");
}

void BitextBuilder::append(std::span<const std::string_view> source, std::span<const std::string_view> target,
                           const Alignment& alignment, std::span<const float> weights,
                           const std::optional<PairShare>& share) {
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
  if (share || bitext_.united()) {
    bitext_.shares_.resize(bitext_.size(), PairShare::of(0, 1));
    bitext_.shares_.push_back(share.value_or(PairShare::of(0, 1)));
  }
  const auto number = [&](Symbols& symbols, std::string_view word) {
    if (!numbered_) return symbols.intern(word);
    const Symbol found = symbols.find(word);
    if (found == Symbols::kNone)
      throw std::invalid_argument("the word '" + std::string(word) + "' is not in the vocabulary");
    return found;
  };
  for (const std::string_view word : source) bitext_.source_.push_back(number(source_symbols_, word));
  for (const std::string_view word : target) bitext_.target_.push_back(number(target_symbols_, word));
  bitext_.links_.insert(bitext_.links_.end(), alignment.links().begin(), alignment.links().end());
  bitext_.source_ends_.push_back(bitext_.source_.size());
  bitext_.target_ends_.push_back(bitext_.target_.size());
  bitext_.link_ends_.push_back(bitext_.links_.size());
}

Bitext BitextBuilder::finish() {
  Bitext out = std::exchange(bitext_, {});
  if (!out.weights_.empty()) out.weights_.resize(out.links_.size(), 1.0f);
  const Symbols source = std::exchange(source_symbols_, {}), target = std::exchange(target_symbols_, {});
  const bool numbered = std::exchange(numbered_, false);
  out.source_words_ = numbered ? texts_of(source) : rank(source, out.source_);
  out.target_words_ = numbered ? texts_of(target) : rank(target, out.target_);
  return out;
}

}  // namespace treeglot
