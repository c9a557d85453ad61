// Where the rules of a table come from: the sentence pairs of each rule, and which of their words it took.
//
// The file holds the aligned pairs as numbers and, for each rule, the list of its pairs. Lists are what the extractor
// says, so they are exact for every kind of model, and no trees are needed to ask for them. Places within a pair are
// not stored: a rule's words are found in a pair by matching both sides under its links, which takes microseconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/sections.h"
#include "base/span.h"
#include "rules/extractor.h"
#include "rules/table.h"

namespace treeglot {

class Provenance {
 public:
  static Provenance open(const std::string& path);
  // Runs the extractor again, after it has read all pairs, and writes which pairs the table's rules come from.
  static void write(const std::string& path, const RuleTable& table, Extractor& extractor, unsigned threads);

  std::size_t pairs() const { return source_ends_.size() - 1; }
  std::size_t rules() const { return rules_; }
  std::uint64_t file_size() const { return sections_->size(); }

  std::vector<std::string_view> source(std::size_t pair) const;
  std::vector<std::string_view> target(std::size_t pair) const;
  std::span<const Link> links(std::size_t pair) const { return slice(links_, link_ends_, pair); }

  // The number of pairs that a rule comes from, and the first `most` of them.
  std::pair<std::size_t, std::vector<std::uint32_t>> pairs_of(RuleId rule, std::size_t most) const;

  // Places of the words that a rule itself took from a pair.
  struct Marks {
    std::vector<std::uint32_t> source, target;
  };
  // Nothing if the rule does not fit the pair, or too many ways were tried.
  std::optional<Marks> mark(const RuleTable& table, RuleId rule, std::size_t pair) const;

  // Pairs that have these words in a row on their source and target sides; an empty side matches any pair. Gives their
  // number, and the first `most` with the places of the first such rows.
  struct Hit {
    std::uint32_t pair, source, target;
  };
  std::pair<std::size_t, std::vector<Hit>> find(const std::vector<std::string>& source,
                                                const std::vector<std::string>& target, std::size_t most) const;

 private:
  static constexpr std::string_view kKind = "provenance";
  static constexpr std::uint32_t kVersion = 1;
  static constexpr std::size_t kBlock = 64;  // rules; where a list begins is told for the first of a block alone

  explicit Provenance(std::shared_ptr<const Sections> sections);
  void check() const;

  template <class T>
  static std::span<const T> slice(std::span<const T> values, std::span<const std::uint64_t> ends, std::size_t i) {
    return values.subspan(ends[i], ends[i + 1] - ends[i]);
  }

  std::shared_ptr<const Sections> sections_;
  MappedSymbols source_words_, target_words_;
  std::span<const Symbol> source_, target_;  // the words of all pairs
  std::span<const Link> links_;
  std::span<const std::uint64_t> source_ends_, target_ends_, link_ends_, blocks_;
  std::span<const std::uint8_t> lists_;
  std::size_t rules_ = 0;
};

// The rules of a table with these sides, as text: das [X,1] and the [X,1].
std::vector<RuleId> find_rules(const RuleTable& table, std::string_view source, std::string_view target);

}  // namespace treeglot
