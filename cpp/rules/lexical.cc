#include "rules/lexical.h"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "base/hash_index.h"
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

namespace {

// The same if links count by the shares of alignments.
std::vector<LinkCount> count_shared_links(const Bitext& bitext) {
  std::vector<LinkCount> out;
  for (std::size_t pair = 0; pair < bitext.size(); ++pair) {
    const std::uint32_t parts = bitext.share(pair).parts;
    visit_links(bitext.source(pair), bitext.target(pair), bitext.links(pair),
                [&](Symbol source, Symbol target) { out.push_back({source, target, parts}); });
  }
  const auto key = [](const LinkCount& c) { return key_of(c.source, c.target); };
  std::ranges::sort(out, {}, key);
  std::size_t kept = 0;
  for (const LinkCount& c : out) {
    if (kept > 0 && key(out[kept - 1]) == key(c)) {
      out[kept - 1].count += c.count;
    } else {
      out[kept++] = c;
    }
  }
  out.resize(kept);
  return out;
}

}  // namespace

std::vector<LinkCount> count_links(const Bitext& bitext) {
  if (bitext.united()) return count_shared_links(bitext);
  std::vector<std::uint64_t> keys;
  for (std::size_t pair = 0; pair < bitext.size(); ++pair) {
    visit_links(bitext.source(pair), bitext.target(pair), bitext.links(pair),
                [&](Symbol source, Symbol target) { keys.push_back(key_of(source, target)); });
  }
  std::ranges::sort(keys);
  std::vector<LinkCount> out;
  for (std::size_t begin = 0, end = 0; begin < keys.size(); begin = end) {
    while (end < keys.size() && keys[end] == keys[begin]) ++end;
    out.push_back({static_cast<Symbol>(keys[begin] >> 32), static_cast<Symbol>(keys[begin]), end - begin});
  }
  return out;
}

LexicalTable::LexicalTable(const Bitext& bitext) : LexicalTable(count_links(bitext)) {}

LexicalTable::LexicalTable(std::vector<LinkCount> counts) {
  std::ranges::sort(counts, {}, [](const LinkCount& c) { return key_of(c.source, c.target); });
  std::vector<std::uint64_t> source_total, target_total;
  const auto total = [](std::vector<std::uint64_t>& totals, Symbol word) -> std::uint64_t& {
    const std::size_t place = word == kNull ? 0 : std::size_t{word} + 1;
    if (place >= totals.size()) totals.resize(std::max(place + 1, 2 * totals.size()), 0);
    return totals[place];
  };
  for (const LinkCount& c : counts) {
    total(source_total, c.source) += c.count;
    total(target_total, c.target) += c.count;
  }
  entries_.reserve(counts.size());
  for (const LinkCount& c : counts) {
    const auto count = static_cast<double>(c.count);
    entries_.push_back({c.source, c.target,
                        static_cast<float>(count / static_cast<double>(total(source_total, c.source))),
                        static_cast<float>(count / static_cast<double>(total(target_total, c.target)))});
  }
  fill_slots();
}

LexicalTable::LexicalTable(std::span<const LexicalEntry> entries) : entries_(entries.begin(), entries.end()) {
  const auto empty = [](const LexicalEntry& entry) { return key_of(entry.source, entry.target) == kNoKey; };
  if (const auto found = std::ranges::find_if(entries_, empty); found != entries_.end()) {
    throw std::invalid_argument("entry " + std::to_string(found - entries_.begin()) +
                                " is of no word on both sides; expected a word on one of them");
  }
  fill_slots();
}

void LexicalTable::fill_slots() {
  slots_.assign(std::bit_ceil(2 * entries_.size() + 1), {});
  for (const LexicalEntry& entry : entries_) {
    const std::uint64_t key = key_of(entry.source, entry.target);
    Slot& slot = slots_[place(key)];
    if (slot.key == kNoKey) slot = {key, {entry.target_given_source, entry.source_given_target}};
  }
}

// Where a key is, or would be.
std::size_t LexicalTable::place(std::uint64_t key) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash_number(key) & mask;
  while (slots_[at].key != key && slots_[at].key != kNoKey) at = (at + 1) & mask;
  return at;
}

LexicalTable::Both LexicalTable::weight(Symbol source, Symbol target) const {
  return slots_[place(key_of(source, target))].both;
}

LexicalWeights LexicalScorer::operator()(std::string_view source, std::string_view target, std::string_view alignment) {
  if (source != last_source_) {  // rules of a source side stand together
    read_side(source, means_.source);
    last_source_ = source;
  }
  read_side(target, means_.target);
  means_.start();
  while (!alignment.empty()) {
    const std::uint32_t s = code::take(alignment), t = code::take(alignment);
    if (s >= means_.source.size() || t >= means_.target.size())
      throw std::invalid_argument("a rule's alignment points outside its sides");
    means_.add(s, t, table_.weight(means_.source[s], means_.target[t]));
  }
  return means_.finish([&](Symbol f, Symbol e) { return table_.weight(f, e); });
}

}  // namespace treeglot
