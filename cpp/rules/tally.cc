#include "rules/tally.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "base/hash_index.h"
#include "base/symbols.h"
#include "rules/code.h"
#include "rules/grouped.h"

namespace treeglot {
namespace {

// A record of Occurrences is a head, a key and notes. The key has the lengths of source and target, then their bytes.
// The notes have the same of alignment and labels. Since lengths come first, equal bytes mean equal values.
struct Head {
  std::uint32_t hash, units, parts, key_size, notes_size;
};
constexpr std::size_t kLookAhead = 8;  // records between fetching something into the cache and looking at it

template <class T>
T load(const char* at) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

struct Two {
  std::string_view first, second;
};

// Takes two values, their lengths before them, from the front of `bytes`.
Two take_two(std::string_view& bytes) {
  const std::size_t first = code::take(bytes), second = code::take(bytes);
  const Two out = {bytes.substr(0, first), bytes.substr(first, second)};
  bytes.remove_prefix(first + second);
  return out;
}

char* put_two_lengths(char* at, Two two) {
  return code::put(code::put(at, static_cast<std::uint32_t>(two.first.size())),
                   static_cast<std::uint32_t>(two.second.size()));
}

// Most are few bytes, which need no call. Two copies may overlap, since they agree.
char* put_bytes(char* at, std::string_view bytes) {
  const auto two = [&]<std::size_t kSize>() {
    std::memcpy(at, bytes.data(), kSize);
    std::memcpy(at + bytes.size() - kSize, bytes.data() + bytes.size() - kSize, kSize);
  };
  if (bytes.size() > 16) {
    std::memcpy(at, bytes.data(), bytes.size());
  } else if (bytes.size() >= 8) {
    two.operator()<8>();
  } else if (bytes.size() >= 4) {
    two.operator()<4>();
  } else if (bytes.size() >= 2) {
    two.operator()<2>();
  } else if (bytes.size() == 1) {
    *at = bytes.front();
  }
  return at + bytes.size();
}

// A source side up to its second word or variable. Rules that share it share a partition, so sorting partitions brings
// together what is close in a trie. No partition has more than a few hundredths of all rules.
std::string_view first_symbols(std::string_view source) {
  std::string_view rest = source;
  code::take_left_hand_side(rest);
  code::Symbol symbol;
  for (int leaves = 0; leaves < 2 && code::take_symbol(rest, symbol);)
    leaves += symbol.kind == code::Symbol::Kind::word || symbol.kind == code::Symbol::Kind::variable ? 1 : 0;
  return source.substr(0, source.size() - rest.size());
}

}  // namespace

void Occurrences::add(const CodedRule& rule, std::uint32_t units) {
  const std::size_t bytes = rule.source.size() + rule.target.size() + rule.alignment.size() + rule.labels.size();
  if (bytes >= code::kEnd) throw std::length_error("a rule is longer than a rule can be");
  static_assert(kPartitions == 1u << 7);
  std::string& out = partitions_[hash_bytes(first_symbols(rule.source)) >> 57];

  constexpr std::size_t kUsual = 256;
  char usual[kUsual];
  std::string longer;  // room for a long rule
  const std::size_t most = sizeof(Head) + 4 * code::kLongest + bytes;
  if (most > kUsual) longer.resize(most);
  char* const begin = most > kUsual ? longer.data() : usual;
  char* const key = begin + sizeof(Head);
  char* const notes = put_bytes(put_bytes(put_two_lengths(key, {rule.source, rule.target}), rule.source), rule.target);
  char* const end =
      put_bytes(put_bytes(put_two_lengths(notes, {rule.alignment, rule.labels}), rule.alignment), rule.labels);
  // Multiplying by 1 changes nothing.
  const auto weighted = static_cast<std::uint32_t>(std::lround(units * rule.weight));
  const Head head = {static_cast<std::uint32_t>(hash_bytes({key, static_cast<std::size_t>(notes - key)})),
                     rule.share.split(std::max(weighted, std::min(units, 1u))), rule.share.parts,
                     static_cast<std::uint32_t>(notes - key), static_cast<std::uint32_t>(end - notes)};
  std::memcpy(begin, &head, sizeof head);
  out.append(begin, static_cast<std::size_t>(end - begin));
}

void Occurrences::visit(const std::function<void(const CodedRule&)>& take) const {
  for (const std::string& records : partitions_) {
    for (const char* at = records.data(); at != records.data() + records.size();) {
      const Head head = load<Head>(at);
      std::string_view key(at + sizeof(Head), head.key_size), notes(at + sizeof(Head) + head.key_size, head.notes_size);
      const auto [source, target] = take_two(key);
      const auto [alignment, labels] = take_two(notes);
      take({source, target, alignment, labels});
      at += sizeof(Head) + head.key_size + head.notes_size;
    }
  }
}

std::size_t Tally::Partition::bytes() const { return index_.bytes() + entries_.size() + others_.size(); }

void Tally::Partition::add(std::string_view records) {
  // Records are looked at twice before their turn: first for the slot that they lead to, then for what it points to.
  const char* const end = records.data() + records.size();
  const char* far = records.data();
  const char* near = records.data();
  const auto advance = [](const char*& at, const Head& head) { at += sizeof(Head) + head.key_size + head.notes_size; };
  const auto fetch_slot = [&] {
    if (far == end) return;
    const Head head = load<Head>(far);
    index_.prefetch(head.hash);
    advance(far, head);
  };
  const auto fetch_entry = [&] {
    if (near == end) return;
    const Head head = load<Head>(near);
    if (const std::uint32_t entry = index_.likely(head.hash); entry != kNone)
      __builtin_prefetch(entries_.data() + entry);
    advance(near, head);
  };
  for (std::size_t i = 0; i < 2 * kLookAhead; ++i) fetch_slot();
  for (std::size_t i = 0; i < kLookAhead; ++i) fetch_entry();
  for (const char* at = records.data(); at != end;) {
    fetch_slot();
    fetch_entry();
    const Head head = load<Head>(at);
    const char* const key = at + sizeof(Head);
    const std::string_view notes(key + head.key_size, head.notes_size);
    at = notes.data() + notes.size();
    const std::size_t begin = entries_.size();
    if (begin + sizeof(Sum) + head.key_size + head.notes_size >= kNone)
      throw std::length_error("a partition of rules outgrew 4 GB: give the tally less memory");
    const auto room = [&](std::uint32_t entry) { return begin - entry - sizeof(Sum); };
    const std::uint32_t entry = index_.intern(head.hash, static_cast<std::uint32_t>(begin), [&](std::uint32_t known) {
      return room(known) >= head.key_size &&
             std::memcmp(entries_.data() + known + sizeof(Sum), key, head.key_size) == 0;
    });
    if (entry == begin) {
      const Sum sum = {head.units, head.parts, kNone};
      const char* const bytes = reinterpret_cast<const char*>(&sum);
      entries_.insert(entries_.end(), bytes, bytes + sizeof sum);
      entries_.insert(entries_.end(), key, key + head.key_size + head.notes_size);
      ++rules_;
      continue;
    }
    Sum sum = load<Sum>(entries_.data() + entry);
    sum.units += head.units;
    if (sum.occurrences + head.parts < sum.occurrences)
      throw std::length_error("a rule occurs too often to be counted: give the tally less memory");
    sum.occurrences += head.parts;
    std::memcpy(entries_.data() + entry, &sum, sizeof sum);
    if (room(entry) < head.key_size + head.notes_size ||
        std::memcmp(entries_.data() + entry + sizeof(Sum) + head.key_size, notes.data(), notes.size()) != 0)
      add_other(entry, notes, head.units, head.parts);
  }
}

void Tally::Partition::add_other(std::uint32_t entry, std::string_view notes, std::uint32_t units,
                                 std::uint32_t parts) {
  static_assert(PairShare::kParts <= std::numeric_limits<unsigned char>::max());
  const std::size_t begin = others_.size();
  if (begin + sizeof(Other) + 1 + notes.size() >= kNone)
    throw std::length_error("a partition of rules outgrew 4 GB: give the tally less memory");
  const auto added = static_cast<std::uint32_t>(begin);
  char* const last = entries_.data() + entry + offsetof(Sum, others);
  const Other other = {units, load<std::uint32_t>(last)};
  others_.resize(begin + sizeof other + 1 + notes.size());
  std::memcpy(others_.data() + begin, &other, sizeof other);
  others_[begin + sizeof other] = static_cast<char>(parts);
  put_bytes(others_.data() + begin + sizeof other + 1, notes);
  std::memcpy(last, &added, sizeof added);
}

// The entries in the order of their source sides, those of one source side in the order in which they were first seen.
std::vector<std::uint32_t> Tally::Partition::by_source() const {
  struct Key {
    std::uint64_t prefix;  // the first 8 bytes, in an order that numbers have too: most source sides are no longer
    std::uint32_t entry;
  };
  const auto source_of = [&](std::uint32_t entry) {
    std::string_view rest = std::string_view(entries_.data(), entries_.size()).substr(entry + sizeof(Sum));
    return take_two(rest).first;
  };
  std::vector<Key> keys;
  keys.reserve(rules_);
  for (std::size_t at = 0; at < entries_.size();) {
    std::string_view rest = std::string_view(entries_.data(), entries_.size()).substr(at + sizeof(Sum));
    const std::string_view source = take_two(rest).first;
    std::uint64_t prefix = 0;
    for (std::size_t i = 0; i < 8; ++i)
      prefix = prefix << 8 | (i < source.size() ? static_cast<unsigned char>(source[i]) : 0u);
    keys.push_back({prefix, static_cast<std::uint32_t>(at)});
    take_two(rest);
    at = entries_.size() - rest.size();
  }
  std::ranges::sort(keys, [&](const Key& a, const Key& b) {
    if (a.prefix != b.prefix) return a.prefix < b.prefix;
    const int compared = source_of(a.entry).compare(source_of(b.entry));
    return compared != 0 ? compared < 0 : a.entry < b.entry;
  });
  std::vector<std::uint32_t> out;
  out.reserve(keys.size());
  for (const Key& key : keys) out.push_back(key.entry);
  return out;
}

template <class Two>
static void append_row(RuleColumns& columns, LexicalScorer& lexical, const Two& key, const Two& notes,
                       std::uint64_t units, std::uint32_t occurrences, std::uint32_t parts) {
  if (parts > 1) {  // a rule that was taken has a count
    units = std::max<std::uint64_t>(units, 1);
    occurrences = std::max((occurrences + parts / 2) / parts, 1u);
  }
  const std::size_t row = columns.rows();
  const bool again = row > 0 && columns.source[row - 1] == key.first;
  columns.source_row.push_back(again ? columns.source_row.back() : static_cast<std::uint32_t>(row));
  columns.source.append(key.first);
  columns.target.append(key.second);
  columns.alignment.append(notes.first);
  columns.labels.append(notes.second);
  columns.count.push_back(static_cast<double>(units) / kCountUnit);
  columns.occurrences.push_back(occurrences);
  std::string_view source = key.first;
  columns.lhs.push_back(code::take_left_hand_side(source));
  columns.variables.push_back(static_cast<std::uint8_t>(std::min(code::variables(key.first), 255u)));
  const LexicalWeights weights = lexical(key.first, key.second, notes.first);
  columns.lex_target_given_source.push_back(positive(weights.target_given_source));
  columns.lex_source_given_target.push_back(positive(weights.source_given_target));
}

void Tally::Partition::append_to(RuleColumns& columns, LexicalScorer& lexical, bool merged, std::uint32_t parts) const {
  const auto append = [&](Two key, Two notes, std::uint64_t units, std::uint32_t occurrences) {
    append_row(columns, lexical, key, notes, units, occurrences, parts);
  };
  struct Noted {
    std::string_view bytes;
    Two notes;
    std::uint64_t units;
    std::uint32_t occurrences;
  };
  const auto take_noted = [](std::string_view rest, std::uint64_t units, std::uint32_t occurrences) {
    const std::string_view bytes = rest;
    const Two notes = take_two(rest);
    return Noted{bytes.substr(0, bytes.size() - rest.size()), notes, units, occurrences};
  };
  const std::string_view entries(entries_.data(), entries_.size()), others(others_.data(), others_.size());
  std::vector<Noted> noted;  // those seen last come first
  Grouped grouped;
  const std::vector<std::uint32_t> order = by_source();
  const auto fetch = [&](std::size_t place) {  // entries are looked at before their turn, as in add()
    if (place + 2 * kLookAhead < order.size()) __builtin_prefetch(entries_.data() + order[place + 2 * kLookAhead]);
    if (place + kLookAhead >= order.size()) return;
    const Sum sum = load<Sum>(entries_.data() + order[place + kLookAhead]);
    if (sum.others != kNone) __builtin_prefetch(others_.data() + sum.others);
  };
  for (std::size_t place = 0; place < order.size(); ++place) {
    fetch(place);
    const std::uint32_t entry = order[place];
    const Sum sum = load<Sum>(entries_.data() + entry);
    std::string_view rest = entries.substr(entry + sizeof(Sum));
    const Two key = take_two(rest);
    Noted first = take_noted(rest, sum.units, sum.occurrences);
    if (sum.others == kNone) {
      append(key, first.notes, sum.units, sum.occurrences);
      continue;
    }
    noted.clear();
    bool aligned_alike = true;
    std::uint32_t others_seen = 0;
    for (std::uint32_t at = sum.others; at != kNone;) {
      const Other other = load<Other>(others_.data() + at);
      const auto seen = static_cast<unsigned char>(others[at + sizeof other]);
      noted.push_back(take_noted(others.substr(at + sizeof other + 1), other.units, seen));
      others_seen += seen;
      aligned_alike = aligned_alike && noted.back().notes.first == first.notes.first;
      first.units -= other.units;
      first.occurrences -= seen;
      at = other.next;
    }
    noted.push_back(first);
    const auto group = [&](const auto& value) {
      grouped.clear();
      for (std::size_t i = noted.size(); i-- > 0;) grouped.add(value(noted[i]), noted[i].units, noted[i].occurrences);
    };
    if (!merged) {
      group([](const Noted& n) { return n.bytes; });
      for (const Grouped::Group& g : grouped.groups()) {
        std::string_view bytes = g.value;
        append(key, take_two(bytes), g.units, static_cast<std::uint32_t>(g.occurrences));
      }
      continue;
    }
    Two frequent = first.notes;
    if (first.occurrences < others_seen) {  // else nothing is more frequent
      if (!aligned_alike) {
        group([](const Noted& n) { return n.notes.first; });
        frequent.first = grouped.most_frequent();
      }
      group([](const Noted& n) { return n.notes.second; });
      frequent.second = grouped.most_frequent();
    }
    append(key, frequent, sum.units, sum.occurrences);
  }
}

std::size_t Tally::rules() const {
  std::size_t sum = 0;
  for (const Partition& partition : partitions_) sum += partition.rules();
  return sum;
}

std::size_t Tally::bytes() const {
  std::size_t sum = 0;
  for (const Partition& partition : partitions_) sum += partition.bytes();
  return sum;
}

void Tally::clear() { partitions_ = {}; }

RuleColumns Tally::columns(std::size_t first, std::size_t last, const LexicalTable& lexical, bool merged) const {
  if (first > last || last > kPartitions) {
    throw std::invalid_argument("a tally has no partitions from " + std::to_string(first) + " to " +
                                std::to_string(last) + "; expected a range in 0 to " + std::to_string(kPartitions));
  }
  RuleColumns out;
  LexicalScorer scorer(lexical);
  for (std::size_t p = first; p < last; ++p)
    partitions_[p].append_to(out, scorer, merged, merged ? occurrence_parts_ : 1);
  return out;
}

}  // namespace treeglot
