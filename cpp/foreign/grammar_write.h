// Rules of a table as lines of another decoder's grammar. grammar.h shows the formats.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "decode/feature_set.h"
#include "foreign/grammar.h"
#include "rules/table.h"

namespace treeglot {

struct GrammarStyle {
  GrammarFormat format = GrammarFormat::cdec;
  // What the table's features are called. Moses: a feature without a name is a score, a logarithm of a probability.
  std::vector<std::string> names;
  std::string rule_penalty;  // a feature that is 1 in every rule; empty: none. Moses: a score
  std::string word_penalty;  // one that counts the target words; empty: none. Not for Moses
  bool masked = false;       // [ ] | in words are -lsb- -rsb- -pipe-, as Joshua has them
};

// Writes rules of one table. Refuses what the format cannot hold: a word that would be read as something else, a
// feature whose name has blanks.
class GrammarWriter {
 public:
  GrammarWriter(const RuleTable& table, GrammarStyle style);

  // Appends a rule and a newline. Travatar: a source side without brackets is a flat fragment, X ( "das" "Haus" ).
  void append(RuleId rule, std::string& out);

 private:
  bool moses() const { return style_.format == GrammarFormat::moses; }
  bool travatar() const { return style_.format == GrammarFormat::travatar; }
  void append_source(const Rule& rule, std::string& out);
  void append_fragment(const Rule& rule, std::string& out);
  void append_target(const Rule& rule, std::string& out);
  void append_features(const Rule& rule, std::string& out) const;
  void append_sparse(const Rule& rule, std::string& out) const;
  void append_links(const Rule& rule, std::string& out);
  void append_word(std::string_view word, std::string& out) const;
  void append_quoted(std::string_view word, std::string& out) const;
  void append_label(Symbol label, std::string& out) const;
  void append_variable(std::size_t variable, std::string& out) const;
  void append_value(std::string_view name, float value, std::string& out) const;

  const RuleTable& table_;
  GrammarStyle style_;
  std::vector<std::pair<std::size_t, Symbol>> variables_;   // of the rule at hand: their places, and labels
  std::vector<std::pair<std::size_t, std::size_t>> links_;  // likewise
};

struct RuleSelection {
  std::uint32_t per_source = 0;  // target sides of a source side, as the decoder keeps them; 0: all
  // The source symbols of each sentence, brackets of tree fragments among them. A source side stays if one sentence
  // has all of its words. Without `filtered` all source sides stay.
  std::vector<std::vector<std::string>> sentences;
  bool filtered = false;
};

// The rules that stay, in the order of the table.
std::vector<RuleId> select_rules(const FeatureSet& features, std::span<const std::pair<std::string, float>> weights,
                                 const RuleSelection& selection);

}  // namespace treeglot
