// CoNLL-X and CoNLL-U: a line of ten columns for each word, a blank line after each sentence.
//
// Read are the form, the head, the relation and one of the two columns of tags; HEAD _ is a word without a head. Where
// a sentence has _ in a whole column, it has no tags or no relations. Lines that begin with # are comments. In CoNLL-U,
// lines of multiword tokens (3-4) and of empty nodes (8.1) are checked and left out. CoNLL-X refuses them, and blanks
// in columns.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "syntax/dependency.h"
#include "syntax/reader.h"

namespace treeglot {

enum class Conll { x, u };
enum class TagColumn { coarse = 3, fine = 4 };  // CPOSTAG or UPOS; POSTAG or XPOS

class ConllReader : public Reader<Dependency> {
 public:
  ConllReader(std::string file, bool skip_bad, Conll version, TagColumn tags)
      : Reader(std::move(file), skip_bad), version_(version), tags_column_(tags) {}

 protected:
  void read_line(std::string_view line) override;
  void end_of_file() override;
  void forget() override;
  Resume resume(std::string_view line) const override { return line.empty() ? Resume::after : Resume::not_yet; }

 private:
  void word(std::string_view id, const std::string_view (&columns)[10]);
  void range(std::string_view id, std::size_t dash);
  void empty_node(std::string_view id, std::size_t point);
  void sentence();

  Conll version_;
  TagColumn tags_column_;
  Strings words_, tags_, relations_;
  Strings other_tags_;  // of the other column, for a sentence without tags in the one that was asked for
  bool any_tag_ = false, any_other_tag_ = false, any_relation_ = false;  // something but _
  std::vector<std::int32_t> heads_;
  std::vector<std::size_t> lines_;  // of the words
  std::size_t range_end_ = 0, range_line_ = 0;
  std::uint32_t empty_nodes_ = 0;  // since the last word
  bool inside_ = false;            // a sentence or its comments have begun
};

// The lines of a sentence and the blank line after it. CoNLL-U has the tags in the column given, CoNLL-X in both.
// Refuses what would be read differently.
std::string write_conll(const Dependency& dependency, Conll version, TagColumn tags);

}  // namespace treeglot
