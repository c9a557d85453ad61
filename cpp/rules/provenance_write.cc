#include <algorithm>

#include "base/symbols.h"
#include "rules/code.h"
#include "rules/provenance.h"
#include "rules/rule_text.h"

namespace treeglot {
namespace {

// Finds coded rules in a compiled table.
class RuleFinder {
 public:
  RuleFinder(const RuleTable& table, const Extractor& extractor) : table_(table) {
    const Bitext& bitext = extractor.bitext();
    for (std::size_t i = 0; i < bitext.source_words().size(); ++i)
      source_words_.push_back(table.source_words().find(bitext.source_words()[i]));
    for (std::size_t i = 0; i < bitext.target_words().size(); ++i)
      target_words_.push_back(table.target_words().find(bitext.target_words()[i]));
    const Strings labels = extractor.labels();
    for (std::size_t i = 0; i < labels.size(); ++i) {
      labels_.push_back(table.labels().find(labels[i]));
      opening_.push_back(table.source_words().find(opening_word(labels[i])));
    }
    closing_ = table.source_words().find(kClosingWord);
    for (RuleTable::Node node = 0; node < table.nodes(); ++node) {
      const RuleList rules = table.rules_of(node);
      for (std::size_t i = 0; i < rules.size(); ++i)
        index_.intern(hash(node, table.lhs(rules[i]), table.target(rules[i])), rules[i], [](RuleId) { return false; });
    }
  }

  // Symbols::kNone for a rule that the table lacks.
  RuleId find(const CodedRule& coded) {
    std::string_view source = coded.source, target = coded.target;
    const Symbol lhs = labels_[code::take_left_hand_side(source)];
    RuleTable::Node node = table_.root();
    for (code::Symbol symbol; code::take_symbol(source, symbol);) {
      const Symbol next = source_symbol(symbol);
      if (next == Symbols::kNone) return Symbols::kNone;
      node = table_.child(node, next);
      if (node == RuleTable::kNoNode) return Symbols::kNone;
    }
    target_.clear();
    for (code::Symbol symbol; code::take_symbol(target, symbol);) {
      const bool word = symbol.kind == code::Symbol::Kind::word;
      if (word && target_words_[symbol.number] == Symbols::kNone) return Symbols::kNone;
      target_.push_back(word ? static_cast<std::int32_t>(target_words_[symbol.number])
                             : -1 - static_cast<std::int32_t>(symbol.number));
    }
    structure_.clear();
    while (!target.empty()) structure_.push_back(static_cast<std::int32_t>(code::take(target)));
    const RuleList rules = table_.rules_of(node);  // one after the other: the table has no corrections
    return index_.find(hash(node, lhs, target_), [&](RuleId rule) {
      return !rules.empty() && rule >= rules[0] && rule - rules[0] < rules.size() && table_.lhs(rule) == lhs &&
             std::ranges::equal(table_.target(rule), target_) && std::ranges::equal(table_.structure(rule), structure_);
    });
  }

 private:
  Symbol source_symbol(const code::Symbol& symbol) const {
    switch (symbol.kind) {
      case code::Symbol::Kind::word: return source_words_[symbol.number];
      case code::Symbol::Kind::variable:
        return labels_[symbol.label] == Symbols::kNone ? Symbols::kNone : nonterminal(labels_[symbol.label]);
      case code::Symbol::Kind::open: return opening_[symbol.label];
      case code::Symbol::Kind::close: return closing_;
    }
    return Symbols::kNone;
  }
  static std::uint64_t hash(RuleTable::Node node, Symbol lhs, std::span<const std::int32_t> target) {
    const std::string_view bytes(reinterpret_cast<const char*>(target.data()), target.size_bytes());
    return hash_bytes(bytes, std::uint64_t{node} << 32 | lhs);
  }

  const RuleTable& table_;
  std::vector<Symbol> source_words_, target_words_, labels_, opening_;  // by number of the extractor: the table's
  Symbol closing_;
  HashIndex index_;  // of rules
  std::vector<std::int32_t> target_, structure_;
};

// Seven bits a byte, the lowest first; the last byte has its top bit clear.
void append_number(std::vector<std::uint8_t>& out, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) out.push_back(static_cast<std::uint8_t>(number | 0x80));
  out.push_back(static_cast<std::uint8_t>(number));
}

template <class T>
void add_array(Sections& sections, const std::string& name, std::span<const T> values) {
  std::ranges::copy(values, sections.add<T>(name, values.size()).begin());
}

// The values of all pairs, and where those of each begin.
template <class T, class Of>
void add_lists(Sections& sections, const std::string& name, std::size_t pairs, const Of& of) {
  std::vector<std::uint64_t> ends = {0};
  for (std::size_t pair = 0; pair < pairs; ++pair) ends.push_back(ends.back() + of(pair).size());
  auto at = sections.add<T>(name, ends.back()).begin();
  for (std::size_t pair = 0; pair < pairs; ++pair) at = std::ranges::copy(of(pair), at).out;
  add_array<std::uint64_t>(sections, name + ".ends", ends);
}

}  // namespace

void Provenance::write(const std::string& path, const RuleTable& table, Extractor& extractor, unsigned threads) {
  std::vector<std::uint64_t> found;  // a rule, and a pair in the low 32 bits
  RuleFinder finder(table, extractor);
  extractor.visit(threads, [&](std::size_t pair, const CodedRule& coded) {
    if (const RuleId rule = finder.find(coded); rule != Symbols::kNone)
      found.push_back(std::uint64_t{rule} << 32 | pair);
  });
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());

  std::vector<std::uint8_t> lists;
  std::vector<std::uint64_t> blocks;
  auto at = found.begin();
  for (RuleId rule = 0; rule < table.rules(); ++rule) {
    if (rule % kBlock == 0) blocks.push_back(lists.size());
    const auto end = std::find_if(at, found.end(), [&](std::uint64_t one) { return one >> 32 != rule; });
    append_number(lists, static_cast<std::uint64_t>(end - at));
    for (std::uint64_t before = 0; at != end; ++at) {
      const std::uint64_t pair = *at & 0xffffffffu;
      append_number(lists, pair - before);
      before = pair;
    }
  }
  blocks.push_back(lists.size());

  const Bitext& bitext = extractor.bitext();
  Sections sections(kKind, kVersion);
  MappedSymbols::add(sections, "source_words", bitext.source_words().size(),
                     [&](Symbol word) { return bitext.source_words()[word]; });
  MappedSymbols::add(sections, "target_words", bitext.target_words().size(),
                     [&](Symbol word) { return bitext.target_words()[word]; });
  add_lists<Symbol>(sections, "source", bitext.size(), [&](std::size_t pair) { return bitext.source(pair); });
  add_lists<Symbol>(sections, "target", bitext.size(), [&](std::size_t pair) { return bitext.target(pair); });
  add_lists<Link>(sections, "links", bitext.size(), [&](std::size_t pair) { return bitext.links(pair); });
  sections.add<std::uint64_t>("rules", 1)[0] = table.rules();
  add_array<std::uint64_t>(sections, "blocks", blocks);
  add_array<std::uint8_t>(sections, "lists", lists);
  sections.write(path);
}

std::vector<RuleId> find_rules(const RuleTable& table, std::string_view source, std::string_view target) {
  Variables variables;
  RuleTable::Node node = table.root();
  const auto walk = [&](Symbol symbol) {
    if (node != RuleTable::kNoNode) node = symbol == Symbols::kNone ? RuleTable::kNoNode : table.child(node, symbol);
  };
  parse_source(
      source, variables, [&](std::string_view word) { walk(table.source_words().find(word)); },
      [&](std::string_view label) {
        const Symbol known = table.labels().find(label);
        walk(known == Symbols::kNone ? Symbols::kNone : nonterminal(known));
      },
      [&](std::string_view label) { walk(table.source_words().find(opening_word(label))); },
      [&] { walk(table.source_words().find(kClosingWord)); });
  std::vector<std::int32_t> wanted;
  bool known = true;
  parse_target(
      target, variables,
      [&](std::string_view word) {
        const Symbol found = table.target_words().find(word);
        known = known && found != Symbols::kNone;
        wanted.push_back(static_cast<std::int32_t>(found));
      },
      [&](std::uint32_t variable) { wanted.push_back(-1 - static_cast<std::int32_t>(variable)); });
  std::vector<RuleId> out;
  if (!known || node == RuleTable::kNoNode) return out;
  const RuleList rules = table.rules_of(node);
  for (std::size_t i = 0; i < rules.size(); ++i)
    if (std::ranges::equal(table.target(rules[i]), wanted)) out.push_back(rules[i]);
  return out;
}

}  // namespace treeglot
