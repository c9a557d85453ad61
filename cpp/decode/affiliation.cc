#include "decode/affiliation.h"

#include <algorithm>

#include "syntax/affiliation.h"

namespace treeglot {
namespace {

bool is_word(std::int32_t symbol) { return symbol >= 0; }

// Whether a rule's links are known, and its source words are as many as those of the edge.
bool fits(const TargetSide& target, std::size_t source_words) {
  return target.affiliations != nullptr && *target.affiliations == source_words;
}

// The place of a source word for one of the words of a target side without links: they follow each other.
std::size_t along(std::size_t word, std::size_t words, std::size_t source_words) { return word * source_words / words; }

// The border of the variable next to a symbol of the target side. The right neighbour comes first and gives the word
// where it begins. The left one gives the word where it ends.
std::uint32_t beside_variable(const TargetSide& target, std::span<const Span> tails, std::uint32_t symbol) {
  const auto span = [&](std::uint32_t at) { return tails[static_cast<std::size_t>(-1 - target.symbols[at])]; };
  for (std::uint32_t distance = 1; distance < target.size; ++distance) {
    if (symbol + distance < target.size && target.symbols[symbol + distance] < 0) return span(symbol + distance).begin;
    if (symbol >= distance && target.symbols[symbol - distance] < 0) return span(symbol - distance).end - 1;
  }
  return tails.empty() ? 0 : tails.front().begin;  // of a rule that drops its variables
}

}  // namespace

WordLinks word_links(const RuleTable& table, std::span<const Symbol> source, RuleId rule) {
  constexpr std::uint32_t kNoWord = 0xffffffffu;
  WordLinks out;
  std::vector<std::uint32_t> source_word, target_word;  // by symbol
  for (const Symbol symbol : source) {
    const bool word = !is_nonterminal(symbol) && !table.source_words().text(symbol).starts_with(' ');  // no bracket
    source_word.push_back(word ? out.source_words++ : kNoWord);
  }
  for (const std::int32_t symbol : table.target(rule))
    target_word.push_back(symbol >= 0 ? out.target_words++ : kNoWord);
  for (const RuleLink link : table.alignment(rule)) {
    const std::uint32_t f = source_word[link.source], e = target_word[link.target];
    if (f != kNoWord && e != kNoWord) out.links.push_back({f, e});
  }
  return out;
}

void append_affiliations(const RuleTable& table, std::span<const Symbol> source, RuleId rule,
                         std::vector<std::uint8_t>& out) {
  const WordLinks known = word_links(table, source, rule);
  out.push_back(static_cast<std::uint8_t>(known.source_words));
  for (const std::uint32_t place : affiliations(known.links, known.target_words, kUnlinked))
    out.push_back(static_cast<std::uint8_t>(place));
  out.push_back(static_cast<std::uint8_t>(known.links.size() & 0xff));
  out.push_back(static_cast<std::uint8_t>(known.links.size() >> 8));
  for (const Link link : known.links) {
    out.push_back(static_cast<std::uint8_t>(link.source));
    out.push_back(static_cast<std::uint8_t>(link.target));
  }
}

void append_known_links(const TargetSide& target, const EdgeSource& source, std::vector<Link>& out) {
  const std::span<const std::uint32_t> own = source.own;
  if (!fits(target, own.size())) return;
  const std::uint8_t* const known = target.affiliations + 1 + std::ranges::count_if(target, is_word);
  const std::size_t links = known[0] + std::size_t{known[1]} * 256;
  for (std::size_t i = 0; i < links; ++i) out.push_back({own[known[2 + 2 * i]], known[3 + 2 * i]});
}

void append_links(const TargetSide& target, const EdgeSource& source, std::vector<Link>& out) {
  const std::span<const std::uint32_t> own = source.own;
  if (own.empty()) return;
  const std::size_t before = out.size();
  append_known_links(target, source, out);
  if (out.size() > before) return;
  const auto words = static_cast<std::uint32_t>(std::ranges::count_if(target, is_word));
  for (std::uint32_t word = 0; word < words; ++word) out.push_back({own[along(word, words, own.size())], word});
}

void affiliate(const TargetSide& target, const EdgeSource& source, std::span<std::uint32_t> out) {
  const std::span<const std::uint32_t> own = source.own;
  const std::uint8_t* const known = fits(target, own.size()) ? target.affiliations + 1 : nullptr;
  std::size_t word = 0;
  for (std::uint32_t i = 0; i < target.size; ++i) {
    if (!is_word(target.symbols[i])) continue;
    if (known != nullptr && known[word] != kUnlinked) {
      out[word] = own[known[word]];
    } else if (!own.empty()) {
      out[word] = own[along(word, static_cast<std::size_t>(std::ranges::count_if(target, is_word)), own.size())];
    } else {
      out[word] = beside_variable(target, source.tails, i);
    }
    ++word;
  }
}

EdgeSources::EdgeSources(const TranslationForest& forest) {
  for (EdgeId edge = 0; edge < forest.graph.edges(); ++edge) add(forest, edge);
}

void EdgeSources::add(const TranslationForest& forest, EdgeId edge) {
  const Span span = forest.spans[forest.graph.head(edge)];
  const auto tails = forest.graph.tails(edge);  // in source order
  std::uint32_t at = span.begin;
  for (const NodeId tail : tails) {
    for (; at < forest.spans[tail].begin; ++at) own_.push_back(at);
    at = forest.spans[tail].end;
  }
  for (; at < span.end; ++at) own_.push_back(at);
  if (own_.size() == first_own_.back())
    for (const NodeId tail : tails) tails_.push_back(forest.spans[tail]);
  first_own_.push_back(static_cast<std::uint32_t>(own_.size()));
  first_tail_.push_back(static_cast<std::uint32_t>(tails_.size()));
}

}  // namespace treeglot
