#include "rules/vocabulary.h"

#include <utility>

#include "rules/bitext.h"

namespace treeglot {

void VocabularyBuilder::Words::number(std::span<const std::string_view> words, std::vector<Symbol>& out) {
  out.clear();
  for (const std::string_view word : words) {
    const Symbol symbol = symbols.intern(word);
    if (symbol == counts.size()) counts.push_back(0);
    ++counts[symbol];
    out.push_back(symbol);
  }
}

void VocabularyBuilder::append(std::span<const std::string_view> source, std::span<const std::string_view> target,
                               const Alignment& alignment, const PairShare& share) {
  alignment.check(source.size(), target.size());
  source_.number(source, source_numbers_);
  target_.number(target, target_numbers_);
  visit_links(source_numbers_, target_numbers_, alignment.links(), [&](Symbol f, Symbol e) {
    const auto next = static_cast<std::uint32_t>(links_.size());
    const std::uint64_t key = static_cast<std::uint64_t>(f) << 32 | e;
    const std::uint32_t at = index_.intern(hash_number(key), next, [&](std::uint32_t known) {
      return links_[known].source == f && links_[known].target == e;
    });
    if (at == next) links_.push_back({f, e, 0});
    links_[at].count += share.parts;
  });
}

CorpusVocabulary VocabularyBuilder::finish() {
  const Words source = std::exchange(source_, {}), target = std::exchange(target_, {});
  Ranking f = rank_by_frequency(source.symbols, source.counts), e = rank_by_frequency(target.symbols, target.counts);
  const auto renumber = [](const Ranking& ranking, Symbol word) {
    return word == LexicalTable::kNull ? word : ranking.number[word];
  };
  std::vector<LinkCount> links = std::exchange(links_, {});
  for (LinkCount& link : links) {
    link.source = renumber(f, link.source);
    link.target = renumber(e, link.target);
  }
  index_ = {};
  return {std::move(f.texts), std::move(e.texts), LexicalTable(std::move(links))};
}

}  // namespace treeglot
