// A source side's rules as the search wants them: scored with the weights at hand, best first.
#pragma once

#include <cstdint>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/hash_index.h"
#include "decode/cube.h"
#include "decode/translation_forest.h"
#include "rules/table.h"

namespace treeglot {

// Numbers of the features: the table's come first, then these, then those of the stateful features. Names of features
// that are not the table's begin with `prefix`. Two features of one name are one, and their values add up.
//
// Several tables share the numbers of one space, which has what they have in common. A space within it numbers what
// only one of them has. Their names all begin with `prefix`.
class FeatureSpace {
 public:
  FeatureSpace();  // for several tables
  explicit FeatureSpace(const RuleTable& table, std::string prefix = {});
  FeatureSpace(const FeatureSpace& common, const RuleTable& table, std::string prefix);

  FeatureId word_penalty() const { return word_penalty_; }  // target words
  FeatureId rule_penalty() const { return rule_penalty_; }  // rules of the table
  FeatureId glue() const { return glue_; }                  // uses of S → S X
  FeatureId unknown() const { return unknown_; }            // source words that pass through
  FeatureId preferred() const { return preferred_; }        // the bonus of a glossary's preferred terms
  FeatureId lattice() const { return lattice_; }            // scores of a lattice's arcs (natural log)

  FeatureId of_table(std::size_t feature) const { return table_.empty() ? feature : table_[feature]; }

  FeatureId add(std::string_view name) { return names_->intern(prefix_ + std::string(name)); }
  const Symbols& names() const { return *names_; }

 private:
  std::shared_ptr<Symbols> names_ = std::make_shared<Symbols>();
  std::string prefix_;
  std::vector<FeatureId> table_;  // by feature of the table; empty: the same numbers
  FeatureId word_penalty_ = 0, rule_penalty_ = 0, glue_ = 0, unknown_ = 0, preferred_ = 0, lattice_ = 0;
};

// The target words of a model: those of its table, or of several, whose first one keeps its numbers.
class TargetWords {
 public:
  explicit TargetWords(const RuleTable& first) : first_(first.target_words()) {}

  std::size_t size() const { return first_.size() + more_.size(); }
  std::string_view text(Symbol word) const {
    return word < first_.size() ? first_.text(word) : more_.text(word - static_cast<Symbol>(first_.size()));
  }
  Symbol find(std::string_view text) const;  // its number, or Symbols::kNone

  std::vector<std::int32_t> add(const RuleTable& table);  // the numbers of its words

 private:
  const TableSymbols& first_;
  Symbols more_;
};

// Calls visit(feature, value) for each stateless feature of a table's rule.
template <class Visit>
void visit_features(const RuleTable& table, const FeatureSpace& space, RuleId rule, const Visit& visit) {
  const auto values = table.features(rule);
  for (std::size_t f = 0; f < values.size(); ++f) visit(space.of_table(f), values[f]);
  for (const SparseFeature& sparse : table.sparse_features(rule)) visit(space.of_table(sparse.feature), sparse.value);
  float words = 0;
  for (const std::int32_t symbol : table.target(rule)) words += symbol >= 0 ? 1.0f : 0.0f;
  visit(space.word_penalty(), words);
  visit(space.rule_penalty(), 1.0f);
}

inline TargetSide target_side(const RuleTable& table, RuleId rule) {
  const auto target = table.target(rule), structure = table.structure(rule);
  const auto labels = table.rule_labels(rule);
  return {target.data(),
          static_cast<std::uint32_t>(target.size()),
          static_cast<std::uint32_t>(structure.size()),
          structure.data(),
          labels.data(),
          static_cast<std::uint32_t>(labels.size()),
          nullptr};
}

// Scores are folded into rules when a source side is first met and kept from sentence to sentence; a thread has its
// own cache. What it holds is bounded, and what it gives does not depend on what it held before. A model of several
// tables has a cache for each of them.
class RuleCache {
 public:
  // The alternatives of one left-hand side.
  struct Group {
    Symbol lhs;
    std::span<const Alternative> alternatives;
  };

  // `per_source` alternatives are kept for a source side and left-hand side; 0: all. `words` are the model's numbers of
  // the table's target words, or empty if these are the same. Target sides have affiliations if `affiliates`.
  RuleCache(const RuleTable& table, const FeatureSpace& space, std::span<const std::int32_t> words,
            const Scorer& scorer, std::uint32_t per_source, bool affiliates = false)
      : table_(&table),
        space_(space),
        words_(words),
        scorer_(scorer),
        per_source_(per_source),
        affiliates_(affiliates) {}

  std::span<const Group> at(RuleTable::Node node);   // valid until trim()
  void trim();                                       // before each sentence: forgets everything once there is too much
  void use(std::shared_ptr<const RuleTable> table);  // the rules of a sentence, in place of those before

  // Adds the cache of one of several tables.
  void add_part(RuleCache cache) { parts_.push_back(std::move(cache)); }
  std::size_t parts() const { return parts_.size(); }
  const RuleTable& table() const { return *table_; }
  RuleCache& part(std::size_t number) { return parts_[number]; }

 private:
  struct Entry {
    RuleTable::Node node;
    std::span<const Group> groups;
  };
  std::span<const Group> make(RuleTable::Node node);
  Alternative score(RuleId rule, std::span<const Symbol> source);
  void forget();
  // Room for values that live until forget().
  template <class T>
  std::span<T> room(std::size_t size);

  const RuleTable* table_;
  std::shared_ptr<const RuleTable> sentence_;  // the same, if it is of one sentence alone
  const FeatureSpace& space_;
  std::span<const std::int32_t> words_;
  const Scorer& scorer_;
  std::uint32_t per_source_;
  bool affiliates_;
  std::vector<Entry> entries_;
  HashIndex index_;
  std::unique_ptr<std::pmr::monotonic_buffer_resource> memory_ =
      std::make_unique<std::pmr::monotonic_buffer_resource>(1 << 16);
  std::size_t held_ = 0;  // bytes of it

  // Of the node at hand; kept for their memory.
  struct Place {
    float priority;
    std::uint32_t number;
    std::size_t first, words;  // of what is prepared
  };
  std::vector<Alternative> made_;
  Prepared prepared_;
  std::vector<Place> order_;  // best first
  std::vector<Group> groups_;
  std::vector<std::uint8_t> affiliations_;

  std::vector<RuleCache> parts_;
};

}  // namespace treeglot
