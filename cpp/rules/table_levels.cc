#include "rules/table_levels.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace treeglot {
namespace {

using Give = StreamedSection::Give;
constexpr std::size_t kWord = sizeof(std::uint32_t);
constexpr const char* kListNames[kRuleLists] = {"rule.target", "rule.sparse", "rule.links", "rule.labels",
                                                "rule.structure"};

// Numbers on their way into a section.
class Words {
 public:
  explicit Words(const StreamedSection::Give& give) : give_(give) { words_.reserve(kAtOnce); }
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;

  void put(std::uint64_t word) {
    words_.push_back(static_cast<std::uint32_t>(word));
    if (words_.size() == kAtOnce) flush();
  }
  void flush() {
    give_(std::as_bytes(std::span<const std::uint32_t>(words_)));
    words_.clear();
  }

 private:
  static constexpr std::size_t kAtOnce = 1 << 14;
  const StreamedSection::Give& give_;
  std::vector<std::uint32_t> words_;
};

}  // namespace

FeatureNumbers::FeatureNumbers(std::size_t given_dense, std::span<const std::uint64_t> uses, std::size_t rules)
    : given(given_dense), number(uses.size()) {
  std::uint32_t next = 0;
  const auto is_dense = [&](std::size_t f) { return f < given || uses[f] * 2 >= std::max<std::size_t>(rules, 1); };
  for (std::size_t f = 0; f < uses.size(); ++f)
    if (is_dense(f)) number[f] = next++;
  dense = next;
  for (std::size_t f = 0; f < uses.size(); ++f) {
    if (is_dense(f)) continue;
    number[f] = next++;
    sparse += uses[f];
  }
}

TableLevels::Level::Level(ScratchFile* file)
    : symbol(file),
      parent(file),
      rules_of_node(file),
      lhs(file),
      features(file),
      sizes(kRuleLists, ByteStream(file)),
      values(kRuleLists, ByteStream(file)) {}

TableLevels::TableLevels(FeatureNumbers numbers, std::span<const bool, kRuleLists> has,
                         const std::optional<std::string>& folder)
    : numbers_(std::move(numbers)), has_(has.begin(), has.end()) {
  if (folder) file_ = std::make_unique<ScratchFile>(*folder);
  levels_.emplace_back(file_.get()).nodes = 1;
}

void TableLevels::add_source(std::span<const Symbol> source, std::uint32_t rules) {
  const auto differ = std::ranges::mismatch(source, path_);
  for (auto depth = static_cast<std::size_t>(differ.in1 - source.begin()) + 1; depth <= source.size(); ++depth) {
    if (levels_.size() == depth) levels_.emplace_back(file_.get());
    Level& level = levels_[depth];
    level.symbol.put(source[depth - 1]);
    level.parent.put(static_cast<std::uint32_t>(levels_[depth - 1].nodes - 1));
    level.rules_of_node.put(depth == source.size() ? rules : 0);
    ++level.nodes;
  }
  levels_[source.size()].rules += rules;
  path_.assign(source.begin(), source.end());
}

void TableLevels::add_rule(const RuleRecord& rule) {
  Level& level = levels_[path_.size()];
  level.lhs.put(rule.lhs);
  std::span<const std::byte> lists[kRuleLists];
  std::ranges::copy(rule.lists, lists);
  if (numbers_.dense == numbers_.given) {
    level.features.append(rule.features);
  } else {
    features_.assign(numbers_.dense, 0.0f);
    std::memcpy(features_.data(), rule.features.data(), rule.features.size());
    sparse_.resize(lists[kSparseList].size() / sizeof(SparseFeature));
    if (!sparse_.empty()) std::memcpy(sparse_.data(), lists[kSparseList].data(), lists[kSparseList].size());
    std::size_t kept = 0;
    for (const SparseFeature& feature : sparse_) {
      const std::uint32_t number = numbers_.number[feature.feature];
      if (number < numbers_.dense) {
        features_[number] += feature.value;
      } else {
        sparse_[kept++] = {number, feature.value};
      }
    }
    level.features.append(std::as_bytes(std::span<const float>(features_)));
    lists[kSparseList] = std::as_bytes(std::span<const SparseFeature>(sparse_).first(kept));
  }
  for (std::size_t list = 0; list < kRuleLists; ++list) {
    if (!has_[list]) continue;
    level.sizes[list].put(static_cast<std::uint32_t>(lists[list].size() / kListValueSizes[list]));
    level.values[list].append(lists[list]);
  }
}

std::uint64_t TableLevels::total(const std::function<std::uint64_t(const Level&)>& part) const {
  std::uint64_t sum = 0;
  for (const Level& level : levels_) sum += part(level);
  return sum;
}

std::vector<StreamedSection> TableLevels::sections() {
  const std::uint64_t nodes = total([](const Level& level) { return level.nodes; });
  std::vector<StreamedSection> out;
  out.push_back({"trie.symbol", nodes * kWord, [this](const Give& give) {
                   give(std::as_bytes(std::span<const std::uint32_t>({0})));
                   for (Level& level : levels_) level.symbol.read(true, give);
                 }});
  out.push_back({"trie.first_child", (nodes + 1) * kWord, [this](const Give& give) {
                   Words words(give);
                   std::uint64_t child = 1;
                   words.put(child);
                   for (std::size_t depth = 0; depth < levels_.size(); ++depth) {
                     std::uint64_t node = 0;  // of this level, whose children are being counted
                     const auto count = [&](std::uint32_t parent) {
                       for (; node < parent; ++node) words.put(child);
                       ++child;
                     };
                     if (depth + 1 < levels_.size()) levels_[depth + 1].parent.read_values<std::uint32_t>(false, count);
                     for (; node < levels_[depth].nodes; ++node) words.put(child);
                   }
                   words.flush();
                 }});
  out.push_back({"trie.first_rule", (nodes + 1) * kWord, [this](const Give& give) {
                   Words words(give);
                   words.put(0);
                   words.put(0);  // behind the root, which has no rules
                   std::uint64_t end = 0;
                   for (Level& level : levels_)
                     level.rules_of_node.read_values<std::uint32_t>(true,
                                                                    [&](std::uint32_t n) { words.put(end += n); });
                   words.flush();
                 }});
  out.push_back({"trie.parent", nodes * kWord, [this](const Give& give) {
                   Words words(give);
                   words.put(0);
                   std::uint64_t first = 0;  // node of the level above
                   for (std::size_t depth = 1; depth < levels_.size(); ++depth) {
                     levels_[depth].parent.read_values<std::uint32_t>(
                         true, [&](std::uint32_t parent) { words.put(first + parent); });
                     first += levels_[depth - 1].nodes;
                   }
                   words.flush();
                 }});
  const auto all = [this](ByteStream Level::* part) {
    return [this, part](const Give& give) {
      for (Level& level : levels_) (level.*part).read(true, give);
    };
  };
  out.push_back({"rule.lhs", total([](const Level& level) { return level.lhs.size(); }), all(&Level::lhs)});
  out.push_back(
      {"rule.features", total([](const Level& level) { return level.features.size(); }), all(&Level::features)});
  add_lists(out);
  return out;
}

void TableLevels::add_lists(std::vector<StreamedSection>& out) {
  const std::uint64_t rules = total([](const Level& level) { return level.rules; });
  for (std::size_t list = 0; list < kRuleLists; ++list) {
    if (!has_[list]) continue;
    const std::string name = kListNames[list];
    out.push_back({name + ".ends", (rules + 1) * kWord, [this, list](const Give& give) {
                     Words words(give);
                     words.put(0);
                     std::uint64_t end = 0;
                     for (Level& level : levels_)
                       level.sizes[list].read_values<std::uint32_t>(
                           true, [&](std::uint32_t size) { words.put(end += size); });
                     words.flush();
                   }});
    const std::uint64_t size = total([&](const Level& level) { return level.values[list].size(); });
    out.push_back({name, size, [this, list](const Give& give) {
                     for (Level& level : levels_) level.values[list].read(true, give);
                   }});
  }
}

}  // namespace treeglot
