#include "rules/lexical.h"

#include <algorithm>
#include <stdexcept>

#include "rules/code.h"

namespace treeglot {
namespace {

std::uint64_t key_of(Symbol source, Symbol target) { return static_cast<std::uint64_t>(source) << 32 | target; }

// What the symbols of a side are: words, or something without lexical weight.
void read_side(std::string_view bytes, std::vector<Symbol>& words) {
  words.clear();
  code::take_left_hand_side(bytes);
  for (code::Symbol symbol; code::take_symbol(bytes, symbol);)
    words.push_back(symbol.kind == code::Symbol::Kind::word ? symbol.number : LexicalTable::kNull);
}

}  // namespace

LexicalTable::LexicalTable(const Bitext& bitext) {
  std::vector<std::uint64_t> keys;
  std::vector<bool> linked_source, linked_target;
  for (std::size_t pair = 0; pair < bitext.size(); ++pair) {
    const auto source = bitext.source(pair), target = bitext.target(pair);
    linked_source.assign(source.size(), false);
    linked_target.assign(target.size(), false);
    for (const Link link : bitext.links(pair)) {
      keys.push_back(key_of(source[link.source], target[link.target]));
      linked_source[link.source] = linked_target[link.target] = true;
    }
    for (std::size_t i = 0; i < source.size(); ++i) {
      if (!linked_source[i]) keys.push_back(key_of(source[i], kNull));
    }
    for (std::size_t i = 0; i < target.size(); ++i) {
      if (!linked_target[i]) keys.push_back(key_of(kNull, target[i]));
    }
  }
  std::ranges::sort(keys);
  const std::size_t sources = bitext.source_words().size(), targets = bitext.target_words().size();
  const auto place = [](Symbol word, std::size_t words) { return word == kNull ? words : word; };
  std::vector<std::uint64_t> source_total(sources + 1, 0), target_total(targets + 1, 0);
  for (const std::uint64_t key : keys) {
    ++source_total[place(static_cast<Symbol>(key >> 32), sources)];
    ++target_total[place(static_cast<Symbol>(key), targets)];
  }
  for (std::size_t begin = 0, end = 0; begin < keys.size(); begin = end) {
    while (end < keys.size() && keys[end] == keys[begin]) ++end;
    const auto source = static_cast<Symbol>(keys[begin] >> 32), target = static_cast<Symbol>(keys[begin]);
    const auto count = static_cast<double>(end - begin);
    index_.intern(hash_number(keys[begin]), static_cast<std::uint32_t>(entries_.size()),
                  [](std::uint32_t) { return false; });
    entries_.push_back({source, target,
                        static_cast<float>(count / static_cast<double>(source_total[place(source, sources)])),
                        static_cast<float>(count / static_cast<double>(target_total[place(target, targets)]))});
  }
}

LexicalTable::Both LexicalTable::weight(Symbol source, Symbol target) const {
  const std::uint32_t found = index_.find(hash_number(key_of(source, target)), [&](std::uint32_t i) {
    return entries_[i].source == source && entries_[i].target == target;
  });
  if (found == HashIndex::kNone) return {};
  return {entries_[found].target_given_source, entries_[found].source_given_target};
}

LexicalScorer::Weights LexicalScorer::operator()(std::string_view source, std::string_view target,
                                                 std::string_view alignment) {
  constexpr Symbol kNull = LexicalTable::kNull;
  read_side(source, source_);
  read_side(target, target_);
  source_means_.assign(source_.size(), {});
  target_means_.assign(target_.size(), {});
  while (!alignment.empty()) {
    const std::uint32_t s = code::take(alignment), t = code::take(alignment);
    if (s >= source_.size() || t >= target_.size())
      throw std::invalid_argument("a rule's alignment points outside its sides");
    const LexicalTable::Both w = table_.weight(source_[s], target_[t]);
    source_means_[s].sum += w.source_given_target;
    ++source_means_[s].links;
    target_means_[t].sum += w.target_given_source;
    ++target_means_[t].links;
  }
  Weights out;
  for (std::size_t s = 0; s < source_.size(); ++s) {
    if (source_[s] == kNull) continue;
    out.source_given_target *= source_means_[s].links == 0 ? table_.weight(source_[s], kNull).source_given_target
                                                           : source_means_[s].sum / source_means_[s].links;
  }
  for (std::size_t t = 0; t < target_.size(); ++t) {
    if (target_[t] == kNull) continue;
    out.target_given_source *= target_means_[t].links == 0 ? table_.weight(kNull, target_[t]).target_given_source
                                                           : target_means_[t].sum / target_means_[t].links;
  }
  return out;
}

}  // namespace treeglot
