// Grammars in the text formats of cdec, Joshua, Moses and Travatar: read into a table. grammar_write.h writes them.
//
//   cdec    [X] ||| das [X,1] ||| the [X,1] ||| EgivenF=0.5 LexE=1 ||| 0-0
//           A source variable may lack its number, a target one its label; features without names are PhraseModel_i.
//   joshua  the same, but features without names are costs: they become tm_OWNER_i with the sign changed.
//   moses   das [X][X] [X] ||| the [X][X] [X] ||| 0.5 0.2 ||| 0-0 1-1 ||| counts ||| sparse features ||| properties
//           Scores are probabilities, links also say which variables belong together.
//   travatar  NP ( DT ( "das" ) x0:NN ) ||| "the" x0 ||| EgivenF=0.5: the source side is a tree fragment, as it is in
//           cdec's tree-to-string grammars: (NP (DT das) [NN]) ||| the [1] ||| EgivenF=0.5.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rules/rule_text.h"
#include "rules/table_builder.h"
#include "syntax/reader.h"

namespace treeglot {

enum class GrammarFormat : std::uint8_t { cdec, joshua, moses, travatar };

class GrammarReader : public LineSink {
 public:
  // `prefix` names the features that have no names: the i-th is PREFIX_i.
  GrammarReader(std::string file, bool skip_bad, GrammarFormat format, std::string prefix, RuleTableBuilder& builder)
      : LineSink(std::move(file), skip_bad), format_(format), prefix_(std::move(prefix)), builder_(builder) {}

 protected:
  void read_line(std::string_view line) override;

 private:
  struct Token {
    std::string_view text;  // a word, or a variable's label; empty where a target variable has none
    bool variable = false;
    std::uint32_t index = 0;  // of a variable, from 1; 0 when it has none
    bool bracket = false;     // of a tree fragment: a node's label when it opens, nothing when it closes
  };

  void split_fields(std::string_view line);
  Token parse_source(std::string_view token) const;
  Token parse_target(std::string_view token) const;
  std::string_view parse_label(std::string_view token) const;  // [X]
  void read_rule();
  void read_moses_rule();
  std::string_view read_fragment(std::string_view tree);  // (NP (DT das) [NN]); the label of its root
  void read_cdec_tree_rule();
  void close_node();  // of a fragment
  void read_travatar_rule();
  void read_travatar_source(const std::vector<std::string_view>& tokens);
  void read_travatar_target(const std::vector<std::string_view>& tokens);
  static std::optional<Token> travatar_variable(std::string_view token);
  std::string_view unquoted(std::string_view token);
  std::string_view source_word(std::string_view word);
  void read_features(const std::vector<std::string_view>& tokens);
  void read_scores(const std::vector<std::string_view>& tokens);
  void read_sparse(const std::vector<std::string_view>& tokens);
  void add_feature(std::string_view name, double value);
  void add_rule(std::string_view lhs);
  void add_source();
  void add_target();
  void add_links();
  void number_linked_variables();
  std::string variable_name(std::uint32_t index) const;

  GrammarFormat format_;
  std::string prefix_;
  RuleTableBuilder& builder_;
  std::optional<bool> trees_;                          // whether rules are of trees (cdec): the first one says it
  std::size_t scores_ = 0;                             // of the first rule (moses): the others have as many
  std::vector<std::vector<std::string_view>> fields_;  // of the line at hand, fields_used_ of them
  std::size_t fields_used_ = 0;
  std::vector<Token> source_, target_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> links_;
  std::vector<SparseFeature> features_;
  std::vector<std::size_t> seen_;  // by feature: the line that had it last
  std::vector<Symbol> source_symbols_;
  std::vector<std::int32_t> target_symbols_;
  std::vector<RuleLink> word_links_;
  std::string name_, tree_;
  std::deque<std::string> unquoted_;  // words of a tree-to-string rule that had something escaped
};

// Whether a token is in brackets, and whether a text can be a label in them.
bool is_bracketed(std::string_view token);
bool is_label(std::string_view text, GrammarFormat format);

}  // namespace treeglot
