#include "rules/source_filter.h"

#include <algorithm>

#include "rules/rule_text.h"

namespace treeglot {

void SourceFilter::add(std::span<const std::string_view> sentence) {
  const auto number = static_cast<std::uint32_t>(ends_.size() - 1);
  for (const std::string_view text : sentence) {
    const Symbol word = words_.intern(text);
    if (word == sentences_.size()) sentences_.emplace_back();
    if (sentences_[word].empty() || sentences_[word].back() != number) sentences_[word].push_back(number);
    tokens_.push_back(word);
  }
  ends_.push_back(tokens_.size());
}

bool SourceFilter::read(std::string_view source) {
  items_.clear();
  after_ = 0;
  bool known = true;
  split(source, [&](std::string_view token) {
    const TextSymbol symbol = parse_symbol(token);
    if (symbol.kind == TextSymbol::Kind::variable) ++after_;
    if (symbol.kind != TextSymbol::Kind::word) return;
    const Symbol word = words_.find(symbol.text);
    known = known && word != Symbols::kNone;
    items_.push_back({word, after_, strings_ && after_ == 0 && !items_.empty()});
    after_ = 0;
  });
  return known;
}

std::size_t SourceFilter::run_end(std::size_t first) const {
  std::size_t end = first + 1;
  while (end < items_.size() && items_[end].adjacent) ++end;
  return end;
}

// Each run of words where it first fits: what follows has the most room then.
bool SourceFilter::matches(std::span<const Symbol> sentence) const {
  std::size_t at = 0;
  for (std::size_t first = 0; first < items_.size();) {
    const std::size_t end = run_end(first), length = end - first;
    at += items_[first].before;
    const auto fits = [&](std::size_t place) {
      for (std::size_t i = 0; i < length; ++i)
        if (sentence[place + i] != items_[first + i].word) return false;
      return true;
    };
    while (at + length <= sentence.size() && !fits(at)) ++at;
    if (at + length > sentence.size()) return false;
    at += length;
    first = end;
  }
  return at + after_ <= sentence.size();
}

std::vector<std::uint8_t> SourceFilter::keeps(const Codes& sources) {
  std::vector<std::uint8_t> out(sources.rows());
  for (std::size_t row = 0; row < out.size(); ++row) {  // rules of a source side stand together
    const bool same = row > 0 && sources[row] == sources[row - 1];
    out[row] = same ? out[row - 1] : static_cast<std::uint8_t>(keep(sources[row]));
  }
  return out;
}

bool SourceFilter::keep(std::string_view source) {
  if (!read(source)) return false;
  if (items_.empty()) return true;
  const auto rarest =
      std::ranges::min_element(items_, {}, [&](const Item& item) { return sentences_[item.word].size(); });
  return std::ranges::any_of(sentences_[rarest->word], [&](std::uint32_t number) {
    return matches(std::span<const Symbol>(tokens_).subspan(ends_[number], ends_[number + 1] - ends_[number]));
  });
}

}  // namespace treeglot
