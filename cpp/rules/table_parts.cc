// Tables that are made in parts: what a builder and its levels do for them.
#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/held_pages.h"
#include "rules/table_builder.h"
#include "rules/table_levels.h"

namespace treeglot {
namespace {

Strings texts(const Symbols& symbols) {
  Strings out;
  for (Symbol symbol = 0; symbol < symbols.size(); ++symbol) out.append(symbols.text(symbol));
  return out;
}

// The numbers that names get here, by the numbers that they have in `names`.
std::vector<Symbol> intern_all(const Strings& names, Symbols& symbols) {
  std::vector<Symbol> out;
  out.reserve(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) out.push_back(symbols.intern(names[i]));
  return out;
}

Symbol number_at(const std::vector<Symbol>& numbers, Symbol at) {
  if (at >= numbers.size()) throw std::invalid_argument("facts of a table have a symbol that they do not name");
  return numbers[at];
}

}  // namespace

TableFacts RuleTableBuilder::facts() const {
  TableFacts out{
      texts(source_words_), texts(target_words_), texts(labels_), texts(feature_names_), rules_, {}, uses_, {}, {}};
  out.values.assign(std::begin(values_), std::end(values_));
  out.uses.resize(feature_names_.size(), 0);
  for (const auto& [symbol, weight] : weights_) out.begun.push_back(symbol);
  std::ranges::sort(out.begun);
  for (const Symbol symbol : out.begun) out.weights.push_back(weights_.at(symbol));
  return out;
}

void RuleTableBuilder::know_names(const TableFacts& facts) {
  intern_all(facts.source_words, source_words_);
  intern_all(facts.target_words, target_words_);
  intern_all(facts.labels, labels_);
  intern_all(facts.features, feature_names_);
}

void RuleTableBuilder::add_facts(const TableFacts& facts) {
  if (facts.values.size() != kRuleLists || facts.uses.size() != facts.features.size() ||
      facts.begun.size() != facts.weights.size())
    throw std::invalid_argument("facts of a table have lists of a wrong size");
  const std::vector<Symbol> words = intern_all(facts.source_words, source_words_);
  intern_all(facts.target_words, target_words_);
  const std::vector<Symbol> labels = intern_all(facts.labels, labels_);
  const std::vector<Symbol> features = intern_all(facts.features, feature_names_);
  if (facts.rules >= kNone - 1 - rules_) throw std::length_error("a rule table holds fewer than 2^32 rules");
  rules_ += facts.rules;
  for (std::size_t list = 0; list < kRuleLists; ++list) {
    if ((values_[list] += facts.values[list]) > std::numeric_limits<std::uint32_t>::max())
      throw std::length_error("the rules' sides and notes together have more than 2^32 parts");
  }
  uses_.resize(feature_names_.size(), 0);
  for (std::size_t f = 0; f < features.size(); ++f) uses_[features[f]] += facts.uses[f];
  for (std::size_t i = 0; i < facts.begun.size(); ++i) {
    const Symbol symbol = facts.begun[i];
    const Symbol own =
        is_nonterminal(symbol) ? nonterminal(number_at(labels, label_of(symbol))) : number_at(words, symbol);
    weights_[own] += facts.weights[i];
  }
}

std::vector<Symbol> RuleTableBuilder::split(std::size_t parts) const {
  std::vector<std::pair<Symbol, std::uint64_t>> all(weights_.begin(), weights_.end());
  std::ranges::sort(all);
  const std::uint64_t total = std::accumulate(all.begin(), all.end(), std::uint64_t{0},
                                              [](std::uint64_t sum, const auto& one) { return sum + one.second; });
  std::vector<Symbol> out;
  std::uint64_t before = 0;
  for (const auto& [symbol, weight] : all) {
    // It begins a part if what is before it fills those so far.
    if (before > 0 && out.size() + 1 < parts && before * parts >= total * (out.size() + 1)) out.push_back(symbol);
    before += weight;
  }
  return out;
}

std::uint64_t RuleTableBuilder::write_part(const std::string& path) {
  TableLevels sorted = levels();
  *this = RuleTableBuilder({});
  return sorted.write_part(path);
}

RuleTableBuilder::Written RuleTableBuilder::join_parts(const std::vector<std::string>& parts, const std::string& path) {
  Written written = {rules_, 0, 0};
  std::vector<Sections> opened;
  for (const std::string& part : parts)
    opened.push_back(Sections::open(part, TableLevels::kPartKind, TableLevels::kPartVersion));
  TableLevels all = empty_levels(sorter_.folder());
  for (const Sections& part : opened) all.append(part);
  const Sections first = names();
  *this = RuleTableBuilder({});
  written.spilled = all.spilled();
  written.size = write_sections(path, RuleTable::kKind, RuleTable::kVersion, first, all.sections());
  return written;
}

std::vector<std::pair<std::string, ByteStream*>> TableLevels::streams(std::size_t depth) {
  Level& level = levels_[depth];
  const std::string prefix = std::to_string(depth) + ".";
  std::vector<std::pair<std::string, ByteStream*>> out = {{prefix + "symbol", &level.symbol},
                                                          {prefix + "parent", &level.parent},
                                                          {prefix + "rules", &level.rules_of_node},
                                                          {prefix + "lhs", &level.lhs},
                                                          {prefix + "features", &level.features}};
  for (std::size_t list = 0; list < kRuleLists; ++list) {
    if (!has_[list]) continue;
    out.emplace_back(prefix + "sizes." + std::to_string(list), &level.sizes[list]);
    out.emplace_back(prefix + "values." + std::to_string(list), &level.values[list]);
  }
  return out;
}

std::uint64_t TableLevels::write_part(const std::string& path) {
  Sections first(kPartKind, kPartVersion);
  const std::span<std::uint64_t> sizes = first.add<std::uint64_t>("levels", 2 * levels_.size());
  std::vector<StreamedSection> streamed;
  for (std::size_t depth = 0; depth < levels_.size(); ++depth) {
    sizes[2 * depth] = levels_[depth].nodes;
    sizes[2 * depth + 1] = levels_[depth].rules;
    for (const auto& [name, stream] : streams(depth)) {
      const auto produce = [stream](const StreamedSection::Give& give) { stream->read(true, give); };
      streamed.push_back({name, stream->size(), produce});
    }
  }
  return write_sections(path, kPartKind, kPartVersion, first, streamed);
}

void TableLevels::append(const Sections& part) {
  const std::span<const std::uint64_t> sizes = part.array<std::uint64_t>("levels");
  const std::size_t depths = sizes.size() / 2;
  if (depths == 0 || sizes.size() % 2 != 0 || sizes[0] != 1 || sizes[1] != 0)
    part.fail("has no levels of a trie; expected a part of a rule table");
  while (levels_.size() < depths) levels_.emplace_back(file_.get());
  path_.clear();            // no source side goes on where another part ends
  std::uint64_t above = 0;  // nodes that the level above had; the root is that of all parts
  for (std::size_t depth = 1; depth < depths; ++depth) {
    Level& level = levels_[depth];
    const std::uint64_t before = level.nodes, nodes = sizes[2 * depth], rules = sizes[2 * depth + 1];
    for (const auto& [name, stream] : streams(depth)) {
      const std::span<const std::byte> bytes = part.unverified<std::byte>(name);
      const bool of_nodes = stream == &level.symbol || stream == &level.parent || stream == &level.rules_of_node;
      if ((of_nodes && bytes.size() != nodes * sizeof(std::uint32_t)) ||
          (stream == &level.lhs && bytes.size() != rules * sizeof(Symbol)))
        part.fail("section '" + name + "' does not have the size of its level");
      if (stream != &level.parent) {
        stream->refer(bytes);
        continue;
      }
      for (const std::uint32_t parent : part.unverified<std::uint32_t>(name))
        level.parent.put(static_cast<std::uint32_t>(above + parent));
      release_pages(bytes);
    }
    level.nodes += nodes;
    level.rules += rules;
    above = before;
  }
}

}  // namespace treeglot
